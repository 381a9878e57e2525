import CloudModel
import Cryptography

/// The text of a receipt: URL-safe base64 of its id, its file's digest and its file's length.
///
/// It proves nothing by itself: the store compares it with the row of that id.
package enum ReceiptText {
    package static func encode(_ receipt: AssetReceipt) -> String {
        var bytes = receipt.id + receipt.content.digest.bytes
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: receipt.content.size >> shift))
        }
        return Base64.encode(bytes, .urlSafe)
    }

    /// Reads the text of a receipt; nil when no receipt has this text.
    package static func decode(_ text: String) -> AssetReceipt? {
        let prefix = AssetReceipt.idBytes + AssetDigest.byteCount
        guard let bytes = Base64.decode(text, .urlSafe), bytes.count == prefix + 8,
            let digest = AssetDigest(bytes[AssetReceipt.idBytes..<prefix]),
            let size = Int(exactly: bytes[prefix...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        else { return nil }
        return AssetReceipt(
            id: Array(bytes.prefix(AssetReceipt.idBytes)),
            content: AssetContent(digest: digest, size: size))
    }

    /// The checksum by which clients know the contents.
    package static func checksum(of digest: AssetDigest) -> String {
        Base64.encode(digest.checksumBytes)
    }
}
