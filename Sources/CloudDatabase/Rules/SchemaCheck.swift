import CloudModel

/// Holds records to the schema, and lets the schema grow in development (rulings.md 14 and 19).
struct SchemaCheck {
    let environment: Environment
    let scope: DatabaseScope
    let limits: ServiceLimits
    /// Whether a record has brought a type or a field.
    private(set) var hasGrown = false
    /// The type and fields of the last record, which the schema has: the next is often like it.
    private var admitted: (type: RecordTypeName, fields: [EncodedFields.Field])?

    init(environment: Environment, scope: DatabaseScope, limits: ServiceLimits) {
        self.environment = environment
        self.scope = scope
        self.limits = limits
    }

    /// Checks one save and adds to the schema what it brings.
    ///
    /// - Returns: the fields with the type of every empty list known.
    /// - Throws: BAD_REQUEST that names the type or field and what to do or send.
    mutating func admit(
        _ fields: EncodedFields, of type: RecordTypeName, to schema: inout Schema
    ) throws(Fault) -> EncodedFields {
        if let admitted, admitted.type == type, Self.areAlike(admitted.fields, fields.fields) {
            return fields
        }
        guard type != .users else {
            throw Fault(
                .accessDenied,
                "CREATE operation not permitted: Users records are made by the server")
        }
        var known = schema.types[type] ?? Self.made(type)
        if schema.types[type] == nil { try checkRoom(forType: type, in: schema) }
        var untyped = false
        var grows = schema.types[type] == nil
        for field in fields.fields {
            guard let given = field.type else { continue }
            if given.isEncrypted, scope == .public {
                throw .badRequest(
                    "encrypted fields are not supported in the public database: '\(field.name.text)'"
                )
            }
            guard let expected = known.fields[field.name]?.type else {
                try checkRoom(for: field, given, in: type, known)
                known.fields[field.name] = Schema.Field(given)
                grows = true
                continue
            }
            if given.element == .unknown, expected.isList,
                !given.isEncrypted || expected.isEncrypted
            {
                untyped = true
            } else if given != expected {
                throw Self.mismatch(field.name, expected: expected, given: given)
            }
        }
        if grows {
            schema.types[type] = known
            hasGrown = true
        }
        guard !untyped else { return Self.typed(fields, by: known) }
        admitted = (type, fields.fields)
        return fields
    }

    /// A type as it begins: that of shares has its well-known fields (web-services.md §5.12).
    private static func made(_ type: RecordTypeName) -> Schema.RecordType {
        guard type == .share else { return Schema.RecordType() }
        return Schema.RecordType(fields: [
            .shareTitle: Schema.Field(FieldType(.string)),
            .shareType: Schema.Field(FieldType(.string)),
            .shareThumbnail: Schema.Field(FieldType(.bytes)),
        ])
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
                    + "deploy it with: lenticular schema deploy")
        }
        guard schema.types.count < limits.recordTypesMax else {
            throw .badRequest(
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
                    + "production schema; deploy it with: lenticular schema deploy")
        }
        guard type == .share || !field.name.isOfShares else {
            throw .badRequest(
                "field '\(field.name.text)': only records of type cloudkit.share have it")
        }
        guard given.element != .unknown else {
            throw .badRequest(
                "cannot use an empty list to initialize a new field '\(field.name.text)'; "
                    + "send its type, such as STRING_LIST")
        }
        guard known.fields.count < limits.fieldsPerTypeMax else {
            throw .badRequest(
                "field '\(field.name.text)' would be more than the \(limits.fieldsPerTypeMax) "
                    + "fields of a record type (limits.fieldsPerTypeMax)")
        }
    }

    private static func mismatch(_ name: FieldName, expected: FieldType, given: FieldType) -> Fault
    {
        if given.isEncrypted, !expected.isEncrypted {
            return .badRequest(
                "Attempt to save encrypted data in non encrypted field type: '\(name.text)' is "
                    + "\(expected.name); send it without isEncrypted")
        }
        let plain = FieldType(expected.element, isList: expected.isList).name
        let flag = expected.isEncrypted ? ",\"isEncrypted\":true" : ""
        return .badRequest(
            "Invalid value, expected type \(expected.name). Field '\(name.text)' was sent as "
                + "\(given.name); send {\"value\":…,\"type\":\"\(plain)\"\(flag)}")
    }

    /// Writes the type of each empty list as the schema has it.
    private static func typed(
        _ fields: EncodedFields, by known: Schema.RecordType
    ) -> EncodedFields {
        var made = EncodedFields()
        for field in fields.fields {
            guard let type = field.type else {
                made.fields.append(field)
                continue
            }
            if !made.bytes.isEmpty { made.bytes.append(UInt8(ascii: ",")) }
            let start = made.bytes.count
            var final = type
            if type.element == .unknown, let expected = known.fields[field.name]?.type {
                let flag = expected.isEncrypted ? ",\"isEncrypted\":true" : ""
                let plain = FieldType(expected.element, isList: true).name
                made.bytes.append(
                    contentsOf: "\"\(field.name.text)\":{\"value\":[],\"type\":\"\(plain)\"\(flag)}"
                        .utf8)
                final = expected
            } else {
                made.bytes.append(contentsOf: fields.bytes[field.range])
            }
            made.fields.append(
                EncodedFields.Field(
                    name: field.name, type: final, range: start..<made.bytes.count,
                    references: field.references))
        }
        return made
    }
}
