import CloudModel

/// Holds records to the schema, and lets the schema grow in development (rulings.md 14 and 19).
struct SchemaCheck {
    let container: ContainerID?
    let environment: Environment
    let scope: DatabaseScope
    let limits: ServiceLimits
    /// Whether a record has brought a type or a field, or made a NUMBER INT64 or DOUBLE.
    private(set) var hasGrown = false
    /// The type and fields of the last record, which the schema has: the next is often like it.
    private var admitted: (type: RecordTypeName, fields: [EncodedFields.Field])?

    init(
        container: ContainerID?, environment: Environment, scope: DatabaseScope,
        limits: ServiceLimits
    ) {
        self.container = container
        self.environment = environment
        self.scope = scope
        self.limits = limits
    }

    /// Checks one save and adds to the schema what it brings.
    ///
    /// - Returns: the fields with the type of every empty list and of every number known.
    /// - Throws: BAD_REQUEST that names the type or field and what to do or send; TRY_AGAIN_LATER
    ///   for what may be about to leave the schema.
    mutating func admit(
        _ fields: EncodedFields, of type: RecordTypeName, to schema: inout Schema
    ) throws(Fault) -> EncodedFields {
        if let admitted, admitted.type == type, Self.areAlike(admitted.fields, fields.fields) {
            return fields
        }
        if scope != .public, schema.leaving.isEmpty, let known = schema.types[type],
            Self.isKnown(fields.fields, to: known)
        {
            admitted = (type, fields.fields)
            return fields
        }
        if !schema.leaving.isEmpty { try Self.check(fields, of: type, leaving: schema.leaving) }
        var known = schema.types[type] ?? Schema.RecordType()
        if schema.types[type] == nil { try checkRoom(forType: type, in: schema) }
        var isRetyped = false
        var grows = schema.types[type] == nil
        for field in fields.fields {
            guard let given = field.type else { continue }
            let stored = known.fields[field.name]?.type
            if scope == .public, given.isEncrypted || stored?.isEncrypted == true {
                throw .badRequest(
                    "encrypted fields are not supported in the public database: '\(field.name.text)'"
                )
            }
            guard let expected = stored ?? (type == .share ? Self.ofShares[field.name] : nil) else {
                try checkRoom(for: field, given, in: type, known)
                known.fields[field.name] = Schema.Field(given)
                grows = true
                continue
            }
            if expected.element == .number {
                let settled = try Self.settled(field, given, known.fields[field.name])
                known.fields[field.name]?.type = settled
                known.fields[field.name]?.preferred = nil
                grows = true
                if settled != given { isRetyped = true }
                continue
            }
            if given.element == .unknown, expected.isList,
                given.isEncrypted == expected.isEncrypted
            {
                isRetyped = true
            } else if given.isWholeNumber(for: expected) {
                isRetyped = true
            } else if given != expected {
                throw Self.mismatch(field.name, expected: expected, given: given)
            }
        }
        if grows {
            schema.types[type] = known
            hasGrown = true
        }
        guard !isRetyped else { return try FieldRetyping(known).retyped(fields) }
        admitted = (type, fields.fields)
        return fields
    }

    /// What the first value of a NUMBER makes it: what the value is, or what the field prefers when
    /// the value could be either.
    private static func settled(
        _ field: EncodedFields.Field, _ given: FieldType, _ known: Schema.Field?
    ) throws(Fault) -> FieldType {
        guard let known, known.type.isList == given.isList, !given.isEncrypted else {
            throw mismatch(
                field.name, expected: known?.type ?? FieldType(.number), given: given)
        }
        switch given.element {
        case .unknown: throw emptyList(field.name)
        case .double: return given
        case .int64:
            guard field.isInferred, known.preferred == .double else { return given }
            return FieldType(.double, isList: given.isList)
        default: throw mismatch(field.name, expected: known.type, given: given)
        }
    }

    private static func check(
        _ fields: EncodedFields, of type: RecordTypeName, leaving: Schema.Parts
    ) throws(Fault) {
        guard !leaving.types.contains(type) else {
            throw .tryAgainLater("the type '\(type.text)' may be about to leave the schema")
        }
        for field in fields.fields
        where field.type != nil && leaving.fields[type]?.contains(field.name) == true {
            throw .tryAgainLater(
                "the field '\(field.name.text)' may be about to leave the schema")
        }
    }

