import CloudModel
import Cryptography
import Storage

/// What a share says of itself to people, as far as its owner gave it.
struct SharedFields {
    private(set) var title: String?
    /// What kind of thing is shared, in the app's words.
    private(set) var type: String?
    private(set) var thumbnail: [UInt8]?

    /// - Throws: what the snapshot reports.
    init(of share: StoredShare, _ snapshot: any StoreSnapshot) throws {
        self = try Self.all(of: [share], snapshot)[share.record] ?? SharedFields()
    }

    private init() {}

    /// What shares say, by their records; nothing of those whose records are gone.
    ///
    /// - Throws: what the snapshot reports; `DamagedVersion`.
    static func all(
        of shares: [StoredShare], _ snapshot: any StoreSnapshot
    ) throws -> [RecordNumber: SharedFields] {
        var found: [RecordNumber: SharedFields] = [:]
        let records = shares.map(\.record)
        try snapshot.current(.records(records), inOrder: false) { index, version in
            guard !version.isDamaged else {
                throw DamagedVersion(zone: shares[index].zone, position: version.position)
            }
            found[records[index]] = try SharedFields(version.storedBody())
            return true
        }
        return found
    }

    private init(_ body: StoredBody) {
        func text(_ name: String) -> String? { body.field(name)?["value"]?.string }
        title = text("cloudkit.title")
        type = text("cloudkit.type")
        thumbnail = text("cloudkit.thumbnailImageData").flatMap { Base64.decode($0) }
    }
}
