import CloudModel
import IndexedQueries
import SQLite
import Storage
import StoredRows
import Synchronization

/// What the writer keeps in memory between and during groups: the counter, the schema, the sums.
///
/// Confined to the writer's queue. The sums of zones and owners are written once a group, not once a
/// record.
final class GroupState: GroupHooks {
    /// What a job, or a whole group, adds to the sums.
    struct Sums {
        var zones: [ZoneNumber: ZoneSum] = [:]
        var owners: [OwnerNumber: Int64] = [:]
        /// The last change in the tree of each share.
        var shares: [ShareNumber: Position] = [:]

        mutating func add(_ other: Sums) {
            // Many groups have one job alone.
            if zones.isEmpty {
                zones = other.zones
            } else {
                for (number, change) in other.zones {
                    zones[number, default: ZoneSum()].add(change)
                }
            }
            if owners.isEmpty {
                owners = other.owners
            } else {
                for (number, bytes) in other.owners { owners[number, default: 0] += bytes }
            }
            for (number, changed) in other.shares {
                shares[number] = max(shares[number] ?? 0, changed)
            }
        }
    }

    private var transaction: SQLiteTransaction?
    private(set) var indexWriter: IndexWriter?
    private var versionWriter: VersionWriter?
    private var preparedForNames: NameWriter?
    private let shared: SharedFacts
    private let publishedIndexes: PublishedIndexes
    private let notices: CommitNotices
    var indexes: IndexCatalog
    private(set) var following: Following
    /// As of the last commit.
    private var committedFollowing: Following
    /// How many changes are kept for followers at most; nil when they have not been counted yet.
    private var changesKept: Int?
    private let followerChangesMax: Int
    /// What the group has moved beside the zones and owners of `sums`.
    private var moved: Set<StorePart> = []
    /// The schema and what is held of it, with what the group's jobs have made of them.
    var schema: TransactionSchema
    /// As they were when the group began.
    private var committedSchema: TransactionSchema
    let positions: PositionCounter
    /// By which those who give back space see whether others write.
    var spaceTurns = SpaceTurns()
    private(set) var sums = Sums()
    /// How many jobs of the group have ended well.
    private var writes = 0
    /// Owners and zones that jobs have read: most ask for those that the jobs before asked for.
    var cache = Cache()
    /// Zones that have no tree of a share, so that no save in them has to look for one.
    ///
    /// A zone stays until it gets a tree, which only this writer gives it.
    private(set) var treeless: Set<ZoneNumber> = []
    private static let treelessMax = 10_000

    /// What stands for a name until something of the kind is made or removed, which only this writer does.
    struct Cache {
        /// More owners or zones than these are not kept from one group to the next.
        private static let keptMax = 16

        struct ZoneKey: Hashable {
            let owner: OwnerNumber
            let name: ZoneName
        }

        var owners: [UserRecordName: StoredOwner] = [:]
        var zones: [ZoneKey: StoredZone] = [:]
        /// Shares that stand, with their zones.
        var activeShares: [ShareNumber: ZoneNumber] = [:]

        /// Takes over what a group has added to them, once it is committed.
        mutating func add(_ sums: Sums) {
            guard max(owners.count, zones.count, activeShares.count) <= Self.keptMax else {
                self = Cache()
                return
            }
            for (key, zone) in zones {
                if let sum = sums.zones[zone.number] { zones[key] = zone.reaching(sum.changed) }
            }
            for (name, owner) in owners {
                if let bytes = sums.owners[owner.number] { owners[name] = owner.using(bytes) }
            }
        }
    }

    init(
        schema: TransactionSchema, shared: SharedFacts, publishedIndexes: PublishedIndexes,
        positions: PositionCounter, following: Following, followerChangesMax: Int,
        notices: CommitNotices
    ) {
        self.schema = schema
        self.committedSchema = schema
        self.shared = shared
        self.publishedIndexes = publishedIndexes
        self.indexes = publishedIndexes.value
        self.positions = positions
        self.following = following
        committedFollowing = following
        self.followerChangesMax = followerChangesMax
        self.notices = notices
    }

    /// The one transaction of the writer's connection; each job begins it again.
    func transaction(_ connection: Connection) throws -> SQLiteTransaction {
        if let transaction { return transaction }
        let made = try SQLiteTransaction(connection, shared, group: self)
        transaction = made
        return made
    }

    /// What writes indexes, on the connection on which it writes.
    func preparedIndexWriter(_ connection: Connection) throws -> IndexWriter {
        if let indexWriter { return indexWriter }
        let made = try IndexWriter(connection)
        indexWriter = made
        return made
    }

    /// What writes versions, on the connection on which it writes.
    func preparedVersionWriter(_ connection: Connection) throws -> VersionWriter {
        if let versionWriter { return versionWriter }
        let made = try VersionWriter(
            connection, try transaction(connection).versions.texts.names)
        versionWriter = made
        return made
    }

    func names(_ connection: Connection) throws -> NameWriter {
        if let preparedForNames { return preparedForNames }
        let made = NameWriter(
            connection, try transaction(connection).names, shared.waitingNames)
        preparedForNames = made
        return made
    }

