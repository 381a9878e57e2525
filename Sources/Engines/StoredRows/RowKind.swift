import Storage

/// One kind of the rows that engines hand over to each other: its name, and its fields, of which the first are its key.
///
/// Integers and texts sort alike in every engine, texts by their bytes.
package struct RowKind: Sendable {
    package enum Form: Sendable { case integer, text, bytes }

    package struct Field: Sendable {
        package let name: String
        package let form: Form
    }

    package let name: String
    package let fields: [Field]
    package let keyCount: Int

    /// - Parameters:
    ///   - key: the names of the fields that tell a row from others of its kind, with a space between two. A text's name
    ///     ends with `:t`, that of bytes with `:b`.
    ///   - others: the further fields, in the same form.
    package init(_ name: String, key: String, _ others: String) {
        self.name = name
        let key = Self.fields(key)
        fields = key + Self.fields(others)
        keyCount = key.count
    }

    private static func fields(_ text: String) -> [Field] {
        text.split(separator: " ").map { word in
            switch word.suffix(2) {
            case ":t": Field(name: String(word.dropLast(2)), form: .text)
            case ":b": Field(name: String(word.dropLast(2)), form: .bytes)
            default: Field(name: String(word), form: .integer)
            }
        }
    }
}

extension CopiedRows {
    /// Rows that an engine reads kind by kind.
    ///
    /// - Parameter page: some rows of a kind behind a key, nil for the first; none at the end of the kind.
    package init(
        of kinds: [RowKind], estimate: Int64,
        page: @escaping (_ kind: Int, _ key: [CopiedValue]?) throws -> [CopiedRow]
    ) {
        self.init(kinds: kinds.map(\.name), estimate: estimate) { last in
            var kind = last?.kind ?? 0
            var key = last.map { Array($0.values.prefix(kinds[$0.kind].keyCount)) }
            while kind < kinds.count {
                let rows = try page(kind, key)
                if !rows.isEmpty { return rows }
                kind += 1
                key = nil
            }
            return []
        }
    }
}
