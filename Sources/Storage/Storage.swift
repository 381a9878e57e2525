import CloudModel

/// One container environment's data: what every engine must be able to do.
///
/// All positions, tags and tokens speak of one counter, which advances only inside write transactions
/// and in commit order.
package protocol Storage: AnyObject, Sendable {
    /// What tells this life of the store from others.
    var identity: StoreIdentity { get }

    /// The schema as of the last commit.
    var schema: Schema { get }

    /// Runs a closure on a consistent snapshot that sees every acknowledged write. Blocks.
    ///
    /// - Parameter loop: the event loop whose thread this is, to use that loop's own reader; nil on
    ///   any other thread.
    /// - Throws: what the closure throws, and the engine's failures.
    func read<Value>(loop: Int?, _ body: (any StoreSnapshot) throws -> Value) throws -> Value

    /// As `read`, until it is told to stop, which it looks for within its scans.
    ///
    /// - Throws: also `WorkStopped`.
    func read<Value>(
        loop: Int?, stop: StopSignal?, _ body: (any StoreSnapshot) throws -> Value
    ) throws -> Value

    /// Runs a closure inside the next group's transaction and reports once it is on disk.
    ///
    /// A closure that throws leaves nothing behind and fails alone; when the engine fails, all of its
    /// group fail. It may be run again, after all that it did was undone: it changes nothing outside.
    /// The completion runs on a thread of the engine's and must not block.
    ///
    /// - Parameter load: what it counts for among those that wait; what one caller hands in is run in
    ///   that order.
    func write<Value: Sendable>(
        _ load: WriteLoad,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void)

    /// Has a worker woken whenever work is queued, and at once when there is some; it is stopped when the
    /// store is closed. Called by whoever opened the store; another worker takes the place of the former.
    func attach(_ worker: any StoreWorker)

    /// Tells what each commit has moved, to whoever waits.
    var notices: CommitNotices { get }

    /// How many writes have been run since the store was opened.
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

extension Storage {
    /// For engines whose reads are short.
    package func read<Value>(
        loop: Int?, stop: StopSignal?, _ body: (any StoreSnapshot) throws -> Value
    ) throws -> Value {
        try stop?.check()
        return try read(loop: loop, body)
    }

    /// Runs a write that counts to nobody in particular.
    package func write<Value: Sendable>(
        cost: Int, frees: Bool,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        write(WriteLoad(cost: cost, frees: frees), body, completion: completion)
    }
}

/// A failure of an engine that a client should answer by trying again.
package enum StorageFailure: Error, Sendable {
    /// The disk is full: nothing was written.
    case full
    /// A commit failed in a way that leaves its outcome unknown; the process is about to end.
    case indeterminate
    /// A read took longer than the store lets a snapshot live.
    case interrupted
    /// The store is being put in place of another; in a moment it is there.
    case beginning
    /// The store's file is not there, or another is in its place; its operator has to put it back.
    case missing
    /// No file could be opened: the process has as many open as it may.
    case tooManyFiles
    /// So much waits to be written that this was not taken.
    case busy
    /// So much of this caller's waits to be written that this was not taken.
    case callerBusy
}

extension StorageFailure: CustomStringConvertible {
    /// For people who gave a command.
    package var description: String {
        switch self {
        case .full: "the disk is full; nothing was changed"
        case .indeterminate: "it is not known whether the change was made; look, then try again"
        case .interrupted: "reading took too long; try again"
        case .beginning: "the environment is being reset; try again"
        case .missing:
            "the environment's store.sqlite is not there, or is another's; `check` names it. Put it "
                + "back, restore a backup, or delete the container"
        case .tooManyFiles:
            "the server has as many files open as the system lets it (ulimit -n); try again"
        case .busy, .callerBusy: "too many writes wait; try again"
        }
    }
}
