/// What one request may ask and one store may hold.
package struct LimitSettings: Sendable, Equatable {
    package var operationsPerRequestMax = 200
    package var recordsPerResponseMax = 200
    package var recordBytesMax = 1_048_576
    package var pageBytesMax = 8_388_608
    package var pagesAheadMax = 256
    package var pagesAheadPerUserMax = 4
    package var pagesAheadBytesMax = 33_554_432
    package var pagesAheadBytesPerUserMax = 8_388_608
    package var feedRowsPerPageMax = 20_000
    package var filtersPerQueryMax = 32
    package var sortsPerQueryMax = 8
    package var listValuesPerQueryMax = 1_000
    package var queryRowsMax = 100_000
    package var queryMillisecondsMax = 2_000
    package var indexWaitMilliseconds = 1_500
    package var zonesPerUserMax = 1_000
    package var participantsPerShareMax = 100
    package var accessRequestsPerShareMax = 100
    package var accessRequestsPerDayMax = 20
    package var discoveriesPerDayMax = 5_000
    package var fieldsPerTypeMax = 256
    package var recordTypesMax = 1_000
    package var subscriptionsPerUserMax = 500
    package var subscriptionBytesMax = 16_384
    package var feedWaitSecondsMax = 55
    package var rolesMax = 100
    package var schemaBytesMax = 1_048_576
    package var deleteSelfSourcesMax = 750
    package var cascadeRecordsMax = 5_000
    package var referencesPerRecordMax = 1_000
    package var referencesPerRequestMax = 10_000
    package var sourcesReadMax = 100_000
    package var decisionStepsMax = 1_000_000
    package var indexedValuesPerRecordMax = 10_000
    package var publicIndexedBytesMax = 32_768
    package var holdersJudgedMax = 1_000
    package var writerMillisecondsMax = 10
    package var decisionAttemptsMax = 5
    package var changesRecheckedMax = 4_096
    package var batchBytesMax = 67_108_864
    package var hierarchyDepthMax = 1_000
    package var shareStepRecordsMax = 100
    package var sharedPageHoldMilliseconds = 1_000
    package var sharedQueryRecordsMax = 10_000
    package var waitingPerCallerMax = 256
    package var waitingMax = 4_096
    package var shortWorkMilliseconds = 5
    /// 0 for none.
    package var userQuotaBytes = 21_474_836_480
    /// 0 for none.
    package var publicQuotaBytes = 107_374_182_400
    package var zonesPerOwnerMax = 10_000
    package var clientTokenBytesMax = 1_024
    package var clientTokensPerZoneMax = 20
    package var anonymousRequestsPerSecondMax = 50_000
    package var userRequestsPerSecondMax = 200_000
    package var userRecordsPerSecondMax = 1_000_000
    package var userBytesPerSecondMax = 4_294_967_296
    package var serverKeyRequestsPerSecondMax = 200_000
    package var serverKeyRecordsPerSecondMax = 1_000_000
    package var serverKeyBytesPerSecondMax = 4_294_967_296
    package var rateBurstSeconds = 10
    package var rateCallersMax = 65_536
}

extension LimitSettings {
    /// The largest number of bytes that every JSON reader keeps exact.
    static let quotaMax = 1 << 53 - 1

