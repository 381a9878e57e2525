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
        self.init(hexadecimal: Array(text.utf8))
    }

    /// Reads 64 lower-case hexadecimal digits, the only spelling.
    package init?(hexadecimal digits: [UInt8]) {
        guard digits.count == 2 * Self.byteCount else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        for index in 0..<Self.byteCount {
            guard let high = Self.value(of: digits[2 * index]),
                let low = Self.value(of: digits[2 * index + 1])
            else { return nil }
            bytes.append(high << 4 | low)
        }
        self.bytes = bytes
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
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
