/// What kind of value a field holds (web-services.md §5.5).
package struct FieldType: Hashable, Sendable {
    package enum Element: UInt8, Sendable, CaseIterable {
        case string, int64, double, timestamp, bytes, reference, asset, location
        /// Of an empty list whose field no schema knows yet.
        case unknown

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

    /// The tag as people read it in reasons: `STRING`, `INT64_LIST`, `ENCRYPTED_BYTES`.
    package var name: String {
        (isEncrypted ? "ENCRYPTED_" : "") + "\(element.tag)" + (isList ? "_LIST" : "")
    }
}

/// The record types and fields of one container environment.
package struct Schema: Sendable, Equatable {
    /// One kind of record.
    package struct RecordType: Sendable, Equatable {
        /// Its number in the store; 0 until it is stored.
        package var number: Int64
        package var fields: [FieldName: FieldType]

        package init(number: Int64, fields: [FieldName: FieldType]) {
            self.number = number
            self.fields = fields
        }
    }

    /// Moves with every change, so that what was checked against one version is known to be stale.
    package var version: Int
    package var types: [RecordTypeName: RecordType]

    package init(version: Int = 0, types: [RecordTypeName: RecordType] = [:]) {
        self.version = version
        self.types = types
    }
}
