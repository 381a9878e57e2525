import CloudModel

/// Checks a query against the schema (rulings.md 22 and 24).
///
/// A query that passes can be answered. Every field is known and has the index that its comparator or sort
/// needs. Every value has the type of its field.
package struct QueryCheck {
    private let type: RecordTypeName
    private let known: Schema.RecordType
    private let database: Database
    /// Whether fields must have the index options for what the query asks of them.
    private let needsIndexes: Bool

    /// - Parameters:
    ///   - schema: the schema as it is now.
    ///   - database: `_defaultOwner` as creator or modifier means its caller.
    ///   - needsIndexes: false for a query that only judges records one by one.
    /// - Returns: the query to be answered: values have the types of their fields, and sorts without effect
    ///   are left out.
    /// - Throws: `Fault` NOT_FOUND for an unknown record type; BAD_REQUEST that names the field and what to
    ///   do.
    package static func admit(
        _ query: RecordQuery, to schema: Schema, in database: Database, needsIndexes: Bool = true
    ) throws(Fault) -> RecordQuery {
        guard query.type != .users else {
            throw .badRequest(
                "Queried type is not marked indexable: Users records are read by name, "
                    + "with records/lookup")
        }
        guard let known = schema.types[query.type] else {
            throw .unknownRecordType(query.type.text)
        }
        let check = QueryCheck(
            type: query.type, known: known, database: database, needsIndexes: needsIndexes)
        var admitted = RecordQuery(type: query.type)
        for filter in query.filters { admitted.filters.append(try check.admit(filter)) }
        for sort in query.sorts {
            guard let sort = try check.admit(sort), !admitted.sorts.contains(sort) else { continue }
            admitted.sorts.append(sort)
        }
        return admitted
    }

    /// A field or system field as the schema has it.
    private struct QueryField {
        let subject: RecordQuery.Subject
        let type: FieldType
        let indexes: IndexOptions
    }

    // MARK: - Filters

    private func admit(_ filter: RecordQuery.Filter) throws(Fault) -> RecordQuery.Filter {
        let found = try find(filter.subject)
        let name = found.subject.wireName
        guard !found.type.isEncrypted else {
            throw .badRequest(
                "Field '\(name)': an \(found.type.name) value cannot be queried with filter "
                    + filter.comparator.rawValue)
        }
        guard isApplicable(filter.comparator, to: found) else {
            throw .badRequest(
                "Field '\(name)' is \(found.type.name), which cannot be queried with filter "
                    + "\(filter.comparator.rawValue); that is for \(filter.comparator.typesText)")
        }
        try require(filter.comparator.indexOption, of: found)
        var admitted = filter
        admitted.subject = found.subject
        let type = FieldType(
            isText(filter.comparator, found) ? .string : found.type.element,
            isList: filter.comparator.operand == .list)
        admitted.value = try value(of: admitted, as: type, name)
        admitted.type = type
        admitted.isTypeGiven = true
        return admitted
    }

    private func isApplicable(_ comparator: RecordQuery.Comparator, to found: QueryField) -> Bool {
        comparator.applies(to: found.type) || isText(comparator, found)
    }

    /// Whether record names are compared as text: unlike other references, they have an order.
    private func isText(_ comparator: RecordQuery.Comparator, _ found: QueryField) -> Bool {
        found.subject == .system(.recordID) && comparator.indexOption == .sortable
    }

    private func find(_ subject: RecordQuery.Subject) throws(Fault) -> QueryField {
        switch subject {
        case .system(let field): return find(field)
        case .field(let name):
            if let field = known.fields[name] {
                return QueryField(subject: subject, type: field.type, indexes: field.indexes)
            }
            guard let system = SystemField(spelling: name.text) else {
                throw .badRequest("Unknown field '\(name.text)' in record type '\(type.text)'")
            }
            return find(system)
        }
    }

    private func find(_ field: SystemField) -> QueryField {
        let indexes: IndexOptions =
            switch field {
            case .recordID, .createTime, .modTime: [.queryable, .sortable]
            case .createdBy, .modifiedBy, .etag, .parent, .share: known.systemFields[field] ?? []
            }
        return QueryField(subject: .system(field), type: field.type, indexes: indexes)
    }

    private func require(_ option: IndexOptions, of found: QueryField) throws(Fault) {
        guard needsIndexes else { return }
        let name = found.subject.wireName
        // A schema may list the option although it has no use.
        guard found.subject == .system(.recordID) || found.type.indexOptionsOfUse.contains(option)
        else {
            throw .badRequest(
                "Field '\(name)' is \(found.type.name), which is never \(option.word.lowercased()), "
                    + "whatever the schema lists")
        }
        guard !found.indexes.contains(option) else { return }
        let refusal = "Field '\(name)' is not marked \(option.word.lowercased())"
        var declared = Schema.Field(type: found.type, indexes: found.indexes.union(option))
        if case .field(let name) = found.subject {
            declared.preferred = known.fields[name]?.preferred
        }
        throw .badRequest(
            "\(refusal); to add the index, let record type \(type.text) of the schema have "
                + "\(SchemaLanguage.quoted(found.subject.name)) \(SchemaLanguage.text(declared)), "
                + "\(commands)")
    }

    /// The commands that bring this database a schema.
    private var commands: String {
        let container = database.container.map { " \($0.name)" } ?? ""
        let imports = "import it with: lenticular schema import\(container) FILE"
        return database.environment == .development
            ? "and \(imports)"
            : "\(imports), and deploy it with: lenticular schema deploy\(container)"
    }

    // MARK: - Sorts

    /// - Returns: nil for a sort that orders nothing.
    private func admit(_ sort: RecordQuery.Sort) throws(Fault) -> RecordQuery.Sort? {
        let found = try find(sort.subject)
        let name = found.subject.wireName
        // The service accepts such a sort, though nobody can see an order in encrypted values. So does this
        // server.
        guard !found.type.isEncrypted else { return nil }
        var admitted = sort
        admitted.subject = found.subject
        if found.type == FieldType(.location) {
            guard sort.relativeTo != nil else {
                throw .badRequest(
                    "sortBy: '\(name)' is a LOCATION, which is sorted by its distance from a "
                        + "relativeLocation")
            }
            try require(.queryable, of: found)
            return admitted
        }
        guard sort.relativeTo == nil else {
            throw .badRequest(
                "sortBy: relativeLocation is for a LOCATION, and '\(name)' is \(found.type.name)")
        }
        try require(.sortable, of: found)
        return admitted
    }

    // MARK: - Values

    private func value(
        of filter: RecordQuery.Filter, as expected: FieldType, _ name: String
    ) throws(Fault) -> RecordQuery.Value {
        let given = filter.type
        guard expected.isList == given.isList else { throw mismatch(filter, expected, name) }
        switch filter.value {
        case .list(let values):
            var list: [RecordQuery.Value] = []
            list.reserveCapacity(values.count)
            for value in values {
                guard let value = converted(value, of: filter, to: expected.element) else {
                    throw mismatch(filter, expected, name)
                }
                list.append(value)
            }
            return .list(list)
        default:
            guard let value = converted(filter.value, of: filter, to: expected.element) else {
                throw mismatch(filter, expected, name)
            }
            return value
        }
    }

    /// The value converted to the field's type; nil when it cannot be.
    private func converted(
        _ value: RecordQuery.Value, of filter: RecordQuery.Filter, to element: FieldType.Element
    ) -> RecordQuery.Value? {
        switch (element, value) {
        case (.string, .string), (.int64, .int64), (.double, .double), (.timestamp, .timestamp),
            (.bytes, .bytes), (.location, .location), (.number, .int64), (.number, .double):
            return value
        // A record's name, compared as text.
        case (.string, .reference(let name, _)) where filter.subject == .system(.recordID):
            return .string(name.text)
        // JSON cannot tell 3 from 3.0.
        case (.double, .int64(let whole)): return .double(Double(whole))
        case (.timestamp, .int64(let moment)):
            return filter.isTypeGiven ? nil : .timestamp(moment)
        case (.reference, _): return reference(value, of: filter.subject)
        default: return nil
        }
    }

    /// A reference to a record or a user; the name of the record is enough.
    private func reference(
        _ value: RecordQuery.Value, of subject: RecordQuery.Subject
    ) -> RecordQuery.Value? {
        let named: (RecordName, ZoneName?)
        switch value {
        case .reference(let name, let zone): named = (name, zone)
        case .string(let text):
            guard let name = RecordName(text) else { return nil }
            named = (name, nil)
        default: return nil
        }
        switch subject {
        case .system(.createdBy), .system(.modifiedBy): return .user(user(named.0.text))
        default: return .reference(named.0, named.1)
        }
    }

    private func user(_ name: String) -> String {
        guard name == "_defaultOwner" || name == "__defaultOwner__" else { return name }
        return database.caller.userRecordName?.text ?? name
    }

    private func mismatch(
        _ filter: RecordQuery.Filter, _ expected: FieldType, _ name: String
    ) -> Fault {
        // No client sends NUMBER.
        let element: FieldType.Element = expected.element == .number ? .int64 : expected.element
        let sent = FieldType(element, isList: expected.isList).name
        return .badRequest(
            "Invalid value, expected type \(expected.name). The filter on '\(name)' has "
                + "\(filter.type.name); send {\"value\":…,\"type\":\"\(sent)\"}")
    }
}
