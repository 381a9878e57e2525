/// The XML that S3 stores answer with, as an element with its text and children.
///
/// Reads what such answers consist of: elements, text, the five entities and character numbers.
/// Attributes, comments and declarations are passed over; a document type is refused, and with it every
/// entity of its own.
package struct S3Document: Sendable, Equatable {
    package struct Element: Sendable, Equatable {
        /// Without a prefix.
        package let name: String
        package fileprivate(set) var text = ""
        package fileprivate(set) var children: [Element] = []

        fileprivate init(name: String) { self.name = name }

        /// The text of the first child of a name.
        package subscript(_ name: String) -> String? {
            children.first { $0.name == name }?.text
        }

        /// The children of a name, in order.
        package func all(_ name: String) -> [Element] { children.filter { $0.name == name } }
    }

    private static let depthMax = 16

    package let root: Element

    /// Nil for anything but one well-formed element with what may stand around it.
    package init?(_ bytes: [UInt8]) {
        var reader = Reader(bytes: bytes)
        guard let root = reader.document() else { return nil }
        self.root = root
    }

    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        mutating func document() -> Element? {
            if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
            guard passOver(), let root = element(depth: 0), passOver(), position == bytes.count
            else { return nil }
            return root
        }

        /// Passes over white space, declarations and comments; false when one has no end.
        private mutating func passOver() -> Bool {
            while true {
                while position < bytes.count, Self.isBlank(bytes[position]) { position += 1 }
                if startsWith("<?") {
                    guard skip(past: "?>") else { return false }
                } else if startsWith("<!--") {
                    guard skip(past: "-->") else { return false }
                } else {
                    return true
                }
            }
        }

        private mutating func element(depth: Int) -> Element? {
            guard depth < S3Document.depthMax, take("<"), let name = name() else { return nil }
            var element = Element(name: name)
            guard let isEmpty = endOfTag() else { return nil }
            if isEmpty { return element }
            var text: [UInt8] = []
            while position < bytes.count {
                if startsWith("</") {
                    position += 2
                    guard self.name() == name else { return nil }
                    while position < bytes.count, Self.isBlank(bytes[position]) { position += 1 }
                    guard take(">") else { return nil }
                    element.text = String(decoding: text, as: UTF8.self)
                    return element
                } else if startsWith("<!--") {
                    guard skip(past: "-->") else { return nil }
                } else if startsWith("<![CDATA[") {
                    let start = position + 9
                    guard skip(past: "]]>") else { return nil }
                    guard start <= position - 3 else { return nil }
                    text += bytes[start..<position - 3]
                } else if startsWith("<") {
                    guard let child = self.element(depth: depth + 1) else { return nil }
                    element.children.append(child)
                } else if startsWith("&") {
                    guard let entity = entity() else { return nil }
                    text += entity
                } else {
                    text.append(bytes[position])
                    position += 1
                }
            }
            return nil
        }

        /// The rest of an opening tag; true when the element ends with it.
        private mutating func endOfTag() -> Bool? {
            var quote: UInt8?
            while position < bytes.count {
                let byte = bytes[position]
                position += 1
                if let open = quote {
                    if byte == open { quote = nil }
                } else if byte == 0x22 || byte == 0x27 {
                    quote = byte
                } else if byte == UInt8(ascii: ">") {
                    return bytes[position - 2] == UInt8(ascii: "/")
                } else if byte == UInt8(ascii: "<") {
                    return nil
                }
            }
            return nil
        }

        private mutating func name() -> String? {
            var start = position
            while position < bytes.count {
                switch bytes[position] {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x80...0xFF:
                    position += 1
                case 0x3A:
                    position += 1
                    start = position
                default:
                    guard position > start else { return nil }
                    return String(decoding: bytes[start..<position], as: UTF8.self)
                }
            }
            return nil
        }

        private mutating func entity() -> [UInt8]? {
            guard let end = bytes[position...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else {
                return nil
            }
            let name = String(decoding: bytes[(position + 1)..<end], as: UTF8.self)
            position = end + 1
            switch name {
            case "amp": return [UInt8(ascii: "&")]
            case "lt": return [UInt8(ascii: "<")]
            case "gt": return [UInt8(ascii: ">")]
            case "quot": return [0x22]
            case "apos": return [0x27]
            default:
                guard name.hasPrefix("#") else { return nil }
                let digits = name.dropFirst()
                let number =
                    digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
                return number.flatMap { Unicode.Scalar($0) }.map { Array(String($0).utf8) }
            }
        }

        private mutating func take(_ text: StaticString) -> Bool {
            guard startsWith(text) else { return false }
            position += text.utf8CodeUnitCount
            return true
        }

        private mutating func skip(past text: StaticString) -> Bool {
            while position < bytes.count {
                if take(text) { return true }
                position += 1
            }
            return false
        }

        private func startsWith(_ text: StaticString) -> Bool {
            text.withUTF8Buffer { bytes[position...].starts(with: $0) }
        }

        private static func isBlank(_ byte: UInt8) -> Bool {
            byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
        }
    }
}
