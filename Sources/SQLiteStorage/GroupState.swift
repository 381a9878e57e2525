import CloudModel
import SQLite
import Storage
import Synchronization

/// What the writer keeps in memory between and during groups: the counter, the schema, the sums.
///
/// Confined to the writer's queue. The sums of zones and owners are written once a group, not once a
/// record.
final class GroupState: GroupHooks {
    /// What a job, or a whole group, adds to the sums.
    struct Sums {
        struct Zone {
            var changed: Position = 0
            var records: Int64 = 0
            var bytes: Int64 = 0
            var assetBytes: Int64 = 0

            mutating func add(_ other: Zone) {
                changed = max(changed, other.changed)
                records += other.records
                bytes += other.bytes
                assetBytes += other.assetBytes
            }
        }

        var zones: [ZoneNumber: Zone] = [:]
        var owners: [OwnerNumber: Int64] = [:]
        /// The last change in the tree of each share.
        var shares: [ShareNumber: Position] = [:]

        mutating func add(_ other: Sums) {
            for (number, change) in other.zones {
                zones[number, default: Zone()].add(change)
            }
            for (number, bytes) in other.owners { owners[number, default: 0] += bytes }
            for (number, changed) in other.shares {
                shares[number] = max(shares[number] ?? 0, changed)
            }
        }
    }

    static let reservationKey = "reserved_through"
    /// How far ahead numbers are reserved on disk: what a restart skips at most.
    static let reservationBlock: Position = 65_536

    private(set) var statements: WriteStatements?
    private(set) var snapshot: SQLiteSnapshot?
    private(set) var indexWriter: IndexWriter?
    private var preparedForShares: ShareWriteStatements?
    private var preparedForCoverage: CoverageStatements?
    private var preparedForAssets: AssetWriteStatements?
    private var preparedForWork: WorkStatements?
    private let published: PublishedSchema
    private let publishedIndexes: PublishedIndexes
    var indexes: IndexCatalog
    /// Called after a commit that has queued work.
    var onWork: (@Sendable () -> Void)?
    private var hasQueuedWork = false
    var schema: Schema
    private var schemaMoved = false
    var nextPosition: Position
    private var reservedThrough: Position
    private var reservedOnDisk: Position
    private(set) var sums = Sums()
    /// Owners and zones that the group's jobs have read: most jobs of a group ask for the same.
    var places = Places()

    /// What stands for a name until the group ends or something of the kind is made or removed.
    struct Places {
        struct ZoneKey: Hashable {
            let owner: OwnerNumber
            let name: ZoneName
        }

        var owners: [UserRecordName: StoredOwner] = [:]
        var zones: [ZoneKey: StoredZone] = [:]
        /// Zones that have no tree of a share.
        var treeless: Set<ZoneNumber> = []
    }

    init(
        published: PublishedSchema, publishedIndexes: PublishedIndexes, reservedThrough: Position
    ) {
        self.published = published
        self.publishedIndexes = publishedIndexes
        self.indexes = publishedIndexes.value
        self.schema = published.value
        self.nextPosition = reservedThrough + 1
        self.reservedThrough = reservedThrough
        self.reservedOnDisk = reservedThrough
    }

    /// The writer's own reader, on the connection on which it writes.
    func prepared(_ connection: Connection) throws -> (SQLiteSnapshot, WriteStatements) {
        if let snapshot, let statements { return (snapshot, statements) }
        let made = (try SQLiteSnapshot(connection), try WriteStatements(connection))
        (snapshot, statements) = made
        return made
    }

    /// What writes indexes, on the connection on which it writes.
    func preparedIndexWriter(_ connection: Connection) throws -> IndexWriter {
        if let indexWriter { return indexWriter }
        let made = try IndexWriter(
            connection, terms: try prepared(connection).0.indexes.terms())
        indexWriter = made
        return made
    }

    func shareStatements(_ connection: Connection) throws -> ShareWriteStatements {
        if let preparedForShares { return preparedForShares }
        let made = try ShareWriteStatements(connection)
        preparedForShares = made
        return made
    }

    func coverageStatements(_ connection: Connection) throws -> CoverageStatements {
        if let preparedForCoverage { return preparedForCoverage }
        let made = try CoverageStatements(connection)
        preparedForCoverage = made
        return made
    }

    func assetStatements(_ connection: Connection) throws -> AssetWriteStatements {
        if let preparedForAssets { return preparedForAssets }
        let made = try AssetWriteStatements(connection)
        preparedForAssets = made
        return made
    }

    func workStatements(_ connection: Connection) throws -> WorkStatements {
        if let preparedForWork { return preparedForWork }
        let made = try WorkStatements(connection)
        preparedForWork = made
        return made
    }

    /// Takes over what a job did, once it has ended well.
    func accept(_ job: SQLiteTransaction) {
        sums.add(job.sums)
        indexes = job.indexes
        if job.hasQueuedWork { hasQueuedWork = true }
        if job.isSchemaNew {
            schema = job.schema
            schemaMoved = true
        }
    }

    func groupBegan(_ connection: Connection) throws {
        hasQueuedWork = false
        sums = Sums()
        places = Places()
    }

    /// A job that failed may have made what others would find.
    func jobRolledBack() { places = Places() }

    func groupWillCommit(_ connection: Connection) throws {
        let (_, statements) = try prepared(connection)
        for (number, change) in sums.zones {
            statements.sums.applyZone.bind(number.value, at: 1)
            statements.sums.applyZone.bind(change.changed, at: 2)
            statements.sums.applyZone.bind(change.records, at: 3)
            statements.sums.applyZone.bind(change.bytes, at: 4)
            statements.sums.applyZone.bind(change.assetBytes, at: 5)
            try statements.sums.applyZone.run()
            statements.sums.shareOfZone.bind(number.value, at: 1)
            if try statements.sums.shareOfZone.step() {
                sums.shares[ShareNumber(statements.sums.shareOfZone.int64(0))] = change.changed
            }
            statements.sums.shareOfZone.reset()
        }
        for (number, changed) in sums.shares {
            for statement in [statements.sums.applyGrants, statements.sums.applyViews] {
                statement.bind(number.value, at: 1)
                statement.bind(changed, at: 2)
                try statement.run()
            }
        }
        for (number, bytes) in sums.owners where bytes != 0 {
            statements.sums.applyOwner.bind(number.value, at: 1)
            statements.sums.applyOwner.bind(bytes, at: 2)
            try statements.sums.applyOwner.run()
        }
        if nextPosition > reservedThrough {
            reservedThrough = nextPosition + Self.reservationBlock
            statements.setProperty.bind(Self.reservationKey, at: 1)
            statements.setProperty.bind(reservedThrough, at: 2)
            try statements.setProperty.run()
        }
    }

    func groupCommitted() {
        reservedOnDisk = reservedThrough
        if indexes.version != publishedIndexes.value.version {
            publishedIndexes.value = indexes
        }
        if hasQueuedWork { onWork?() }
        if schemaMoved {
            published.value = schema
            schemaMoved = false
        }
    }

    func groupRolledBack() {
        // The numbers that the group took are never used again; only the reservation is undone.
        reservedThrough = reservedOnDisk
        sums = Sums()
        places = Places()
        indexes = publishedIndexes.value
        if schemaMoved {
            schema = published.value
            schemaMoved = false
        }
    }
}

/// The schema as of the last commit, for readers on any thread.
final class PublishedSchema: Sendable {
    private let stored: Mutex<Schema>

    init(_ schema: Schema) { stored = Mutex(schema) }

    var value: Schema {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }
}
