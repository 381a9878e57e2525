/// Every limit on what a request may ask and a store may hold, in one place.
///
/// Defaults are those of web-services.md §7 and rulings.md 13 and 18. The limits of the first part are settings. The
/// others are the same on every server, for the reason that stands with each; tests make them smaller.
package struct ServiceLimits: Sendable {
    // MARK: - Settings

    package var operationsPerRequestMax = 200
    package var recordsPerResponseMax = 200
    /// Of one record's stored JSON, assets excluded.
    package var recordBytesMax = 1_048_576
    /// Of the records in one answer.
    package var pageBytesMax = 8_388_608
    /// Of each user's private database; 0 for none.
    package var userQuotaBytes: Int64 = 21_474_836_480
    /// Of a container environment's public database; 0 for none.
    package var publicQuotaBytes: Int64 = 107_374_182_400
    /// Requests of one user that wait at a time until there is something to tell.
    package var heldPollsPerUserMax = 64
    /// How long a poll of the courier waits for a notice.
    package var courierPollSeconds = 25
    /// How long an answer of a feed may wait for a change, at the request's wish.
    package var feedWaitSecondsMax = 55
    package var tombstoneDays = 180
    package var queryMillisecondsMax = 2_000
    /// How long a query waits for an index that is being built, before it is told to try again.
    package var indexWaitMilliseconds = 1_500

    // MARK: - Notices

    /// How long an event stream lasts before its client has to come back, and shows anew who it is.
    package var streamSecondsMax = 3_600
    /// How long an event stream without news says nothing; then it says that it is still there: often enough for
    /// proxies, which wait for 30 seconds or more.
    package var streamQuietSeconds = 15
    /// Devices, browsers and pages of one user that are told of changes, more than a person has; of more couriers
    /// those go that were not used for the longest.
    package var destinationsPerUserMax = 100

    // MARK: - Parts of settings

    /// Requests that wait at a time until there is something to tell; a further one is answered at once.
    ///
    /// Half of all connections, so that the others find room.
    package var heldPollsMax = 10_000

    // MARK: - Requests and what they save

    /// Of one user's private database: enough for an app that makes one for each document, and a device asks for the
    /// changes of all of them at once.
    package var zonesPerUserMax = 1_000
    /// Of one owner, with deleted ones that are still kept: ten for each that may live, because a store has
    /// 8.3 million zone numbers and uses none twice.
    package var zonesPerOwnerMax = 10_000
    /// Of one share, its owner not counted: CloudKit's, as all of them are read with each change of it.
    package var participantsPerShareMax = 100
    /// Of one user: addresses and numbers of others that they look up within a day: an address book fits, a list of
    /// everybody's addresses does not.
    package var discoveriesPerDayMax = 5_000
    /// Of one user in one database: each is looked at with every change there.
    package var subscriptionsPerUserMax = 500
    /// That refer to one record: CloudKit's, and what one deletion may take with it.
    package var deleteSelfSourcesMax = 750
    /// Of all deletions of a batch: the writer takes about 15 µs for each, while others wait.
    package var cascadeRecordsMax = 5_000
    /// Records and index rows that one page of a query looks at: a query that its filters do not narrow is refused for
    /// what it is, and not only where the machine is slow.
    package var queryRowsMax = 100_000

    /// Of the data that a device leaves with a change of a zone: a note to itself, which needs no more.
    package var clientTokenBytesMax = 1_024
    /// Devices of one user whose data is kept in one zone: more than a person has.
    package var clientTokensPerZoneMax = 20
    /// Who ask to take part in one share at a time, and who may not ask: as many as may take part.
    package var accessRequestsPerShareMax = 100
    /// Of one user: how often they ask within a day to take part in anything, so that nobody asks their way through
    /// addresses of shares.
    package var accessRequestsPerDayMax = 20
    /// Every save looks at its type, which is in memory as a whole.
    package var fieldsPerTypeMax = 256
    /// A container's schema is in memory as a whole, too.
    package var recordTypesMax = 1_000
    /// Security roles of a container's own: each caller's are looked through with every operation.
    package var rolesMax = 100
    /// Of a text in the schema language, which holds all of the above well.
    package var schemaBytesMax = 1_048_576
    /// What one subscription's query and notification take together: they are read with every change.
    package var subscriptionBytesMax = 16_384
    /// Different DELETE_SELF and VALIDATE references of one record: each is looked up when it is saved.
    package var referencesPerRecordMax = 1_000
    /// Of all records that one batch sends together, for the same reason.
    package var referencesPerRequestMax = 10_000
    /// Stored references that lead to the records which one batch concerns: a tenth of a second's reading.
    package var sourcesReadMax = 100_000
    /// Members of the lists of one record: an index has to hold each of them.
    package var indexedValuesPerRecordMax = 10_000
    /// Bytes of the searchable texts and the lists of one public record, and of what one write of them brings: their
    /// index is written in the same transaction, for which others wait.
    package var publicIndexedBytesMax = 32_768
    /// References of one kind to one public record whose creators' rights are looked at; what comes after
    /// so many acts on it no more.
    package var holdersJudgedMax = 1_000
    /// Of the stored records that one batch changes, which are all in memory at once.
    package var batchBytesMax = 67_108_864
    /// Upload URLs, or assets to be used elsewhere, that one request may ask for: one for each operation.
    package var assetTokensPerRequestMax = 200
    /// Assets that one request may make usable in other records, each member of a list counted: each is a row that
    /// the writer writes.
    package var rereferencedAssetsMax = 1_000

    // MARK: - Deciding a batch

    /// Looks at an operation, a reference or a parent until it is known what a batch does: a second of them.
    package var decisionStepsMax = 1_000_000
    /// How long a decision may hold up others who want to write; 0 has all made beside the writer.
    package var writerMillisecondsMax = 10
    /// How often a decision is made beside the writer while others change what it rests on: a caller who loses
    /// so often is told to try again.
    package var decisionAttemptsMax = 5
    /// Changes of one zone that the writer goes through to find out whether such a decision stands: going through
    /// more takes as long as deciding anew.
    package var changesRecheckedMax = 4_096

    // MARK: - Shared trees

    /// Records below another that are looked at for shares: a few reads, after which looking upwards from all shares of
    /// the zone is mostly shorter.
    ///
    /// When one of them is saved meanwhile, the batch is decided again.
    package var descendantsReadMax = 1_000
    /// Parents that are followed from a record upwards, so that the way up stays short for all that comes after.
    package var hierarchyDepthMax = 1_000
    /// Records of shared trees that one step of the work on them looks at, and that a batch does at
    /// once: few, because others wait for each step.
    package var shareStepRecordsMax = 100
    /// How long an empty page of a shared zone waits for a tree that is being worked through: longer than most take.
    package var sharedPageHoldMilliseconds = 1_000
    /// Records of shared trees, left ones too, that a query goes through one by one; of more it reads
    /// an index, which holds what is not shared as well.
    package var sharedQueryRecordsMax = 10_000

    // MARK: - Answers and notices

    /// Feed rows looked at for one answer, so that a page of few matches ends too.
    package var feedRowsPerPageMax = 20_000
    /// Each may need an index of its own.
    package var filtersPerQueryMax = 32
    /// Each is compared for every record that is sorted.
    package var sortsPerQueryMax = 8
    /// Members of all lists that the filters of one query compare with: each is looked up by itself.
    package var listValuesPerQueryMax = 1_000
    /// Events that one stream tells before its client has to come back and say which it has had: what it has not
    /// said stays in the outbox.
    package var streamEventsMax = 100
    /// A courier that nobody has polled for so long ends: its device is not coming back.
    package var courierIdleDays = 30
    /// Notices that wait for one destination; of more there is one that stands for all, because who was away so long
    /// fetches what has changed anyway.
    package var noticesWaitingMax = 1_000
    /// How long a notice that went from hand to hand may take to be sent; then it goes into the outbox, as the store's
    /// next notices wait so long.
    package var handoverMilliseconds = 250

    package init() {}
}
