import CloudModel
import Dispatch
import Storage

/// Where a batch is decided: in the transaction that is to write it, or beside the writer on a snapshot.
struct DecisionGround {
    let stored: any StoreSnapshot
    let schema: Schema
    let now: Milliseconds
    /// How long the decision may take; nil for as long as it needs.
    let time: DecisionTime?
    /// Nil beside the writer.
    private let transaction: (any StoreTransaction)?

    /// - Parameter time: how long others may be held up.
    init(_ transaction: any StoreTransaction, time: DecisionTime?) throws {
        stored = transaction
        schema = try transaction.schema
        now = transaction.now
        self.time = time
        self.transaction = transaction
    }

    init(_ snapshot: any StoreSnapshot, now: Milliseconds) throws {
        stored = snapshot
        schema = try snapshot.schema
        self.now = now
        time = nil
        transaction = nil
    }

    /// What an owner's records take, with what the transaction has written.
    func usedBytes(of name: UserRecordName) throws -> Int64 {
        guard let owner = try stored.owner(named: name) else { return 0 }
        return try transaction?.usedBytes(of: owner.number) ?? owner.usedBytes
    }
}

/// How long deciding may go on before its first write, while everybody else waits for the writer.
struct DecisionTime {
    private let endsAt: UInt64

    init(millisecondsMax: Int) {
        endsAt = DispatchTime.now().uptimeNanoseconds + UInt64(max(0, millisecondsMax)) * 1_000_000
    }

    /// - Throws: `DecisionTakesLong` when the time is over.
    func check() throws {
        if DispatchTime.now().uptimeNanoseconds >= endsAt { throw DecisionTakesLong() }
    }
}

/// Thrown by a decision that has taken as long as it may in the writer; nothing has been written by it.
struct DecisionTakesLong: Error {}
