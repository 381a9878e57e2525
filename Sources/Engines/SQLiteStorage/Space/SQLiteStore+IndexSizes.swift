import CloudModel
import IndexedQueries
import SQLite
import Storage
import StoredRows

extension SQLiteStore {
    /// How far each index has come, and how many entries it has.
    func indexSizes() throws -> [IndexSize] {
        try read { snapshot in
            guard let snapshot = snapshot as? SQLiteSnapshot else {
                throw InvalidRow(table: "indexes")
            }
            let names = Dictionary(
                try snapshot.schema.types.map { ($0.value.number, $0.key.text) },
                uniquingKeysWith: { $1 })
            let last = try snapshot.storedIndexes.lastRecord().value
            return try snapshot.storedIndexes.indexes().compactMap { index in
                try names[index.type].map { type in
                    index.size(
                        ofType: type, lastRecord: last,
                        entries: try Self.entries(of: index, snapshot.connection))
                }
            }
        }
    }

    private static func entries(
        of index: StoredIndex, _ connection: Connection
    ) throws -> Int64? {
        guard index.countsEntries else { return nil }
        var sum: Int64 = 0
        // Records without a value stand under the negative number.
        for number in [index.number, -index.number] {
            for (table, sign) in [
                ("index_values", 1), ("new_index_values", 1), ("gone_index_values", -1),
            ] as [(String, Int64)] {
                let row = try connection.prepare(
                    "SELECT count(*) FROM (SELECT 1 FROM \(table) WHERE field = ?1 LIMIT ?2)")
                defer { row.reset() }
                row.bind(number, at: 1)
                row.bind(IndexSize.entriesMax, at: 2)
                if try row.step() { sum += sign * row.int64(0) }
            }
        }
        return min(max(0, sum), IndexSize.entriesMax)
    }
}
