import CloudModel
import Storage

/// A record's place in a store.
struct RecordKey: Hashable {
    let zone: ZoneNumber
    let name: RecordName
}

/// What is stored under a name before a batch, read once.
struct CurrentRecord {
    var head: StoredHead?
    var flags = VersionFlags()
    var type: Int64 = 0
    /// 0 when there is no living record; what a damaged one says of itself.
    var bodyBytes = 0
    /// Whether the stored version is not what was written; then it has no body, and its type is 0.
    private(set) var isDamaged = false
    /// Nil while nobody has needed the body: bodies may be large.
    var body: [UInt8]?
    /// Where in the body the object of its fields is; nil where nobody knows.
    private(set) var fields: Range<Int>?

    /// A damaged record counts as living, so that it can be deleted.
    var isAlive: Bool { bodyBytes > 0 || isDamaged }

    /// The tag that clients know the living record by.
    var changeTag: String { head.map { ChangeTag.text($0.position) } ?? "" }

    init(_ key: RecordKey, withBody: Bool, in snapshot: any StoreSnapshot) throws {
        let read = try snapshot.current(of: key.name, in: key.zone) {
            CurrentRecord($0, withBody: withBody)
        }
        if let read { self = read }
    }

    init(_ version: StoredVersion, withBody: Bool) {
        head = StoredHead(record: version.record, position: version.position)
        flags = version.flags
        type = version.type
        guard !version.flags.contains(.tombstone) else { return }
        bodyBytes = version.bytesCounted
        isDamaged = version.isDamaged
        guard withBody, !isDamaged else { return }
        body = [UInt8](version.body)
        fields = version.ranges?.fields
    }

    /// The value for a name under which nothing is stored.
    static var missing: CurrentRecord { CurrentRecord() }

    /// What the record is once it has been deleted at a position.
    static func deleted(_ record: RecordNumber, at position: Position) -> CurrentRecord {
        var previous = CurrentRecord()
        previous.head = StoredHead(record: record, position: position)
        previous.flags = .tombstone
        return previous
    }

    /// What the record is once it has been saved.
    static func saved(
        _ head: StoredHead, bodyBytes: Int, type: Int64, flags: VersionFlags
    ) -> CurrentRecord {
        var previous = CurrentRecord()
        previous.head = head
        previous.bodyBytes = bodyBytes
        previous.type = type
        previous.flags = flags
        return previous
    }

    private init() {}
}
