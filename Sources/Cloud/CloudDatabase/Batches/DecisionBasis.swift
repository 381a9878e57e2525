import CloudModel
import Storage

/// What a batch is decided on: the transaction that will write it, or a snapshot beside the writer.
///
/// A class: all that decide hand it on.
final class DecisionBasis {
    let stored: any StoreSnapshot
    let schema: Schema
    let now: Milliseconds
    /// How long the decision may take; nil for any time.
    let time: DecisionTime?
    /// Ends the decision; nil in the writing transaction, which is never left halfway.
    let stop: StopSignal?
    /// The writing transaction; nil beside the writer.
    private let transaction: (any StoreTransaction)?

    /// - Parameter time: how long the decision may hold up others.
    init(_ transaction: any StoreTransaction, time: DecisionTime?) throws {
        stored = transaction
        schema = try transaction.schema
        now = transaction.now
        self.time = time
        stop = nil
        self.transaction = transaction
    }

    init(_ snapshot: any StoreSnapshot, now: Milliseconds, until stop: StopSignal) throws {
        stored = snapshot
        schema = try snapshot.schema
        self.now = now
        self.stop = stop
        time = nil
        transaction = nil
    }

    /// How many bytes an owner's records take, including what the transaction has written.
    func usedBytes(of name: UserRecordName) throws -> Int64 {
        try stored.owner(named: name)?.usedBytes ?? 0
    }
}
