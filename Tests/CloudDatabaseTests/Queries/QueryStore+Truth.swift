import CloudModel
import Foundation
import SQLite
import Storage

@testable import CloudDatabase
@testable import IndexedQueries

extension QueryStore {
    /// The names that a query must find, judged record by record, in the order of its sorts.
    func everything(
        _ query: RecordQuery, in zone: ZoneID?
    ) throws -> (matching: [String], count: Int) {
        try store.read { snapshot in
            guard let owner = try database.owner(snapshot) else { return ([], 0) }
            let zones = try snapshot.zones(of: owner.number).filter {
                zone == nil || $0.name == zone?.name
            }
            let order = QueryOrder(sorts: query.sorts)
            let search = SearchWords(limits)
            var found: [(sortedRecord: SortedRecord, name: String)] = []
            var count = 0
            for zone in zones {
                let tests = try query.filters.map {
                    FilterTest($0, in: zone.name, words: try search.words(of: $0))
                }
                try snapshot.versions(
                    in: zone.number, after: 0, through: .max, newestFirst: false
                ) {
                    guard !$0.flags.contains(.tombstone) else { return true }
                    count += 1
                    let fields = try $0.storedFields()
                    guard tests.allSatisfy({ $0.holds(for: fields) }),
                        case .one(.text(let name)) = fields.content(of: "___recordID")
                    else { return true }
                    found.append(
                        (
                            SortedRecord(keys: order.keys(of: fields), record: $0.record),
                            String(decoding: name, as: UTF8.self)
                        ))
                    return true
                }
            }
            found.sort { order.precedes($0.sortedRecord, $1.sortedRecord) }
            return (found.map(\.name), count)
        }
    }

    /// Changes the file behind the store's back.
    func damage(_ sql: String) throws {
        let connection = try Connection(path: path, mode: .readWrite)
        try connection.execute(sql)
    }
}