    /// Fields that every share may have, with or without a word in the schema (web-services.md §5.12).
    private static let ofShares: [FieldName: FieldType] = [
        .shareTitle: FieldType(.string), .shareType: FieldType(.string),
        .shareThumbnail: FieldType(.bytes),
    ]

    /// Whether a type has all fields already, with their types: nearly every record's are.
    private static func isKnown(
        _ fields: [EncodedFields.Field], to type: Schema.RecordType
    ) -> Bool {
        for index in fields.indices {
            guard let given = fields[index].type else { continue }
            guard type.fields[fields[index].name]?.type == given else { return false }
        }
        return true
    }

    private static func areAlike(
        _ left: [EncodedFields.Field], _ right: [EncodedFields.Field]
    ) -> Bool {
        guard left.count == right.count else { return false }
        for index in left.indices
        where left[index].type != right[index].type || left[index].name != right[index].name {
            return false
        }
        return true
    }

    private func checkRoom(forType type: RecordTypeName, in schema: Schema) throws(Fault) {
        guard environment == .development else {
            throw .badRequest(
                "Cannot create new type '\(type.text)' in production schema; "
                    + "deploy it with: \(deployment)")
        }
        guard schema.types.count - Schema.builtInTypes.count < limits.recordTypesMax else {
            throw .limitExceeded(
                "recordType '\(type.text)' would be more than the \(limits.recordTypesMax) "
                    + "record types of a container (limits.recordTypesMax)")
        }
    }

    private func checkRoom(
        for field: EncodedFields.Field, _ given: FieldType, in type: RecordTypeName,
        _ known: Schema.RecordType
    ) throws(Fault) {
        guard environment == .development else {
            throw .badRequest(
                "Cannot create or modify field '\(field.name.text)' in record '\(type.text)' in "
                    + "production schema; deploy it with: \(deployment)")
        }
        guard type == .share || !field.name.isOfShares else {
            throw .badRequest(
                "field '\(field.name.text)': only records of type cloudkit.share have it")
        }
        guard given.element != .unknown else {
            throw Self.emptyList(field.name)
        }
        guard known.fields.count < limits.fieldsPerTypeMax else {
            throw .limitExceeded(
                "field '\(field.name.text)' would be more than the \(limits.fieldsPerTypeMax) "
                    + "fields of a record type (limits.fieldsPerTypeMax)")
        }
    }

    /// The command that brings production what it lacks.
    private var deployment: String {
        "lenticular schema deploy" + (container.map { " \($0.name)" } ?? "")
    }

    private static func emptyList(_ name: FieldName) -> Fault {
        .badRequest(
            "cannot use an empty list to initialize a new field '\(name.text)'; "
                + "send its type, such as STRING_LIST")
    }

    private static func mismatch(_ name: FieldName, expected: FieldType, given: FieldType) -> Fault
    {
        if given.isEncrypted, !expected.isEncrypted {
            return .badRequest(
                "Attempt to save encrypted data in non encrypted field type: '\(name.text)' is "
                    + "\(expected.name); send it without isEncrypted")
        }
        // Nobody sends NUMBER.
        let element: FieldType.Element = expected.element == .number ? .int64 : expected.element
        let plain = FieldType(element, isList: expected.isList).name
        let flag = expected.isEncrypted ? ",\"isEncrypted\":true" : ""
        return .badRequest(
            "Invalid value, expected type \(expected.name). Field '\(name.text)' was sent as "
                + "\(given.name); send {\"value\":…,\"type\":\"\(plain)\"\(flag)}")
    }
}

extension FieldType {
    /// Whether values of this type are whole numbers for a field of DOUBLE: clients send 2.0 as 2.
    fileprivate func isWholeNumber(for expected: FieldType) -> Bool {
        self == FieldType(.int64, isList: expected.isList, isEncrypted: expected.isEncrypted)
            && expected.element == .double
    }
}
