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
        guard let location = try snapshot.location(of: share.record) else { return }
        let found = try snapshot.version(at: location.position, in: location.zone) { version in
            let body = try version.storedBody()
            func text(_ name: String) -> String? { body.field(name)?["value"]?.string }
            return (
                text("cloudkit.title"), text("cloudkit.type"),
                text("cloudkit.thumbnailImageData").flatMap { Base64.decode($0) }
            )
        }
        if let found { (title, type, thumbnail) = found }
    }
}
