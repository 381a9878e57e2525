import CloudModel
import Storage

// What stands under names, with what the transaction has written.
extension SQLiteTransaction {
    func current(
        of names: [RecordName], in zone: ZoneNumber,
        _ visit: (_ index: Int, StoredVersion) throws -> Void
    ) throws { try snapshot.current(of: names, in: zone, visit) }

    func current<Value>(
        of name: RecordName, in zone: ZoneNumber, _ visit: (StoredVersion) throws -> Value
    ) throws -> Value? { try snapshot.current(of: name, in: zone, visit) }

    func name(at position: Position, in zone: ZoneNumber) throws -> RecordName? {
        try snapshot.name(at: position, in: zone)
    }

    func links(of source: RecordNumber) throws -> [Link] { try snapshot.links(of: source) }
}
