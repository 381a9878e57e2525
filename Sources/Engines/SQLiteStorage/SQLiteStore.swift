import CloudModel
import GroupCommit
import IndexedQueries
import SQLite
import Storage
import StoredRows
import Synchronization

/// One container environment's data in one SQLite file.
package final class SQLiteStore: Store {
    /// The limits of a store and what is handed to it.
    package struct Options: Sendable {
        package var writer = WriterOptions()
        package var readers = ReaderPool.Options()
        /// How many event loops may read on their own threads.
        package var loopCount = 0
        package var clock: Clock
        /// How many changes are kept for a follower that does not come.
        package var followerChangesMax = 250_000
        /// The bytes of a new incarnation and of a token key come from here.
        package var random: @Sendable (Int) -> [UInt8]
        /// Learns of each commit; waits here go on when the store is closed.
        package var notices = CommitNotices()
        /// A life to go on with, if the file is still where that ended.
        package var life: StoreLife?
        /// Told what the file calls itself before anything is done to it; what it throws ends the opening.
        package var admit: @Sendable ([UInt8]?) throws -> Void = { _ in }
        /// How many bits of the hashes of names are used; fewer only to have hashes meet in tests.
        package var nameHashBits = 64
        /// What the catalog is to know a new file by; empty for none.
        package var name: [UInt8] = []
        /// Told what its opening has found, and what is found later.
        package var report: @Sendable (StoreReport) -> Void = { _ in }
        var counts = EngineCounts()
        /// Where versions were seen last, of this store and of others.
        package var positionCache = PositionCache(bytesMax: 1_048_576)

        package init(clock: Clock, random: @escaping @Sendable (Int) -> [UInt8]) {
            self.clock = clock
            self.random = random
        }
    }

    private let facts: SharedFacts
    package let notices: CommitNotices
    /// The life that this opening writes in.
    private let life: StoreIdentity
    private let publishedIndexes: PublishedIndexes
    private let note: PositionNote?
    /// Lives on the queue of the writer.
    private let group: ExclusiveValue<GroupState>
    private let writer: GroupWriter
    private let readers: ReaderPool
    /// Readers kept open between reads on other threads than the event loops'.
    private let readersMax: Int
    private let idle = Mutex<[ExclusiveValue<SQLiteSnapshot>]>([])
    private let loopReaders: [LoopReader]
    private let clock: Clock
    /// One at a time overwrites what was deleted.
    let overwriting = Mutex(())

    /// Opens the file, making it or bringing it to this server's schema.
    ///
    /// - Parameters:
    ///   - path: of `store.sqlite`; its folder exists.
    ///   - onIndeterminate: called once when a commit's outcome is unknown; the process must end.
    /// - Throws: `MigrationError` for a file that is not this version's, `SQLiteError`.
    package init(
        path: String, options: Options, onIndeterminate: @escaping @Sendable (String) -> Void
    ) throws {
        var opened: Opened?
        var options = options
        let snapshots = OpenSnapshots()
        options.writer.snapshots = snapshots
        options.readers.snapshots = snapshots
        let note = NoteAtCheckpoints()
        options.writer.checkpoints?.didMove = { note.synchronize() }
        let writer = try GroupWriter(
            path: path, options: options.writer,
            makeHooks: { connection in
                let made = try Opened(connection, options)
                opened = made
                return made.group
            }, onIndeterminate: { onIndeterminate("\($0)") })
        guard let opened else { throw InvalidRow(table: "properties") }
        self.writer = writer
        self.facts = opened.facts
        self.notices = options.notices
        self.life = opened.life
        self.publishedIndexes = opened.publishedIndexes
        self.note = opened.note
        note.value = opened.note
        self.group = ExclusiveValue(opened.group)
        self.readersMax = options.readers.connectionsMax
        self.readers = ReaderPool(path: path, options: options.readers)
        self.loopReaders = (0..<options.loopCount).map { _ in LoopReader() }
        self.clock = options.clock
    }

    /// Of the store's file.
    var path: String { writer.path }

    /// What is known of the names that wait to be put in order.
    var waitingNames: WaitingNames { facts.waitingNames }

    /// The indexes as of the last commit.
    var indexes: IndexCatalog { publishedIndexes.value }

    /// Reads of the own file end as soon as the disk answers.
    package var readsAtOnce: Bool { true }

    package func read<Value>(
        _ load: ReadLoad, _ body: (any StoreSnapshot) throws -> Value
    ) throws -> Value {
        if case .loop(let loop) = load.reader, loopReaders.indices.contains(loop) {
            return try loopReaders[loop].reader(makeReader).reading(stop: load.stop, body)
        }
        let reader = try idle.withLock { $0.popLast() } ?? ExclusiveValue(makeReader())
        do {
            let value = try reader.value.reading(stop: load.stop, body)
            keep(reader)
            return value
        } catch {
            // One that met a failure of the engine is closed with it.
            if !(error is SQLiteError || error is StorageFailure) { keep(reader) }
            throw error
        }
    }

    package func readTogether<Value: Sendable>(
        _ needs: @autoclosure () -> StoreNeeds, by caller: StoreCaller,
        _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) { completion(Result { try read(body) }) }

    /// Moves the log into the file and truncates it; whether nothing is left in it.
    func emptyLogOnce() throws -> Bool {
        do { return try writer.emptyLog() } catch { throw Self.failure(error) }
    }

    private func makeReader() throws -> SQLiteSnapshot {
        do { return try SQLiteSnapshot(readers.makeReader(), facts) } catch let error as SQLiteError
        {
            throw error.storageFailure ?? error
        }
    }

    private func keep(_ reader: ExclusiveValue<SQLiteSnapshot>) {
        idle.withLock { if $0.count < readersMax { $0.append(reader) } }
    }

    package func write<Value: Sendable>(
        _ load: WriteLoad,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let (group, clock, author) = (group, clock, load.author)
        writer.submit(
            cost: load.cost, bytes: load.bytes, caller: load.caller.value, frees: load.frees
        ) { connection in
            let transaction = try group.value.transaction(connection)
            transaction.begin(at: clock.now(), by: author)
            let value = try body(transaction)
            group.value.accept(transaction)
            return value
        } completion: { result in
            completion(result.mapError(Self.failure))
        }
    }

    /// Finishes what waits, moves the log into the file and closes.
    ///
    /// - Parameter isUnused: whether nobody reads, nor will. Otherwise readers of event loops, who may be at
    ///   it, are closed with the store's last reference.
    @discardableResult
    package func close(isUnused: Bool = false) -> ClosedStore {
        // Before the writer: the last connection to a file takes the log away with it.
        readers.close()
        idle.withLock { $0.removeAll() }
        if isUnused { for reader in loopReaders { reader.close() } }
        var closed = ClosedStore(measurements: WriterMeasurements())
        // NB: of a writer that has failed nobody knows what it left; the next opening looks.
        if let left = try? rested() { (closed.nextWork, closed.life) = left }
        writer.close()
        group.value.letGo()
        closed.measurements = measurements
        note?.synchronize()
        return closed
    }

    private func rested() throws -> (Milliseconds?, StoreLife?) {
        let (group, clock, life) = (group, clock, life)
        return try writer.write { connection in
            let transaction = try group.value.transaction(connection)
            transaction.begin(at: clock.now())
            let work = try transaction.nextWorkMoment(nil, for: WorkHolder(1))
            // What waits for a sender is work as well.
            let next = [work, try transaction.nextDestinationMoment()].compactMap { $0 }
                .min()
            return (next, group.value.positions.rest(of: life))
        }
    }

    /// What the writer has done and how it stands, for metrics and readiness.
    package var measurements: WriterMeasurements { writer.measurements }

    /// Whether writes are refused because the disk is full.
    package var isDiskFull: Bool { writer.isDiskFull }

    private static func failure(_ error: any Error) -> any Error {
        switch error {
        case let error as SQLiteError: error.storageFailure ?? error
        case WriterError.tooManyOfCaller: StorageFailure.unavailable(.callerBusy)
        case WriterError.tooManyWaiting: StorageFailure.unavailable(.busy)
        case is WriterError: StorageFailure.indeterminate
        default: error
        }
    }
}

