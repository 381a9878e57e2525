@testable import JSON

/// The text of a value as the writer puts it, from decoded values wherever it can say them.
func rewritten(_ value: JSONValue) -> [UInt8] {
    var writer = JSONWriter()
    write(value, to: &writer)
    return writer.bytes
}

private func write(_ value: JSONValue, to writer: inout JSONWriter) {
    switch value.kind {
    case .object:
        var separator = UInt8(ascii: "{")
        for (key, value) in value.members {
            writer.byte(separator)
            key.withStringBytes { writer.string(utf8: $0) }
            writer.byte(UInt8(ascii: ":"))
            write(value, to: &writer)
            separator = UInt8(ascii: ",")
        }
        writer.raw(value.count == 0 ? "{}" : "}")
    case .array:
        var separator = UInt8(ascii: "[")
        for element in value.elements {
            writer.byte(separator)
            write(element, to: &writer)
            separator = UInt8(ascii: ",")
        }
        writer.raw(value.count == 0 ? "[]" : "]")
    case .string: writer.string(value.string ?? "")
    case .number:
        if let integer = value.int64 {
            writer.integer(integer)
        } else if let double = value.double, !value.isInteger {
            writer.double(double)
        } else {
            value.withRawBytes { writer.raw($0) }
        }
    case .true: writer.raw("true")
    case .false: writer.raw("false")
    case .null: writer.raw("null")
    }
}

/// Whether two values say the same; members in the same order.
func isSame(_ one: JSONValue, _ other: JSONValue) -> Bool {
    guard one.kind == other.kind, one.count == other.count else { return false }
    switch one.kind {
    case .object:
        return zip(one.members, other.members).allSatisfy {
            isSame($0.key, $1.key) && isSame($0.value, $1.value)
        }
    case .array: return zip(one.elements, other.elements).allSatisfy(isSame)
    case .string: return one.withStringBytes { Array($0) } == other.withStringBytes { Array($0) }
    case .number: return one.int64 == other.int64 && one.double == other.double
    case .true, .false, .null: return true
    }
}
