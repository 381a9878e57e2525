/// Text without regard to case, the same on every machine and in every language.
///
/// Each scalar on its own by Unicode's full mappings: lower, then upper, then lower case, so that `ß`
/// and `ẞ` become `ss` and every sigma `σ`. Only the dotless `ı` keeps apart from `i`, as in Unicode's
/// own folding; the dotted `İ` becomes `i` and U+0307. Nothing is composed or decomposed: `é` in one
/// scalar differs from `é` in two.
package enum CaseFolding {
    /// The folded text of valid UTF-8, as UTF-8.
    package static func fold(_ text: UnsafeRawBufferPointer) -> [UInt8] {
        guard let beyond = text.firstIndex(where: { $0 >= 0x80 }) else { return ascii(text) }
        var folded = ascii(UnsafeRawBufferPointer(rebasing: text[..<beyond]))
        folded.reserveCapacity(text.count + 16)
        let rest = String(decoding: text[beyond...], as: UTF8.self)
        for scalar in rest.unicodeScalars { append(scalar, to: &folded) }
        return folded
    }

    /// The folded text, as UTF-8.
    package static func fold(_ text: String) -> [UInt8] {
        var text = text
        return text.withUTF8 { fold(UnsafeRawBufferPointer($0)) }
    }

    private static let dotless: Unicode.Scalar = "\u{131}"

    private static func ascii(_ text: UnsafeRawBufferPointer) -> [UInt8] {
        text.map { $0 &- UInt8(ascii: "A") < 26 ? $0 | 0x20 : $0 }
    }

    private static func append(_ scalar: Unicode.Scalar, to folded: inout [UInt8]) {
        if scalar.isASCII {
            let byte = UInt8(truncatingIfNeeded: scalar.value)
            return folded.append(byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte)
        }
        // Most scalars of the world's scripts have no case.
        guard scalar != dotless, scalar.properties.isCased else {
            return folded.append(contentsOf: String(scalar).utf8)
        }
        for lower in scalar.properties.lowercaseMapping.unicodeScalars {
            for upper in lower.properties.uppercaseMapping.unicodeScalars {
                folded.append(contentsOf: upper.properties.lowercaseMapping.utf8)
            }
        }
    }
}