/// What the writer's connection holds when it has just been opened.
private struct Opened {
    let facts: SharedFacts
    let life: StoreIdentity
    let publishedIndexes: PublishedIndexes
    let note: PositionNote?
    let group: GroupState

    init(_ connection: Connection, _ options: SQLiteStore.Options) throws {
        do {
            try options.admit(StoreProperties.name(in: connection))
        } catch {
            // What may not be opened stays as it is.
            connection.leaveLogOnClose()
            throw error
        }
        try Schemas.store.migrate(connection)
        // This process has the file alone: other holders of work are gone.
        try connection.execute(
            "UPDATE work SET holder = NULL, held_until = NULL WHERE holder IS NOT NULL")
        let properties = StoreProperties(connection)
        let isNew = try properties.makeMissing(named: options.name, random: options.random)
        let hash = try properties.nameHash(bits: options.nameHashBits)
        facts = SharedFacts(
            hash, try WaitingNames(of: connection, hash),
            Damage(options.counts) { options.report(.damaged($0)) }, options.positionCache)
        // In the file itself: with its log lost it must still be known as this server's.
        if isNew { connection.truncateLog() }
        let recorded = try properties.identity()
        let last = try properties.lastPosition()
        let noted = PositionNote.read(besideStore: connection.path)
        let known = options.life.flatMap { $0.goesOn(with: recorded, last) ? $0 : nil }
        let (life, first) = try properties.newLife(
            after: recorded, noted: noted, random: options.random)
        let isFirst = isNew || known != nil
        self.life =
            known?.identity ?? (isNew ? recorded : recorded.followed(by: life, last: last))
        if !isFirst, let lost = life.lostThrough {
            options.report(.behind(last: last, acknowledged: lost))
        }
        note = PositionNote(besideStore: connection.path, incarnation: self.life.incarnation)
        let schema = try FactReader(connection, facts).schema()
        publishedIndexes = PublishedIndexes(
            IndexCatalog(
                try SQLiteIndexReader(
                    connection, VersionReader(connection, facts.damage)
                ).indexes()))
        let clock = options.clock
        group = GroupState(
            schema: TransactionSchema(schema: schema.schema, heldUntil: schema.heldUntil),
            shared: facts, publishedIndexes: publishedIndexes,
            positions: PositionCounter(
                committed: last, next: known?.next ?? (isNew ? 1 : first),
                beginning: isFirst ? nil : life,
                note: note, now: { clock.now() }),
            following: try Following(connection),
            followerChangesMax: options.followerChangesMax, notices: options.notices)
    }
}

