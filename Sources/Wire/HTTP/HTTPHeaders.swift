import Platform

/// The header fields of one request, in the order received.
///
/// One buffer holds the bytes of the head, with the names in lower case. Behind them it holds where
/// each field lies. Strings are made only of the values that somebody asks for.
package struct HTTPHeaders: Sendable {
    /// Where one field lies in the buffer, in bytes.
    struct Field {
        var name: UInt32
        var nameCount: UInt32
        var value: UInt32
        var valueCount: UInt32
    }

    private let buffer: [UInt8]
    private let fieldsOffset: Int
    /// How many fields there are.
    package let count: Int

    /// No field at all.
    static let none = HTTPHeaders([])

    /// - Parameter fields: names in any case; values without the white space around them.
    package init(_ fields: [(name: String, value: String)]) {
        var bytes: [UInt8] = []
        var index: [Field] = []
        for field in fields {
            let name = bytes.count
            bytes += field.name.utf8.map(Self.lowercased)
            let value = bytes.count
            bytes += field.value.utf8
            index.append(
                Field(
                    name: UInt32(name), nameCount: UInt32(value - name), value: UInt32(value),
                    valueCount: UInt32(bytes.count - value)))
        }
        self = bytes.withUnsafeBytes { head in
            index.withUnsafeBufferPointer { Self(head: head, fields: $0) }
        }
    }

    /// - Parameter head: bytes that the fields lie in; names are put in lower case on the way.
    init(head: UnsafeRawBufferPointer, fields: UnsafeBufferPointer<Field>) {
        let fieldsBytes = UnsafeRawBufferPointer(fields)
        var buffer: [UInt8] = []
        buffer.reserveCapacity(head.count + fieldsBytes.count)
        buffer.append(contentsOf: head)
        buffer.append(contentsOf: fieldsBytes)
        buffer.withUnsafeMutableBytes { bytes in
            for field in fields {
                let start = Int(field.name)
                for index in start..<start + Int(field.nameCount) {
                    bytes[index] = Self.lowercased(bytes[index])
                }
            }
        }
        self.buffer = buffer
        fieldsOffset = head.count
        count = fields.count
    }

    /// The first value under a name given in lower case.
    package subscript(_ name: String) -> String? {
        withValue(name) { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether there is more than one field under a name given in lower case.
    package func repeats(_ name: String) -> Bool {
        var seen = 0
        for index in 0..<count {
            seen += withField(index) { found, _ in found.elementsEqual(name.utf8) ? 1 : 0 }
        }
        return seen > 1
    }

    /// Whether the name of a field begins with a text given in lower case.
    package func hasName(beginning start: StaticString) -> Bool {
        let wanted = UnsafeRawBufferPointer(start: start.utf8Start, count: start.utf8CodeUnitCount)
        for index in 0..<count
        where withField(index, { name, _ in name.starts(with: wanted) }) {
            return true
        }
        return false
    }

    /// Runs the body on the bytes of the first value under a name given in lower case.
    ///
    /// Nil when there is no such field.
    package func withValue<Result>(
        _ name: String, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result? {
        buffer.withUnsafeBytes { bytes in
            var name = name
            let found = name.withUTF8 { find(UnsafeRawBufferPointer($0), in: bytes) }
            return found.map { body($0) }
        }
    }

    /// The same for a name of the program, without a result.
    package func withValue(
        of name: StaticString, _ body: (UnsafeRawBufferPointer) -> Void
    ) {
        let name = UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        buffer.withUnsafeBytes { bytes in
            if let found = find(name, in: bytes) { body(found) }
        }
    }

    private func find(
        _ name: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer
    ) -> UnsafeRawBufferPointer? {
        for index in 0..<count {
            let field = bytes.loadUnaligned(
                fromByteOffset: fieldsOffset + index * MemoryLayout<Field>.stride, as: Field.self)
            guard Int(field.nameCount) == name.count else { continue }
            let start = Int(field.name)
            let found = UnsafeRawBufferPointer(rebasing: bytes[start..<start + name.count])
            if Self.isSame(found, name) {
                let value = Int(field.value)
                return UnsafeRawBufferPointer(
                    rebasing: bytes[value..<value + Int(field.valueCount)])
            }
        }
        return nil
    }

    /// Of as many bytes each.
    private static func isSame(
        _ name: UnsafeRawBufferPointer, _ wanted: UnsafeRawBufferPointer
    ) -> Bool {
        guard let name = name.baseAddress, let start = wanted.baseAddress else { return true }
        return memcmp(name, start, wanted.count) == 0
    }

    /// Runs the body on the name, in lower case, and the value of the field at a place in the order
    /// received.
    func withField<Result>(
        _ index: Int, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Result
    ) -> Result {
        buffer.withUnsafeBytes { bytes in
            let field = bytes.loadUnaligned(
                fromByteOffset: fieldsOffset + index * MemoryLayout<Field>.stride, as: Field.self)
            let (name, value) = (Int(field.name), Int(field.value))
            return body(
                UnsafeRawBufferPointer(rebasing: bytes[name..<name + Int(field.nameCount)]),
                UnsafeRawBufferPointer(rebasing: bytes[value..<value + Int(field.valueCount)]))
        }
    }

    @inline(__always)
    static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- 65 < 26 ? byte | 0x20 : byte
    }
}

extension HTTPHeaders {
    /// Whether a request is by a page of this address, or by a program, of which nothing says so.
    ///
    /// - Parameter orByPerson: whether a person may have typed or stored the address.
    package func areOfOwnPage(orByPerson: Bool = false) -> Bool {
        if let site = self["sec-fetch-site"], site != "same-origin", !orByPerson || site != "none" {
            return false
        }
        guard let origin = self["origin"] else { return true }
        guard let host = self["host"] else { return false }
        return origin == "http://\(host)" || origin == "https://\(host)"
    }
}