    /// Lets go of the connection, once the writer is closed.
    func letGo() {
        (transaction, indexWriter, versionWriter, preparedForNames) = (nil, nil, nil, nil)
        positions.letGo()
    }

    /// Takes over what a job did, once it has ended well.
    func accept(_ job: SQLiteTransaction) {
        writes += 1
        sums.add(job.sums)
        if !job.moved.isEmpty { moved.formUnion(job.moved) }
        if job.isFollowingNew { following = job.following }
        if job.notedChanges > 0 { changesKept = changesKept.map { $0 + job.notedChanges } }
        indexes = job.indexes
        if let made = job.newSchema { schema = made }
    }

    func groupBegan(_ connection: Connection) throws {
        sums = Sums()
        writes = 0
        moved = []
        transaction?.names.forget()
        shared.waitingNames.groupBegins()
        positions.groupBegan()
    }

    func jobBegan() {
        shared.waitingNames.jobBegins()
        spaceTurns.jobBegan()
    }

    /// A job that failed may have made what others would find, or ended what they would miss.
    func jobRolledBack() {
        cache = Cache()
        treeless = []
        transaction?.versions.texts.forget()
        shared.waitingNames.undoJob()
        preparedForNames?.rolledBack()
        indexWriter?.rolledBack()
    }

    func noteTrees(in zone: ZoneNumber) { treeless.remove(zone) }

    func noteNoTrees(in zone: ZoneNumber) {
        if treeless.count >= Self.treelessMax { treeless = [] }
        treeless.insert(zone)
    }

    func groupWillCommit(_ connection: Connection) throws {
        let statements = try connection.prepared(SumStatements.self)
        for (number, change) in sums.zones {
            try statements.applyZone.run(
                number.value, change.changed, change.records, change.bytes, change.assetBytes)
            try require(
                connection,
                "what changes in a zone moves its feed: zone \(number.value) is not there")
            statements.shareOfZone.bind(number.value, at: 1)
            if try statements.shareOfZone.step() {
                sums.shares[ShareNumber(statements.shareOfZone.int64(0))] = change.changed
            }
            statements.shareOfZone.reset()
        }
        for (number, changed) in sums.shares {
            for statement in [statements.applyGrants, statements.applyViews] {
                try statement.run(number.value, changed)
            }
        }
        for (number, bytes) in sums.owners where bytes != 0 {
            try statements.applyOwner.run(number.value, bytes)
            try require(
                connection, "what is stored counts to an owner: \(number.value) is not there")
        }
        if following.isOn { try limitFollowers(connection) }
        try positions.groupWillCommit(connection)
    }

    /// What a group adds, it adds to a row that is there: else clients would never hear of its changes, and
    /// quotas would not count them.
    private func require(_ connection: Connection, _ words: @autoclosure () -> String) throws {
        guard connection.changeCount == 1 else { throw BrokenInvariant(words()) }
    }

    /// Lets followers go that are too far behind.
    ///
    /// What was kept and has gone is counted on, until the count says that it is time to look.
    private func limitFollowers(_ connection: Connection) throws {
        if let changesKept, changesKept <= followerChangesMax { return }
        let log = ChangeLog(connection)
        if try log.count() > followerChangesMax {
            if try log.letGo(behind: followerChangesMax) { following = try Following(connection) }
            if following.isOn { try log.forgetPassed() } else { try log.forgetAll() }
        }
        changesKept = try log.count()
    }

    func groupCommitted() {
        positions.groupCommitted()
        preparedForNames?.committed()
        cache.add(sums)
        committedFollowing = following
        if indexes.version != publishedIndexes.value.version {
            if indexes.whole != publishedIndexes.value.whole { moved.insert(.indexes) }
            publishedIndexes.value = indexes
        }
        committedSchema = schema
        // Last: who is woken finds all of it.
        notices.committed(through: positions.committed, writes: writes) { tell in
            for part in moved { tell(part) }
            for zone in sums.zones.keys { tell(.zone(zone)) }
            for owner in sums.owners.keys { tell(.owner(owner)) }
            if positions.groupMoves { tell(.anything) }
        }
    }

    func groupRolledBack() {
        positions.groupRolledBack()
        transaction?.versions.texts.forget()
        shared.waitingNames.undoGroup()
        preparedForNames?.rolledBack()
        indexWriter?.rolledBack()
        following = committedFollowing
        moved = []
        sums = Sums()
        writes = 0
        cache = Cache()
        treeless = []
        indexes = publishedIndexes.value
        schema = committedSchema
    }
}

/// The schema as the writer has it, and until when something is held of it.
struct TransactionSchema {
    var schema: Schema
    var heldUntil: Milliseconds

    /// As it counts at a moment.
    func at(_ moment: Milliseconds) -> Schema {
        guard !schema.leaving.isEmpty, heldUntil <= moment else { return schema }
        var free = schema
        free.leaving = Schema.Parts()
        return free
    }
}
