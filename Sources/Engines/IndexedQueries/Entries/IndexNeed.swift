/// What an index over a field finds.
package enum IndexKind: Int64, Sendable, CaseIterable {
    /// Values as they are compared and sorted.
    case values = 1
    /// Text without regard to case, for equality.
    case folded = 2
    /// Words in text.
    case words = 3
    /// Places on the globe.
    case locations = 4
}

/// One index over a field of a record type.
package struct IndexNeed: Hashable, Sendable {
    /// The field's name, or the system field's in the schema language.
    package let field: String
    package let kind: IndexKind

    package init(_ field: String, _ kind: IndexKind) {
        self.field = field
        self.kind = kind
    }
}