/// The note that checkpoints bring to the disk, once there is one.
private final class NoteAtCheckpoints: Sendable {
    private let stored = Mutex<PositionNote?>(nil)

    var value: PositionNote? {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }

    func synchronize() { value?.synchronize() }
}

extension SQLiteError {
    /// What the failure is to callers of the store; nil for one that is a fault.
    var storageFailure: StorageFailure? {
        switch kind {
        case .full: .full
        // Another program has the file to itself, such as a shell.
        case .busy: .conflict
        case .interrupted: .interrupted
        case .tooManyFiles: .unavailable(.tooManyOpen)
        case .unopened: .unavailable(.unreachable(description))
        case .inputOutput, .outOfMemory, .constraint, .corrupt, .other: nil
        }
    }
}

/// The reader of one event loop, made when its thread first reads.
private final class LoopReader: Sendable {
    private let made = Mutex<ExclusiveValue<SQLiteSnapshot>?>(nil)

    /// Of a store that nobody uses any more, on any thread.
    func close() { made.withLock { $0 = nil } }

    /// Only for the thread of the one loop that it belongs to.
    func reader(_ make: () throws -> SQLiteSnapshot) throws -> SQLiteSnapshot {
        if let made = made.withLock({ $0 }) { return made.value }
        let snapshot = ExclusiveValue(try make())
        made.withLock { $0 = snapshot }
        return snapshot.value
    }
}