    static let section = Setting.Section(
        name: "limits",
        documentation: "What one request may ask and one store may hold.",
        settings: requests + pagesAhead + queries + work + rates + [
            .number(
                "limits.zonesPerUserMax", \.limits.zonesPerUserMax, 1...1_000_000, "zones",
                "Zones of one user's private database."),
            .number(
                "limits.zonesPerOwnerMax", \.limits.zonesPerOwnerMax, 1...1_000_000, "zones",
                "The same with deleted zones that are still kept: numbers of zones are never used "
                    + "again, and a database file has 8.3 million."),
            .number(
                "limits.clientTokenBytesMax", \.limits.clientTokenBytesMax, 0...1_048_576, "bytes",
                "Data that a device leaves for itself with a change of a zone. Over it: 400."),
            .number(
                "limits.clientTokensPerZoneMax", \.limits.clientTokensPerZoneMax, 1...1_000,
                "devices",
                "Devices of one user whose data is kept in one zone: those that were quiet the "
                    + "longest are forgotten."),
            .number(
                "limits.participantsPerShareMax", \.limits.participantsPerShareMax, 1...10_000,
                "participants",
                "Participants of one share, its owner not counted. Over it: 400."),
            .number(
                "limits.accessRequestsPerShareMax", \.limits.accessRequestsPerShareMax, 1...10_000,
                "requests",
                "Users who ask to take part in one share at a time, and as many who may not ask. Further "
                    + "requests are not shown; blocking more: 400."),
            .number(
                "limits.accessRequestsPerDayMax", \.limits.accessRequestsPerDayMax, 1...10_000,
                "requests",
                "How often one user may ask within a day to take part in shares. Over it: 429."),
            .number(
                "limits.discoveriesPerDayMax", \.limits.discoveriesPerDayMax, 1...1_000_000_000,
                "addresses",
                "Addresses and phone numbers of others that one user may look up within a day. Over it: 429."
            ),
            .number(
                "limits.fieldsPerTypeMax", \.limits.fieldsPerTypeMax, 1...10_000, "fields",
                "Fields of one record type."),
            .number(
                "limits.recordTypesMax", \.limits.recordTypesMax, 1...100_000, "record types",
                "Record types of one container's environment."),
            .number(
                "limits.subscriptionsPerUserMax", \.limits.subscriptionsPerUserMax, 1...1_000_000,
                "subscriptions", "Subscriptions of one user in one database."),
            .number(
                "limits.subscriptionBytesMax", \.limits.subscriptionBytesMax, 256...1_048_576,
                "bytes", "The query and the notification of one subscription together."),
            .number(
                "limits.feedWaitSecondsMax", \.limits.feedWaitSecondsMax, 1...300, "seconds",
                "How long a request for changes may ask to be held until there are some. Over it: 400."
            ),
            .number(
                "limits.rolesMax", \.limits.rolesMax, 1...10_000, "roles",
                "Security roles of one container's environment, beside the built-in ones."),
            .number(
                "limits.schemaBytesMax", \.limits.schemaBytesMax, 1_024...8_388_608, "bytes",
                "A text in the schema language."),
            .number(
                "limits.deleteSelfSourcesMax", \.limits.deleteSelfSourcesMax, 1...1_000_000,
                "records",
                "Records that refer to one record with DELETE_SELF."),
            .number(
                "limits.cascadeRecordsMax", \.limits.cascadeRecordsMax, 1...1_000_000, "records",
                "Records that the deletions of a request take with them."),
            .number(
                "limits.referencesPerRecordMax", \.limits.referencesPerRecordMax, 1...100_000,
                "references", "Different DELETE_SELF and VALIDATE references of one record."),
            .number(
                "limits.referencesPerRequestMax", \.limits.referencesPerRequestMax,
                1...1_000_000, "references",
                "DELETE_SELF and VALIDATE references that one request sends."),
            .number(
                "limits.sourcesReadMax", \.limits.sourcesReadMax, 100...100_000_000,
                "references", "Stored references to its records that one request looks at."),
            .number(
                "limits.decisionStepsMax", \.limits.decisionStepsMax, 1_000...100_000_000,
                "steps", "Looks at operations, references and parents to decide one request."),
            .number(
                "limits.indexedValuesPerRecordMax", \.limits.indexedValuesPerRecordMax,
                1...1_000_000, "values",
                "Values in all lists of one record: an index has to hold each. Over it: 400."),
            .number(
                "limits.publicIndexedBytesMax", \.limits.publicIndexedBytesMax,
                1_024...1_048_576, "bytes",
                "Searchable texts and lists of a public record; an index holds others up."),
            .number(
                "limits.holdersJudgedMax", \.limits.holdersJudgedMax, 1...1_000_000, "references",
                "References of one kind to a public record that are judged when it is deleted."),
            .number(
                "limits.writerMillisecondsMax", \.limits.writerMillisecondsMax, 0...60_000,
                "milliseconds", zero: "all decisions beside the writer",
                "Deciding one save holds up others so long; what takes longer is decided beside them."
            ),
            .number(
                "limits.decisionAttemptsMax", \.limits.decisionAttemptsMax, 1...1_000, "attempts",
                "Decisions beside the writer on one request, while others change its records."),
            .number(
                "limits.changesRecheckedMax", \.limits.changesRecheckedMax, 1...1_000_000,
                "changes", "Changes that the writer looks at before it trusts such a decision."),
            .number(
                "limits.batchBytesMax", \.limits.batchBytesMax, 1...1_073_741_824, "bytes",
                "Stored records that one request changes, all in memory at once."),
            .number(
                "limits.hierarchyDepthMax", \.limits.hierarchyDepthMax, 2...100_000, "parents",
                "Parents above one record, when it is moved, shared or looked for. Over it: 400."),
            .number(
                "limits.shareStepRecordsMax", \.limits.shareStepRecordsMax, 1...10_000, "records",
                "Records below a shared or moved one that a request looks at, and each later step."),
            .number(
                "limits.sharedPageHoldMilliseconds", \.limits.sharedPageHoldMilliseconds,
                0...30_000, "milliseconds", zero: "no wait",
                "How long an empty page of a shared zone waits for records still to come."),
            .number(
                "limits.sharedQueryRecordsMax", \.limits.sharedQueryRecordsMax, 0...1_000_000,
                "records",
                "Records of shared trees that a query goes through; of more it reads an index."),
            .number(
                "limits.userQuotaBytes", \.limits.userQuotaBytes, 0...quotaMax, "bytes",
                zero: "no quota",
                "Stored by one user in their private database."),
            .number(
                "limits.publicQuotaBytes", \.limits.publicQuotaBytes, 0...quotaMax, "bytes",
                zero: "no quota",
                "Stored in the public database of one container's environment."),
        ])

