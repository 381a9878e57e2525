import CloudModel
import Storage

/// A record's place in a store.
struct RecordKey: Hashable {
    let zone: ZoneNumber
    let name: RecordName
}

/// What stands under a name before a batch, read once.
struct FormerRecord {
    var head: StoredHead?
    var flags: VersionFlags = []
    var type: Int64 = 0
    /// Empty when there is no living record.
    var body: [UInt8] = []

    var isAlive: Bool { !body.isEmpty }

    /// The tag that clients know the living record by.
    var changeTag: String { head.map { ChangeTag.text($0.position) } ?? "" }

    init(_ key: RecordKey, in snapshot: any StoreSnapshot) throws {
        guard let head = try snapshot.head(of: key.name, in: key.zone) else { return }
        self.head = head
        try snapshot.version(at: head.position, in: key.zone) { version in
            flags = version.flags
            type = version.type
            if !version.flags.contains(.tombstone) { body = [UInt8](version.body) }
        }
    }

    /// What the record is once it has been deleted at a position.
    static func deleted(_ record: RecordNumber, at position: Position) -> FormerRecord {
        var former = FormerRecord()
        former.head = StoredHead(record: record, position: position)
        former.flags = .tombstone
        return former
    }

    private init() {}

    func kept() throws -> RecordBody.Kept { try body.withUnsafeBytes { try RecordBody.read($0) } }
}
