/// What the names of record types and fields may be, so that a mistake is met where it is made.
enum RecordTypeName {
    static func isLegal(_ name: String) -> Bool {
        name == CKRecord.SystemType.share || FieldKeyName.isLegal(name)
    }
}

enum FieldKeyName {
    private static let bytesMax = 255

    /// A letter, then letters, digits and `_`; a share's own keys begin with `cloudkit.`.
    static func isLegal(_ name: String) -> Bool {
        let rest = name.hasPrefix("cloudkit.") ? name.dropFirst("cloudkit.".count) : name[...]
        guard let first = rest.utf8.first, isLetter(first), name.utf8.count <= bytesMax else {
            return false
        }
        return rest.utf8.allSatisfy { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        default: false
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
