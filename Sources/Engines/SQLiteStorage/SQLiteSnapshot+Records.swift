import CloudModel
import SQLite
import Storage

// What stands under names.
extension SQLiteSnapshot {
    func current(
        of names: [RecordName], in zone: ZoneNumber,
        _ visit: (_ index: Int, StoredVersion) throws -> Void
    ) throws {
        for index in try self.names.order(of: names, in: zone) {
            _ = try current(of: names[index], in: zone) { try visit(index, $0) }
        }
    }

    func current<Value>(
        of name: RecordName, in zone: ZoneNumber, _ visit: (StoredVersion) throws -> Value
    ) throws -> Value? {
        try names.current(of: name, in: zone) {
            try visit(Self.version($0, position: $0.int64(4)))
        }
    }

    func links(of source: RecordNumber) throws -> [Link] {
        let statement = statements.linksOfSource
        defer { statement.reset() }
        statement.bind(source.value, at: 1)
        var found: [Link] = []
        while try statement.step() {
            guard let target = RecordName(statement.string(1)),
                let kind = LinkKind(rawValue: statement.int64(2))
            else { throw InvalidRow(table: "links") }
            found.append(
                Link(targetZone: ZoneNumber(statement.int64(0)), target: target, kind: kind))
        }
        return found
    }

    func lastPosition() throws -> Position {
        let statement = statements.lastPosition
        defer { statement.reset() }
        guard try statement.step() else { throw InvalidRow(table: "progress") }
        return statement.int64(0)
    }
}
