import Testing

/// Reads a message of protocol buffers, for tests of what writes them.
struct ProtocolMessage {
    private enum Value {
        case number(UInt64), double(Double), bytes([UInt8])
    }

    private struct Cut: Error {}

    private var fields: [(number: UInt64, value: Value)] = []

    init(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let key = try Self.varint(&rest)
            switch key & 7 {
            case 0: fields.append((key >> 3, .number(try Self.varint(&rest))))
            case 1:
                var bits: UInt64 = 0
                for byte in try Self.take(8, &rest).reversed() { bits = bits << 8 | UInt64(byte) }
                fields.append((key >> 3, .double(Double(bitPattern: bits))))
            case 2:
                let count = try Self.varint(&rest)
                fields.append((key >> 3, .bytes(try Self.take(Int(count), &rest))))
            default: throw Cut()
            }
        }
    }

    /// Messages that follow each other, each behind its length.
    static func list(_ bytes: [UInt8]) throws -> [ProtocolMessage] {
        var rest = bytes[...]
        var found: [ProtocolMessage] = []
        while !rest.isEmpty {
            let count = try varint(&rest)
            found.append(try ProtocolMessage(try take(Int(count), &rest)))
        }
        return found
    }

    func text(_ field: UInt64) -> String? {
        bytes(field).first.map { String(decoding: $0, as: UTF8.self) }
    }

    func number(_ field: UInt64) -> UInt64? {
        for case (field, .number(let value)) in fields { return value }
        return nil
    }

    func signed(_ field: UInt64) -> Int64? { number(field).map(Self.signed) }

    func double(_ field: UInt64) -> Double? {
        for case (field, .double(let value)) in fields { return value }
        return nil
    }

    func messages(_ field: UInt64) throws -> [ProtocolMessage] {
        try bytes(field).map { try ProtocolMessage($0) }
    }

    /// The numbers with signs of a list that stands without keys.
    func numbers(_ field: UInt64) throws -> [Int64] {
        var found: [Int64] = []
        for bytes in bytes(field) {
            var rest = bytes[...]
            while !rest.isEmpty { found.append(Self.signed(try Self.varint(&rest))) }
        }
        return found
    }

    private func bytes(_ field: UInt64) -> [[UInt8]] {
        fields.compactMap { number, value in
            guard number == field, case .bytes(let bytes) = value else { return nil }
            return bytes
        }
    }

    private static func signed(_ value: UInt64) -> Int64 {
        Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    private static func varint(_ rest: inout ArraySlice<UInt8>) throws -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = rest.popFirst() else { throw Cut() }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
        }
        throw Cut()
    }

    private static func take(_ count: Int, _ rest: inout ArraySlice<UInt8>) throws -> [UInt8] {
        guard count <= rest.count else { throw Cut() }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }
}
