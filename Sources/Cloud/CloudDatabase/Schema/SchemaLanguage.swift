import CloudModel

/// The language in which a schema is written down: the words that reading and writing share.
package enum SchemaLanguage {
    /// Reads a text; the case of keywords does not matter.
    ///
    /// - Parameter bytesMax: a longer text is not looked at (`ServiceLimits.schemaBytesMax`).
    /// - Throws: `SchemaSyntaxError` for the first mistake.
    package static func parse(
        _ text: [UInt8], bytesMax: Int = ServiceLimits().schemaBytesMax
    ) throws(SchemaSyntaxError) -> Schema {
        guard text.count <= bytesMax else {
            throw SchemaSyntaxError(
                TextLocation(), expected: "at most \(bytesMax) bytes",
                found: "\(text.count)")
        }
        return try SchemaParser.parse(text)
    }

    static let elements: [(word: String, element: FieldType.Element, mayBeEncrypted: Bool)] = [
        ("ASSET", .asset, false), ("BYTES", .bytes, true), ("DOUBLE", .double, true),
        ("INT64", .int64, true), ("LOCATION", .location, true), ("NUMBER", .number, false),
        ("REFERENCE", .reference, false), ("STRING", .string, true),
        ("TIMESTAMP", .timestamp, true),
    ]

    static let indexOptions: [(word: String, option: IndexOptions)] = [
        ("QUERYABLE", .queryable), ("SEARCHABLE", .searchable), ("SORTABLE", .sortable),
    ]

    static let permissions: [(word: String, permission: Permissions)] = [
        ("READ", .read), ("CREATE", .create), ("WRITE", .write),
    ]

    /// Names that keywords have taken, in any case.
    private static let reservedWords: Set<String> = [
        "GRANT", "PREFERRED", "QUERYABLE", "SORTABLE", "SEARCHABLE",
    ]

    static func words(_ options: IndexOptions) -> [String] {
        indexOptions.filter { options.contains($0.option) }.map(\.word)
    }

    static func words(_ granted: Permissions) -> [String] {
        permissions.filter { granted.contains($0.permission) }.map(\.word)
    }

    /// A type as the language writes it: `STRING`, `LIST<ENCRYPTED BYTES>`, `NUMBER PREFERRED AS DOUBLE`.
    static func text(_ type: FieldType, preferred: FieldType.Element? = nil) -> String {
        var text = elements.first { $0.element == type.element }?.word ?? type.name
        if type.isEncrypted { text = "ENCRYPTED " + text }
        if type.element == .number, let preferred { text += " PREFERRED AS \(preferred.tag)" }
        return type.isList ? "LIST<\(text)>" : text
    }

    /// A field's type and indexes.
    static func text(_ field: Schema.Field) -> String {
        ([text(field.type, preferred: field.preferred)] + words(field.indexes))
            .joined(separator: " ")
    }

    /// A name, in quotes where it could be taken for something else.
    static func quoted(_ name: String) -> String {
        let isPlain =
            !name.hasPrefix("_") && !name.utf8.contains(UInt8(ascii: "."))
            && !reservedWords.contains(name.uppercased())
        return isPlain ? name : "\"\(name)\""
    }
}

extension SystemField {
    /// The type that the language lists for it.
    var declaredType: FieldType {
        switch self {
        case .recordID, .createdBy, .modifiedBy, .parent, .share: FieldType(.reference)
        case .createTime, .modTime: FieldType(.timestamp)
        case .etag: FieldType(.string)
        }
    }

    /// Whether every type lists it, with indexes or without.
    var isAlwaysListed: Bool { self != .parent && self != .share }
}
