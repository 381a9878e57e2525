/// What kind of value a field holds (web-services.md §5.5).
package struct FieldType: Hashable, Sendable {
    package enum Element: UInt8, Sendable, CaseIterable {
        case string, int64, double, timestamp, bytes, reference, asset, location
        /// Of an empty list whose field no schema knows yet.
        case unknown
        /// Of a field from an imported schema until its first value makes it INT64 or DOUBLE.
        case number

        /// The element's tag on the wire.
        package var tag: StaticString {
            switch self {
            case .string: "STRING"
            case .int64: "INT64"
            case .double: "DOUBLE"
            case .timestamp: "TIMESTAMP"
            case .bytes: "BYTES"
            case .reference: "REFERENCE"
            case .asset: "ASSETID"
            case .location: "LOCATION"
            case .unknown: "UNKNOWN"
            case .number: "NUMBER"
            }
        }
    }

    package let element: Element
    package let isList: Bool
    package let isEncrypted: Bool

    package init(_ element: Element, isList: Bool = false, isEncrypted: Bool = false) {
        self.element = element
        self.isList = isList
        self.isEncrypted = isEncrypted
    }

    /// The type as a number, for storing; `init(stored:)` reads it.
    package var stored: Int64 {
        Int64(element.rawValue) | (isList ? 0x100 : 0) | (isEncrypted ? 0x200 : 0)
    }

    package init?(stored: Int64) {
        guard (0...0x3ff).contains(stored), let element = Element(rawValue: UInt8(stored & 0xff))
        else { return nil }
        self.init(element, isList: stored & 0x100 != 0, isEncrypted: stored & 0x200 != 0)
    }

    /// The index options that a schema may list for a field of this type, of use or not (rulings.md 46).
    package var indexOptionsDeclarable: IndexOptions {
        switch element {
        case .asset, .unknown: []
        default: isEncrypted ? [] : [.queryable, .sortable, .searchable]
        }
    }

    /// The index options by which queries find or sort a field of this type.
    package var indexOptionsOfUse: IndexOptions {
        guard !isEncrypted else { return [] }
        switch element {
        case .string:
            return isList ? [.queryable, .searchable] : [.queryable, .sortable, .searchable]
        case .int64, .double, .timestamp, .number:
            return isList ? .queryable : [.queryable, .sortable]
        case .reference, .location, .bytes: return .queryable
        case .asset, .unknown: return []
        }
    }

    /// The tag as people read it in reasons: `STRING`, `INT64_LIST`, `ENCRYPTED_BYTES`.
    package var name: String {
        (isEncrypted ? "ENCRYPTED_" : "") + "\(element.tag)" + (isList ? "_LIST" : "")
    }
}
