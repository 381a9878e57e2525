import CloudModel
import Storage

// What stands under names, with what the transaction has written.
extension SQLiteTransaction {
    func current(
        of names: [RecordName], in zone: ZoneNumber,
        _ visit: (_ index: Int, StoredVersion) throws -> Void
    ) throws {
        var isFree = [Bool](repeating: true, count: names.count)
        try snapshot.current(of: names, in: zone) {
            isFree[$0] = false
            try visit($0, $1)
        }
        noteFree(names.indices.lazy.filter { isFree[$0] }.map { names[$0] }, in: zone)
    }

    func current<Value>(
        of name: RecordName, in zone: ZoneNumber, _ visit: (StoredVersion) throws -> Value
    ) throws -> Value? {
        let found = try snapshot.current(of: name, in: zone, visit)
        if found == nil { noteFree(CollectionOfOne(name), in: zone) }
        return found
    }

    func name(at position: Position, in zone: ZoneNumber) throws -> RecordName? {
        try snapshot.name(at: position, in: zone)
    }

    func links(of source: RecordNumber) throws -> [Link] { try snapshot.links(of: source) }
}
