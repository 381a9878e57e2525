import Cryptography

/// A picture that somebody gave with what they share.
///
/// What it is, its bytes say, not whoever gave it; only pictures that browsers show without running anything are
/// shown.
struct Thumbnail {
    private static let kinds: [(type: String, isOne: @Sendable ([UInt8]) -> Bool)] = [
        ("image/png", { $0.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) }),
        ("image/jpeg", { $0.starts(with: [0xff, 0xd8, 0xff]) }),
        (
            "image/webp",
            {
                $0.count >= 12 && $0.starts(with: "RIFF".utf8)
                    && $0[8..<12].elementsEqual("WEBP".utf8)
            }
        ),
    ]

    /// As an address that holds the picture itself: nobody else is asked for it.
    let address: String

    /// Nil for bytes that are no such picture.
    init?(_ bytes: [UInt8]) {
        guard let kind = Self.kinds.first(where: { $0.isOne(bytes) }) else { return nil }
        address = "data:\(kind.type);base64,\(Base64.encode(bytes))"
    }
}
