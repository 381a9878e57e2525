import CloudModel
import IndexedQueries
import Storage

@testable import SQLiteStorage

// What the contract does not show, for tests of the engine's own parts.
extension StoreSnapshot {
    var indexReader: SQLiteIndexReader {
        guard let snapshot = self as? SQLiteSnapshot else {
            preconditionFailure("the snapshot is this engine's")
        }
        return snapshot.storedIndexes
    }
}

extension StoreTransaction {
    private var inside: SQLiteTransaction {
        guard let transaction = self as? SQLiteTransaction else {
            preconditionFailure("the transaction is this engine's")
        }
        return transaction
    }

    func makeIndexes(_ needs: [IndexNeed], ofType type: Int64) throws {
        try inside.makeIndexes(needs, ofType: type)
    }

    func dropIndexes(ofType type: Int64, fields: Set<String>?) throws {
        try inside.dropIndexes(ofType: type, fields: fields)
    }
}

extension StoreTransaction {
    /// Work of one kind that the engine has left for itself and that is due.
    func take(_ maintenance: Maintenance) throws -> StoredWork? {
        let number = try SQLiteSnapshot.workNumbers.number(of: .maintenance(maintenance))
        return try inside.take(number, afterSubject: .min, WorkHolder(1))?.1
    }
}
