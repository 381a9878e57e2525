import CloudModel

// What a public save may bring for indexes: everybody would wait for what is left for later there.
extension EncodedFields {
    /// How many bytes the sent values have of which indexes take more than one entry: texts whose words can be
    /// searched, and lists that can be queried.
    ///
    /// - Parameter type: as the schema has it; nil for one that the save makes.
    func indexedBytes(in type: Schema.RecordType?) -> Int {
        fields.reduce(0) { $0 + $1.indexedBytes(in: type) }
    }

    /// The field with the most of them.
    fileprivate func largestIndexed(in type: Schema.RecordType?) -> FieldName? {
        fields.max { $0.indexedBytes(in: type) < $1.indexedBytes(in: type) }?.name
    }

    /// Refuses what indexes would take too long over.
    ///
    /// - Throws: `Fault` BAD_REQUEST, with the field that has the most of it.
    func checkIndexedBytes(in type: Schema.RecordType?, _ limits: ServiceLimits) throws(Fault) {
        let most = limits.publicIndexedBytesMax
        let bytes = indexedBytes(in: type)
        guard bytes > most, let field = largestIndexed(in: type) else { return }
        throw .limitExceeded(
            "field '\(field.text)': the record's searchable texts and its lists take \(bytes) bytes; "
                + "a public record may have \(most). Take SEARCHABLE or "
                + "QUERYABLE off the field in the schema, or send the text as an asset")
    }
}

extension EncodedFields.Field {
    fileprivate func indexedBytes(in recordType: Schema.RecordType?) -> Int {
        guard let type else { return 0 }
        let declared = recordType?.fields[name]?.indexes ?? type.indexOptionsOfUse
        let options = declared.intersection(type.indexOptionsOfUse)
        if type.isList { return options.isEmpty ? 0 : range.count }
        return type.element == .string && options.contains(.searchable) ? range.count : 0
    }
}

/// The parts in which the saves of a public request are carried out, so that none holds the writer long.
struct PublicParts {
    private let operations: [DecodedOperation]
    private let limits: ServiceLimits

    init(_ operations: [DecodedOperation], _ limits: ServiceLimits) {
        (self.operations, self.limits) = (operations, limits)
    }

    /// Whether there may be more than one part, whatever the schema says.
    var mayBeSeveral: Bool {
        operations.reduce(0) { $0 + ($1.save?.fields.bytes.count ?? 0) }
            > limits.publicIndexedBytesMax
    }

    /// - Throws: `Fault` BAD_REQUEST for what would be several parts and cannot be taken apart.
    func parts(_ schema: Schema) throws(Fault) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var (first, bytes) = (0, 0)
        for (index, operation) in operations.enumerated() {
            let more = operation.save.map {
                $0.fields.indexedBytes(in: $0.type.flatMap { schema.types[$0] })
            }
            // One that is too large by itself is refused by itself.
            if bytes > 0, bytes + (more ?? 0) > limits.publicIndexedBytesMax {
                parts.append(first..<index)
                (first, bytes) = (index, 0)
            }
            bytes += more ?? 0
        }
        parts.append(first..<operations.count)
        guard parts.count > 1, !standsAlone else { return parts }
        throw .limitExceeded(
            "operations: the searchable texts and the lists of a public request that also deletes, or "
                + "in which a record refers to a later one, may take "
                + "\(limits.publicIndexedBytesMax) bytes; send what "
                + "is referred to, and the deletions, in requests of their own")
    }

    /// Whether no operation rests on a later one.
    private var standsAlone: Bool {
        var later = Set(operations.map(\.recordName))
        for operation in operations {
            guard case .operation(let operation) = operation else { continue }
            if operation.kind.deletes { return false }
            later.remove(operation.name.text)
            if case .set(let parent) = operation.parent, later.contains(parent.text) {
                return false
            }
            let refers = operation.fields.fields.contains { field in
                field.references.contains {
                    $0.action != .none && later.contains($0.name.text)
                }
            }
            if refers { return false }
        }
        return true
    }
}

extension DecodedOperation {
    fileprivate var save: RecordOperation? {
        guard case .operation(let operation) = self, !operation.kind.deletes else { return nil }
        return operation
    }
}
