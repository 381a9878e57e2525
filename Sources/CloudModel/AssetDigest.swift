/// Names an asset's file by its contents: their SHA-256.
package struct AssetDigest: Hashable, Sendable {
    package static let byteCount = 32

    package let bytes: [UInt8]

    /// Nil for anything but 32 bytes.
    package init?(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Reads 64 lower-case hexadecimal digits, the only spelling.
    package init?(hexadecimal text: some StringProtocol) {
        var bytes: [UInt8] = []
        var high: UInt8?
        for letter in text.utf8 {
            let digit: UInt8
            switch letter {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = letter - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = letter - UInt8(ascii: "a") + 10
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        guard high == nil else { return nil }
        self.init(bytes)
    }

    /// 64 lower-case hexadecimal digits.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(2 * Self.byteCount)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// What clients know the contents by: a version byte and the first 20 bytes (web-services.md §5.6).
    package var checksumBytes: [UInt8] { [1] + bytes.prefix(20) }
}

extension AssetDigest: Comparable {
    package static func < (left: AssetDigest, right: AssetDigest) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// The contents of an asset: what they are, and how long.
package struct AssetContent: Hashable, Sendable {
    package let digest: AssetDigest
    /// In bytes.
    package let size: Int

    package init(digest: AssetDigest, size: Int) {
        self.digest = digest
        self.size = size
    }
}