    private static let requests: [Setting] = [
        .number(
            "limits.operationsPerRequestMax", \.limits.operationsPerRequestMax, 1...10_000,
            "operations",
            "Operations of one request. Over it: 400."),
        .number(
            "limits.recordsPerResponseMax", \.limits.recordsPerResponseMax, 1...100_000, "records",
            "Records in one answer. A request that asks for more gets so many, and the rest later."),
        .number(
            "limits.recordBytesMax", \.limits.recordBytesMax, 1_024...67_108_864, "bytes",
            "Fields of one record, assets excluded. Over it: 400."),
        .number(
            "limits.pageBytesMax", \.limits.pageBytesMax, 65_536...268_435_456, "bytes",
            "Records in one answer; it ends there, and the rest comes with the next."),
        .number(
            "limits.feedRowsPerPageMax", \.limits.feedRowsPerPageMax, 100...10_000_000, "changes",
            "Changes looked at for one answer, so that a search with few hits ends too."),
    ]

    private static let pagesAhead: [Setting] = [
        .number(
            "limits.pagesAheadMax", \.limits.pagesAheadMax, 1...10_000, "feeds",
            """
            Feeds that clients follow page after page, and whose next page is made by a thread that \
            has nothing else to do while they take in this one. One more takes the place of the one \
            that nobody has asked for the longest.
            """),
        .number(
            "limits.pagesAheadPerUserMax", \.limits.pagesAheadPerUserMax, 1...10_000, "feeds",
            "Of one user, on all devices."),
        .number(
            "limits.pagesAheadBytesMax", \.limits.pagesAheadBytesMax, 0...1_099_511_627_776,
            "bytes", zero: "none are made",
            "Memory for such pages. Each is kept for a second, and only until the next change."),
        .number(
            "limits.pagesAheadBytesPerUserMax", \.limits.pagesAheadBytesPerUserMax,
            0...1_099_511_627_776, "bytes", zero: "none are made",
            "Of one user, on all devices together."),
    ]

    private static let queries: [Setting] = [
        .number(
            "limits.filtersPerQueryMax", \.limits.filtersPerQueryMax, 1...1_000, "filters",
            "Filters of one query. Over it: 400."),
        .number(
            "limits.sortsPerQueryMax", \.limits.sortsPerQueryMax, 1...100, "sorts",
            "Fields that one query sorts by. Over it: 400."),
        .number(
            "limits.listValuesPerQueryMax", \.limits.listValuesPerQueryMax, 1...100_000, "values",
            "Values in all lists that one query compares with. Over it: 400."),
        .number(
            "limits.queryRowsMax", \.limits.queryRowsMax, 100...100_000_000, "records",
            "Records looked at for one page of a query. Over it: 400."),
        .number(
            "limits.queryMillisecondsMax", \.limits.queryMillisecondsMax, 10...600_000,
            "milliseconds",
            "Time for one page of a query. Over it: 503."),
        .number(
            "limits.indexWaitMilliseconds", \.limits.indexWaitMilliseconds, 0...30_000,
            "milliseconds", zero: "no wait",
            "How long a query waits for an index that is being built. Over it: 503."),
    ]

    private static let work: [Setting] = [
        .number(
            "limits.waitingPerCallerMax", \.limits.waitingPerCallerMax, 1...1_000_000, "requests",
            "Requests of one caller that wait for a thread. Over it: 429."),
        .number(
            "limits.waitingMax", \.limits.waitingMax, 1...1_000_000, "requests",
            "Requests of all callers that wait for a thread. Over it: 429."),
        .number(
            "limits.shortWorkMilliseconds", \.limits.shortWorkMilliseconds, 1...60_000,
            "milliseconds",
            "A request that holds a thread longer goes on among the long ones."),
    ]
}
