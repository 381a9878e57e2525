import CloudModel
import Cryptography

/// The picture of a share, as its owner gave it.
struct Thumbnail {
    /// As an address that holds the picture itself: nobody else is asked for it.
    let address: String

    /// Nil for bytes that are no picture which browsers show without running anything.
    init?(_ bytes: [UInt8]) {
        guard let kind = PictureKind(of: bytes) else { return nil }
        address = "data:\(kind.rawValue);base64,\(Base64.encode(bytes))"
    }
}
