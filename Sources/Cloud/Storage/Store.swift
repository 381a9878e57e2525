import CloudModel

/// One container environment's data: what every engine promises, whatever it keeps the data in.
///
/// What can be read and written stands in contracts of its own, by what a reader needs: `ZoneReading`,
/// `RecordReading`, `SchemaReading`, `ShareReading`, `IndexReader`, `AssetReading`, `ClientTokenReading`, and
/// the `…Writing` of each; `WorkQueue`. `StorageConformance` holds an engine to all of them.
///
/// # What is promised
///
/// - **Isolation.** A read sees one moment of the store, from its first look to its last. A write sees
///   the moment at which it commits, with what it has itself written: writes are as if each had run
///   alone, one after the other. Nobody sees what has not committed.
/// - **Visibility.** What was acknowledged is on disk, and every read that begins later sees it, in any
///   process. A write that failed leaves nothing, but for `StorageFailure.indeterminate`.
/// - **Order.** Writes commit in the order of the positions that they took: a read that sees position *n* sees
///   everything below it. What one caller hands in runs in that order.
/// - **All or nothing.** What one write does is there as a whole or not at all, queued work included.
/// - **Failures.** `StorageFailure` lists those that an engine may meet, and who tries again. Others are
///   faults of the engine, and mean that the data cannot be trusted.
///
/// # Misuse
///
/// A write's closure may run more than once, after all that it did was undone: it must not change anything
/// outside of the transaction. A snapshot or transaction is not used after its closure has returned, nor on another
/// thread. Reads are not nested: within a read, everything comes from its one snapshot.
///
/// ```swift
/// let zone = try storage.read { snapshot in
///     try snapshot.zone(named: name, ofOwnerNamed: user)
/// }
/// storage.write(WriteLoad(cost: 1)) { transaction in
///     // What the read saw may have changed since: what a write relies on, it reads itself.
///     guard let zone = try transaction.zone(named: name, ofOwnerNamed: user) else { return }
///     try transaction.deleteZone(zone)
/// } completion: { result in
///     // Success: it is on disk, and every later read sees it.
/// }
/// ```
package protocol Store: AnyObject, Sendable {
    /// Runs a closure on one moment of the store. Blocks.
    ///
    /// - Parameters:
    ///   - reader: who reads, so that an engine may keep what belongs to a reader.
    ///   - stop: ends the read, as soon as it looks for it within a scan; nil for a read that goes on.
    /// - Throws: what the closure throws; `WorkStopped` when it was told to stop;
    ///   `StorageFailure.interrupted` when it took longer than a snapshot may live, `unavailable`.
    func read<Value>(
        by reader: StoreReader, until stop: StopSignal?,
        _ body: (any StoreSnapshot) throws -> Value
    ) throws -> Value

    /// Whether a short read ends at once, without another machine's answer: only then may the thread of an event
    /// loop read.
    var readsAtOnce: Bool { get }

    /// Runs a closure as one transaction, and reports once that is on disk.
    ///
    /// A closure that throws leaves nothing behind and fails alone. The completion runs on a thread of
    /// the engine's and must not block.
    ///
    /// - Parameters:
    ///   - load: what the write is to others that wait.
    ///   - completion: gets what the closure returned or threw, or any `StorageFailure` but `interrupted`.
    func write<Value: Sendable>(
        _ load: WriteLoad,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void)

    /// Has a worker woken whenever work is queued, and at once when there is some; it is stopped when the
    /// store is closed. Called by whoever opened the store; another worker takes the place of the former.
    func attach(_ worker: any StoreWorker)

    /// Tells what each commit has moved, to whoever waits.
    var notices: CommitNotices { get }

    /// How many writes this process has run since it opened the store.
    var writeCount: UInt64 { get }

    /// Makes the indexes of a record type that are missing and waits until all are whole. Blocks:
    /// never on an event loop.
    ///
    /// - Returns: nil once they are whole; else how far the building has come when the time was over.
    /// - Throws: `StorageFailure`.
    func prepareIndexes(
        _ needs: [IndexNeed], ofType type: Int64, waitMillisecondsMax: Int
    ) throws -> IndexProgress?
}

extension Store {
    /// Reads to the end, by nobody in particular.
    package func read<Value>(_ body: (any StoreSnapshot) throws -> Value) throws -> Value {
        try read(by: .anybody, until: nil, body)
    }

    /// Reads to the end.
    package func read<Value>(
        by reader: StoreReader, _ body: (any StoreSnapshot) throws -> Value
    ) throws -> Value { try read(by: reader, until: nil, body) }

    /// The schema as it stands now; a read of its own.
    ///
    /// - Throws: as `read`.
    package var schema: Schema { get throws { try read { try $0.schema } } }

    /// What tells this life of the store from others, as it stands now; a read of its own.
    ///
    /// - Throws: as `read`.
    package var identity: StoreIdentity { get throws { try read { try $0.identity } } }

    /// Runs a write that counts to nobody in particular.
    package func write<Value: Sendable>(
        cost: Int, frees: Bool,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        write(WriteLoad(cost: cost, frees: frees), body, completion: completion)
    }
}

/// Who reads, so that an engine may keep for each what reading takes.
package enum StoreReader: Hashable, Sendable {
    case anybody
    /// The thread of one event loop: it reads often, shortly, and never twice at the same time.
    case loop(Int)

    /// - Parameter number: of the event loop; nil for everybody else.
    package init(loop number: Int?) { self = number.map { .loop($0) } ?? .anybody }
}
