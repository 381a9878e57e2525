import CloudModel

/// The data of one container environment: what every engine promises, wherever it keeps the data.
///
/// What can be read and written is in contracts of their own: `ZoneReading`, `RecordReading`,
/// `SchemaReading`, `ShareReading`, `QueryReading`, `AssetReading`, `ClientTokenReading`, the `…Writing` of
/// each, and `WorkQueue`. `StorageConformance` tests an engine against all of them.
///
/// # What an engine promises
///
/// - **Isolation.** A read sees one moment of the store, from its first look to its last. A write sees the
///   moment at which it commits, together with what it has written itself. So writes are as if each had run
///   alone, one after the other. Nobody sees what has not committed.
/// - **Visibility.** What was acknowledged is on disk. Every read that begins later sees it, in any process.
///   A write that failed leaves nothing behind, except after `StorageFailure.indeterminate`.
/// - **Order.** Writes commit in the order of the positions that they took: a read that sees position *n*
///   sees everything below it. The writes of one caller run in the order in which they were handed in.
/// - **All or nothing.** All that one write does happens, or nothing of it, queued work included.
/// - **Failures.** `StorageFailure` lists the failures that an engine may meet, and says who tries again. Any
///   other error is a fault of the engine, and means that nobody can trust the data.
///
/// # What the caller sees to
///
/// The engine may run a write's closure more than once, each time after it has undone all that the closure
/// did. So the closure must change nothing outside of the transaction. Do not use a snapshot or transaction
/// after its closure has returned, nor on another thread. Do not nest reads: within a read, take everything
/// from its one snapshot.
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
    /// Runs a closure on one moment of the store.
    ///
    /// Blocks.
    ///
    /// - Parameter load: who reads, until when, and of what kind the read is.
    /// - Throws: what the closure throws; `WorkStopped` when the load's `stop` ended it; `StorageFailure.interrupted`
    ///   when it took longer than a snapshot may live, `unavailable`.
    func read<Value>(
        _ load: ReadLoad, _ body: (any StoreSnapshot) throws -> Value
    ) throws -> Value

    /// Runs a short closure on one moment of the store, and reports; an engine behind a network has many such reads see
    /// one moment together, and does not block.
    ///
    /// Where `readsAtOnce`, the closure and the completion run before this returns; else on a thread of the engine, which
    /// they must not block.
    ///
    /// - Parameters:
    ///   - needs: what the closure will ask for, and little else.
    ///   - caller: whose turn it takes.
    ///   - completion: gets what the closure returned or threw, or a `StorageFailure`.
    func readTogether<Value: Sendable>(
        _ needs: @autoclosure () -> StoreNeeds, by caller: StoreCaller,
        _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void)

    /// Whether a short read returns at once, without an answer from another machine.
    ///
    /// Only then may the thread of an event loop read.
    var readsAtOnce: Bool { get }

    /// Runs a closure as one transaction, and reports once it is on disk.
    ///
    /// A closure that throws leaves nothing behind, and no other write fails with it. The completion runs on
    /// a thread of the engine and must not block.
    ///
    /// - Parameters:
    ///   - load: what the write costs the others that wait.
    ///   - completion: gets what the closure returned or threw, or any `StorageFailure` but `interrupted`.
    func write<Value: Sendable>(
        _ load: WriteLoad,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void)

    /// Tells everyone who waits what each commit has changed.
    var notices: CommitNotices { get }

    /// Asks for what the engine must do before it can answer a query; queued work does it.
    ///
    /// Blocks until the request is on disk: never call it on an event loop. Anyone who waits for `.indexes` among the
    /// notices hears of the end.
    ///
    /// - Returns: nil once the query can be answered; else how far the engine has come, in percent.
    /// - Throws: `StorageFailure`.
    func prepare(_ query: StoreQuery) throws -> Int?

    /// Takes a duty for this process, or tells that it still has it; nil while another process has it.
    ///
    /// In an engine that one process has to itself every duty is its own (`StoreLease.sole`). Blocks where processes share a store,
    /// mostly not.
    ///
    /// - Throws: `StorageFailure`.
    func hold(_ duty: StoreDuty) throws -> StoreLease?

    /// Does what the engine has left for itself whose steps are transactions of their own (`Maintenance.isBeside`), so
    /// that they hold nobody up for long.
    ///
    /// It goes through all that waits, once. Blocks: never call it on an event loop.
    ///
    /// - Parameter goesOn: asked before each step; false ends the work early.
    /// - Returns: whether there may be more.
    /// - Throws: `StorageFailure`.
    func maintain(while goesOn: () -> Bool) throws -> Bool
}

extension Store {
    /// Reads to the end, as no particular reader.
    package func read<Value>(_ body: (any StoreSnapshot) throws -> Value) throws -> Value {
        try read(ReadLoad(), body)
    }

    /// Reads to the end.
    package func read<Value>(
        by reader: StoreReader, _ body: (any StoreSnapshot) throws -> Value
    ) throws -> Value { try read(ReadLoad(by: reader), body) }

    /// The schema as it stands now; a read of its own.
    ///
    /// - Throws: as `read`.
    package var schema: Schema { get throws { try read { try $0.schema } } }

    /// The identity of this life of the store, as it is now; a read of its own.
    ///
    /// - Throws: as `read`.
    package var identity: StoreIdentity { get throws { try read { try $0.identity } } }

    /// Runs a write that counts towards no particular caller.
    package func write<Value: Sendable>(
        cost: Int, frees: Bool,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        write(WriteLoad(cost: cost, frees: frees), body, completion: completion)
    }
}
