import CloudModel
import Storage

// What stands under names, with what the transaction has written.
extension SQLiteTransaction {
    func current(
        of names: [RecordName], in zone: ZoneNumber, inOrder: Bool,
        _ visit: (_ index: Int, StoredVersion) throws -> Bool
    ) throws {
        var isFree = [Bool](repeating: true, count: names.count)
        var isWhole = true
        try snapshot.current(of: names, in: zone, inOrder: inOrder) {
            isFree[$0] = false
            isWhole = try visit($0, $1)
            return isWhole
        }
        // Where the visits were ended, nobody knows of the rest.
        guard isWhole || names.count == 1 else { return }
        noteFree(names.indices.lazy.filter { isFree[$0] }.map { names[$0] }, in: zone)
    }

    func name(at position: Position, in zone: ZoneNumber) throws -> RecordName? {
        try snapshot.name(at: position, in: zone)
    }

    func links(of source: RecordNumber) throws -> [Link] { try snapshot.links(of: source) }
}
