import CloudModel
import Migrations
import SQLite
import Storage
import Synchronization

/// One container environment's data in one SQLite file.
package final class SQLiteStore: Storage {
    /// The limits of a store and what is handed to it.
    package struct Options: Sendable {
        package var writer = WriterOptions()
        package var readers = ReaderPool.Options()
        /// How many event loops may read on their own threads.
        package var loopCount = 0
        package var clock: Clock
        /// 8 bytes for a new incarnation and 32 for a token key come from here.
        package var random: @Sendable (Int) -> [UInt8]

        package init(clock: Clock, random: @escaping @Sendable (Int) -> [UInt8]) {
            self.clock = clock
            self.random = random
        }
    }

    package let identity: StoreIdentity
    private let published: PublishedSchema
    private let publishedIndexes: PublishedIndexes
    private let worker = Mutex<(any StoreWorker)?>(nil)
    private let group: UncheckedBox<GroupState>
    private let writer: GroupWriter
    private let readers: ReaderPool
    /// Readers kept open between reads on other threads than the event loops'.
    private let readersMax: Int
    private let idle = Mutex<[UncheckedBox<SQLiteSnapshot>]>([])
    private let loopReaders: [LoopReader]
    private let clock: Clock

    /// Opens the file, making it or bringing it to this server's schema.
    ///
    /// - Parameters:
    ///   - path: of `store.sqlite`; its folder exists.
    ///   - onIndeterminate: called once when a commit's outcome is unknown; the process must end.
    /// - Throws: `MigrationError` for another program's or a newer server's file, `SQLiteError`.
    package init(
        path: String, options: Options, onIndeterminate: @escaping @Sendable (String) -> Void
    ) throws {
        var opened: Opened?
        let writer = try GroupWriter(
            path: path, options: options.writer,
            makeHooks: { connection in
                let made = try Opened(connection, random: options.random)
                opened = made
                return made.group
            }, onIndeterminate: { onIndeterminate("\($0)") })
        guard let opened else { throw InvalidRow(table: "properties") }
        self.writer = writer
        self.identity = opened.identity
        self.published = opened.published
        self.publishedIndexes = opened.publishedIndexes
        self.group = UncheckedBox(opened.group)
        self.readersMax = options.readers.connectionsMax
        self.readers = ReaderPool(path: path, options: options.readers)
        self.loopReaders = (0..<options.loopCount).map { _ in LoopReader() }
        self.clock = options.clock
        opened.group.onWork = { [weak self] in self?.attached?.wake() }
    }

    private var attached: (any StoreWorker)? { worker.withLock { $0 } }

    package func attach(_ worker: any StoreWorker) {
        let former = self.worker.withLock { stored in
            defer { stored = worker }
            return stored
        }
        former?.stop()
        // What was not finished before goes on, and what was queued before anybody was there.
        writer.betweenGroups { connection in
            // NB: what cannot be looked at now is done after the next write that queues some.
            if (try? connection.map(Self.hasWork)) == true { worker.wake() }
        }
    }

    private static func hasWork(_ connection: Connection) throws -> Bool {
        let statement = try connection.prepare("SELECT 1 FROM work LIMIT 1")
        defer { statement.reset() }
        return try statement.step()
    }

    package var writeCount: UInt64 { measurements.jobs }

    package var schema: Schema { published.value }

    /// The indexes as of the last commit.
    var indexes: IndexCatalog { publishedIndexes.value }

    /// Waits until they are others than at an earlier look.
    ///
    /// - Returns: false when the time was over first.
    func waitForIndexes(otherThan seen: IndexCatalog, nanoseconds: UInt64) -> Bool {
        publishedIndexes.wait(otherThan: seen.version, nanoseconds: nanoseconds)
    }

    package func read<Value>(
        loop: Int?, _ body: (any StoreSnapshot) throws -> Value
    ) throws -> Value {
        if let loop, loopReaders.indices.contains(loop) {
            return try loopReaders[loop].reader(of: readers).reading(body)
        }
        let reader =
            try idle.withLock { $0.popLast() }
            ?? UncheckedBox(SQLiteSnapshot(readers.makeReader()))
        do {
            let value = try reader.value.reading(body)
            keep(reader)
            return value
        } catch {
            // One that met a failure of the engine is closed with it.
            if !(error is SQLiteError || error is StorageFailure) { keep(reader) }
            throw error
        }
    }

    private func keep(_ reader: UncheckedBox<SQLiteSnapshot>) {
        idle.withLock { if $0.count < readersMax { $0.append(reader) } }
    }

    package func write<Value: Sendable>(
        _ load: WriteLoad,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let (group, clock) = (group, clock)
        writer.submit(cost: load.cost, frees: load.frees) { connection in
            let transaction = try SQLiteTransaction(
                connection, group: group.value, now: clock.now())
            let value = try body(transaction)
            group.value.accept(transaction)
            return value
        } completion: { result in
            completion(result.mapError(Self.failure))
        }
    }

    /// Finishes what waits, moves the log into the file and closes.
    package func close() {
        attached?.stop()
        writer.close()
        readers.close()
        idle.withLock { $0.removeAll() }
    }

    /// What the writer has done and how it stands, for metrics and readiness.
    package var measurements: WriterMeasurements { writer.measurements }

    /// Whether writes are refused because the disk is full.
    package var isDiskFull: Bool { writer.isDiskFull }

    private static func failure(_ error: any Error) -> any Error {
        switch error {
        case let error as SQLiteError where error.kind == .full: StorageFailure.full
        case is WriterError: StorageFailure.indeterminate
        default: error
        }
    }
}

/// What the writer's connection holds when it has just been opened.
private struct Opened {
    let identity: StoreIdentity
    let published: PublishedSchema
    let publishedIndexes: PublishedIndexes
    let group: GroupState

    init(_ connection: Connection, random: (Int) -> [UInt8]) throws {
        try Migrator(StoreFile.migrations).migrate(connection)
        // This process has the file alone: whoever held work is gone.
        try connection.execute(
            "UPDATE work SET holder = NULL, held_until = NULL WHERE holder IS NOT NULL")
        let properties = StoreProperties(connection)
        try properties.makeMissing(random: random)
        identity = try properties.identity()
        published = PublishedSchema(try StoredSchema.read(connection))
        publishedIndexes = PublishedIndexes(
            IndexCatalog(try SQLiteIndexReader(connection).indexes()))
        group = GroupState(
            published: published, publishedIndexes: publishedIndexes,
            reservedThrough: try properties.number(GroupState.reservationKey))
    }
}

/// The reader of one event loop, made when its thread first reads.
private final class LoopReader: @unchecked Sendable {
    // Unchecked: only the thread of the one loop that it belongs to calls it.
    private var made: SQLiteSnapshot?

    func reader(of pool: ReaderPool) throws -> SQLiteSnapshot {
        if let made { return made }
        let snapshot = try SQLiteSnapshot(pool.makeReader())
        made = snapshot
        return snapshot
    }
}

/// Hands a value from one thread to another.
private struct UncheckedBox<Value>: @unchecked Sendable {
    // Unchecked: a reader is popped by one thread at a time, the group's state lives on one queue.
    let value: Value

    init(_ value: Value) { self.value = value }
}
