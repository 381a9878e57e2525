import CloudModel

/// An object of a request or an answer: its keys with their types and limits, declared beside what reads or writes it.
///
/// `/openapi.json` is made of these and of nothing else. A test asks every endpoint with every key of its shape, and
/// fails where a decoder looks for a key that is not in it, or never looks for one that is.
package struct ObjectShape: Sendable {
    /// Names it in the description.
    package let name: String
    package let keys: [ObjectKey]
    /// Of each of these keys at least one is there; empty where nothing of the kind holds.
    package let oneOf: [String]

    package init(_ name: String, oneOf: [String] = [], _ keys: [ObjectKey]) {
        self.name = name
        self.oneOf = oneOf
        self.keys = keys
    }
}

/// A key of an object.
package struct ObjectKey: Sendable {
    package enum Kind: Sendable {
        case required
        case optional
        /// What the original does not have.
        case beyond
        /// Another spelling of a key, which clients use.
        case alias
    }

    package let name: String
    package let kind: Kind
    package let value: ValueShape

    package init(name: String, kind: Kind, value: ValueShape) {
        self.name = name
        self.kind = kind
        self.value = value
    }

    package static func required(_ name: String, _ value: ValueShape) -> ObjectKey {
        ObjectKey(name: name, kind: .required, value: value)
    }

    package static func optional(_ name: String, _ value: ValueShape) -> ObjectKey {
        ObjectKey(name: name, kind: .optional, value: value)
    }

    package static func beyond(_ name: String, _ value: ValueShape) -> ObjectKey {
        ObjectKey(name: name, kind: .beyond, value: value)
    }

    package static func alias(_ name: String, _ value: ValueShape) -> ObjectKey {
        ObjectKey(name: name, kind: .alias, value: value)
    }
}

/// What a value may be.
package indirect enum ValueShape: Sendable {
    /// A limit that a setting or `ServiceLimits` says.
    package typealias Limit = KeyPath<ServiceLimits, Int> & Sendable

    /// - Parameter examples: texts such as it may be.
    case text(examples: [String] = [], bytesMax: Int? = nil)
    /// Bytes in padded base64.
    case base64(examples: [String] = [])
    case flag
    case integer(least: Int64? = nil, most: Limit? = nil, example: Int64? = nil)
    case number(ClosedRange<Double>? = nil, example: Double? = nil)
    case words([String], examples: [String] = [])
    case object(ObjectShape)
    case list(ValueShape, most: Limit? = nil)
    /// An object with names of the client's own.
    case map(ValueShape)
    case anyOf([ValueShape])

    package static var text: ValueShape { .text() }
    package static var integer: ValueShape { .integer() }
    package static var number: ValueShape { .number() }

    /// All words of a closed list.
    package static func words<Word: RawRepresentable & CaseIterable>(
        _ type: Word.Type, examples: [Word] = []
    ) -> ValueShape where Word.RawValue == String {
        .words(Word.allCases.map(\.rawValue), examples: examples.map(\.rawValue))
    }
}
