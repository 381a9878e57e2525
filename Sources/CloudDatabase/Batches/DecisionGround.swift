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
    private let used: (UserRecordName) throws -> Int64

    /// - Parameter time: how long others may be held up.
    init(_ transaction: any StoreTransaction, time: DecisionTime?) throws {
        stored = transaction
        schema = try transaction.schema
        now = transaction.now
        self.time = time
        used = { owner in
            try transaction.owner(named: owner).map { try transaction.usedBytes(of: $0.number) }
                ?? 0
        }
    }

    init(_ snapshot: any StoreSnapshot, now: Milliseconds) throws {
        stored = snapshot
        schema = try snapshot.schema
        self.now = now
        time = nil
        used = { try snapshot.owner(named: $0)?.usedBytes ?? 0 }
    }

    /// What an owner's records take.
    func usedBytes(of owner: UserRecordName) throws -> Int64 { try used(owner) }
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
