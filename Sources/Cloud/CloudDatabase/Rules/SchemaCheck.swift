import CloudModel

/// Checks records against the schema, and lets the schema grow in development (rulings.md 14 and 19).
struct SchemaCheck {
    let container: ContainerID?
    let environment: Environment
    let scope: DatabaseScope
    let limits: ServiceLimits
    /// The type and fields of the last record, if the stored schema has them: the next record is often like
    /// it.
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

    /// Checks one save.
    ///
    /// - Returns: the fields, where every empty list and every number has its type. Also the record type with
    ///   what the save adds to it: the type, fields, or a NUMBER that becomes INT64 or DOUBLE; nil when the
    ///   stored schema has all that the save needs.
    /// - Throws: BAD_REQUEST that names the type or field and what to do or send; TRY_AGAIN_LATER for a type
    ///   or field that may be about to leave the schema.
    mutating func admit(
        _ fields: EncodedFields, of type: RecordTypeName, _ growth: SchemaGrowth
    ) throws(Fault) -> (EncodedFields, GrownType?) {
        if let admitted, admitted.type == type, Self.areAlike(admitted.fields, fields.fields) {
            return (fields, nil)
        }
        let schema = growth.schema
        let stored = schema.types[type]
        if schema.leaving.isEmpty, let stored, Self.isKnown(fields.fields, to: stored),
            scope != .public || !fields.fields.contains(where: { $0.type?.isEncrypted == true })
        {
            admitted = (type, fields.fields)
            return (fields, nil)
        }
        if !schema.leaving.isEmpty { try Self.check(fields, of: type, leaving: schema.leaving) }
        let grown = growth.type(type)
        if grown == nil, stored == nil { try checkRoom(forType: type, growth) }
        var known = grown ?? stored ?? Schema.RecordType()
        var grows = grown == nil && stored == nil
        var isRetyped = false
        for field in fields.fields {
            switch try admit(field, of: type, to: &known) {
            case .known: break
            case .brings: grows = true
            case .settles(let isOther):
                grows = true
                if isOther { isRetyped = true }
            case .needsType: isRetyped = true
            }
        }
        let admitted = isRetyped ? try FieldRetyping(known).retyped(fields) : fields
        return (admitted, GrownType(name: type, type: known, brings: grows))
    }

    /// How a field fits the schema.
    private enum Admission {
        case known
        /// The save adds the field to the schema.
        case brings
        /// It makes a NUMBER INT64 or DOUBLE; `isOther` when that is not the type that it was sent as.
        case settles(isOther: Bool)
        /// It is an empty list, or whole numbers for DOUBLE: only the schema knows the type.
        case needsType
    }

    private func admit(
        _ field: EncodedFields.Field, of type: RecordTypeName, to known: inout Schema.RecordType
    ) throws(Fault) -> Admission {
        guard let given = field.type else { return .known }
        let stored = known.fields[field.name]?.type
        if scope == .public, given.isEncrypted || stored?.isEncrypted == true {
            throw .badRequest(
                "encrypted fields are not supported in the public database: '\(field.name.text)'")
        }
        guard let expected = stored ?? (type == .share ? Self.ofShares[field.name] : nil) else {
            try checkRoom(for: field, given, in: type, known)
            known.fields[field.name] = Schema.Field(given)
            return .brings
        }
        if expected.element == .number {
            let settled = try Self.settled(field, given, known.fields[field.name])
            known.fields[field.name]?.type = settled
            known.fields[field.name]?.preferred = nil
            return .settles(isOther: settled != given)
        }
        if given.element == .unknown, expected.isList, given.isEncrypted == expected.isEncrypted {
            return .needsType
        }
        if given.isWholeNumber(for: expected) { return .needsType }
        guard given == expected else {
            throw Self.mismatch(field.name, expected: expected, given: given)
        }
        return .known
    }

    /// The type that the first value of a NUMBER gives it.
    ///
    /// It is the type of the value; or the one that the field prefers when the value could be either.
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

    /// Fields that every share may have, whether the schema mentions them or not (web-services.md §5.12).
    private static let ofShares: [FieldName: FieldType] = [
        .shareTitle: FieldType(.string), .shareType: FieldType(.string),
        .shareThumbnail: FieldType(.bytes),
    ]

    /// Whether a type already has all fields with their types, as for nearly every record.
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

    private func checkRoom(forType type: RecordTypeName, _ growth: SchemaGrowth) throws(Fault) {
        guard environment == .development else {
            throw .badRequest(
                "Cannot create new type '\(type.text)' in production schema; "
                    + "deploy it with: \(deployment)"
            ).because(.schemaLacksType)
        }
        guard growth.hasRoom(forTypes: limits.recordTypesMax) else {
            throw .limitExceeded(
                "recordType '\(type.text)' would be more than the \(limits.recordTypesMax) "
                    + "record types of a container")
        }
    }

    private func checkRoom(
        for field: EncodedFields.Field, _ given: FieldType, in type: RecordTypeName,
        _ known: Schema.RecordType
    ) throws(Fault) {
        guard environment == .development else {
            throw .badRequest(
                "Cannot create or modify field '\(field.name.text)' in record '\(type.text)' in "
                    + "production schema; deploy it with: \(deployment)"
            ).because(.schemaLacksField)
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
                    + "fields of a record type")
        }
    }

    /// The command that gives production what it lacks.
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
        // No client sends NUMBER.
        let element: FieldType.Element = expected.element == .number ? .int64 : expected.element
        let plain = FieldType(element, isList: expected.isList).name
        let flag = expected.isEncrypted ? ",\"isEncrypted\":true" : ""
        return .badRequest(
            "Invalid value, expected type \(expected.name). Field '\(name.text)' was sent as "
                + "\(given.name); send {\"value\":…,\"type\":\"\(plain)\"\(flag)}"
        ).because(.valueOfOtherType)
    }
}

extension FieldType {
    /// Whether values of this type are whole numbers for a field of DOUBLE: clients send 2.0 as 2.
    fileprivate func isWholeNumber(for expected: FieldType) -> Bool {
        self == FieldType(.int64, isList: expected.isList, isEncrypted: expected.isEncrypted)
            && expected.element == .double
    }
}
