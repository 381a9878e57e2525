import CloudModel

/// Reads a text of the schema language, one token ahead (schema.md).
struct SchemaParser {
    private typealias Token = SchemaScanner.Token

    private var scanner: SchemaScanner
    private var token: Token
    private var schema = Schema()
    /// Roles that grants name; they are looked up once all roles are known.
    private var rolesNamed: [(role: RoleName, location: TextLocation)] = []

    /// Reads a whole schema, and adds the types that every schema has if they are missing.
    static func parse(_ text: [UInt8]) throws(SchemaSyntaxError) -> Schema {
        var parser = try SchemaParser(text)
        try parser.readSchema()
        return parser.schema.withBuiltInTypes
    }

    private init(_ text: [UInt8]) throws(SchemaSyntaxError) {
        scanner = SchemaScanner(text)
        token = try scanner.next()
    }

    private mutating func readSchema() throws(SchemaSyntaxError) {
        try take("DEFINE")
        try take("SCHEMA")
        while token.kind != .end {
            if token.isWord("CREATE") {
                try readRole()
            } else if token.isWord("RECORD") {
                try readType()
            } else {
                throw unexpected("CREATE ROLE, RECORD TYPE or the end of the text")
            }
            try take(";")
        }
        for (role, location) in rolesNamed where !role.isBuiltIn && schema.roles[role] == nil {
            throw SchemaSyntaxError(
                location,
                expected: "\"_world\", \"_icloud\", \"_creator\" or a role of CREATE ROLE",
                found: "'\(role.text)'")
        }
    }

    private mutating func readRole() throws(SchemaSyntaxError) {
        try advance()
        try take("ROLE")
        let named = token
        guard let role = RoleName(try takeName("the name of a role")), !role.isBuiltIn else {
            throw unexpected("the name of a role: a letter, then letters, digits and _", named)
        }
        guard schema.roles.updateValue(0, forKey: role) == nil else {
            throw unexpected("a role that was not made before", named)
        }
    }

    private mutating func readType() throws(SchemaSyntaxError) {
        try advance()
        try take("TYPE")
        let named = token
        guard let name = RecordTypeName(try takeName("the name of a record type")) else {
            throw unexpected("the name of a type: a letter, then letters, digits and _", named)
        }
        guard schema.types[name] == nil else {
            throw unexpected("a record type that was not defined before", named)
        }
        var type = Schema.RecordType(grants: [:])
        var systemFields: Set<SystemField> = []
        try take("(")
        if !token.isSign(")") {
            try readItem(of: name, &type, &systemFields)
            while token.isSign(",") {
                try advance()
                try readItem(of: name, &type, &systemFields)
            }
        }
        guard token.isSign(")") else { throw unexpected("',' or ')'") }
        try advance()
        schema.types[name] = type
    }

    private mutating func readItem(
        of typeName: RecordTypeName, _ type: inout Schema.RecordType,
        _ systemFields: inout Set<SystemField>
    ) throws(SchemaSyntaxError) {
        if token.isWord("GRANT") { return try readGrant(of: &type) }
        let named = token
        let name = try takeName("the name of a field, or GRANT")
        if let system = SystemField(rawValue: name) {
            guard systemFields.insert(system).inserted else {
                throw unexpected("a field that this type does not have yet", named)
            }
            let location = token
            let field = try readField()
            guard field.type == system.declaredType, field.preferred == nil else {
                throw unexpected(
                    "\(SchemaLanguage.text(system.declaredType)), the type of \(name)", location)
            }
            if !field.indexes.isEmpty { type.systemFields[system] = field.indexes }
            return
        }
        guard let field = FieldName(name) else {
            throw unexpected(
                "the name of a field: a letter, then letters, digits and _, or a system field "
                    + "such as \"___recordID\"", named)
        }
        guard type.fields[field] == nil else {
            throw unexpected("a field that this type does not have yet", named)
        }
        let location = token
        let read = try readField()
        if let known = Schema.builtInTypes[typeName]?.fields[field]?.type, read.type != known {
            throw unexpected("\(SchemaLanguage.text(known)), the type of \(name)", location)
        }
        type.fields[field] = read
    }

    // MARK: - Fields

    private mutating func readField() throws(SchemaSyntaxError) -> Schema.Field {
        var field = try readFieldType()
        let allowed = field.type.indexOptionsDeclarable
        while true {
            guard
                let option = SchemaLanguage.indexOptions.first(where: { token.isWord($0.word) })
            else {
                guard token.isSign(",") || token.isSign(")") else {
                    throw unexpected("',', ')' or one of QUERYABLE, SORTABLE, SEARCHABLE")
                }
                return field
            }
            guard allowed.contains(option.option) else {
                throw unexpected("no index on a field of type \(SchemaLanguage.text(field.type))")
            }
            field.indexes.insert(option.option)
            try advance()
        }
    }

    private mutating func readFieldType() throws(SchemaSyntaxError) -> Schema.Field {
        var isEncrypted = false
        if token.isWord("ENCRYPTED") {
            isEncrypted = true
            try advance()
        }
        let isList = token.isWord("LIST")
        if isList {
            try advance()
            try take("<")
            if token.isWord("ENCRYPTED"), !isEncrypted {
                isEncrypted = true
                try advance()
            }
        }
        let element = try readElement(isEncrypted: isEncrypted, isInList: isList)
        var preferred: FieldType.Element?
        if element == .number, token.isWord("PREFERRED") {
            try advance()
            try take("AS")
            preferred = token.isWord("INT64") ? .int64 : token.isWord("DOUBLE") ? .double : nil
            guard preferred != nil else { throw unexpected("INT64 or DOUBLE") }
            try advance()
        }
        if isList { try take(">") }
        return Schema.Field(
            type: FieldType(element, isList: isList, isEncrypted: isEncrypted), indexes: [],
            preferred: preferred)
    }

    private mutating func readElement(
        isEncrypted: Bool, isInList: Bool
    ) throws(SchemaSyntaxError) -> FieldType.Element {
        let known = SchemaLanguage.elements.filter { !isEncrypted || $0.mayBeEncrypted }
        guard let element = known.first(where: { token.isWord($0.word) })?.element else {
            let words = known.map(\.word).joined(separator: ", ")
            let further = isEncrypted || isInList ? "" : ", ENCRYPTED, LIST"
            throw unexpected("a type, one of \(words)\(further)")
        }
        try advance()
        return element
    }

    // MARK: - Grants

    private mutating func readGrant(
        of type: inout Schema.RecordType
    ) throws(SchemaSyntaxError) {
        try advance()
        var granted = try takePermission()
        while token.isSign(",") {
            try advance()
            granted.formUnion(try takePermission())
        }
        guard token.isWord("TO") else { throw unexpected("',' or TO") }
        try advance()
        let named = token
        guard let role = RoleName(try takeName("the name of a role")) else {
            throw unexpected("the name of a role", named)
        }
        rolesNamed.append((role, named.location))
        type.grants[role, default: []].formUnion(granted)
    }

    private mutating func takePermission() throws(SchemaSyntaxError) -> Permissions {
        for (word, permission) in SchemaLanguage.permissions where token.isWord(word) {
            try advance()
            return permission
        }
        throw unexpected(
            "READ, CREATE or WRITE (a field of the name grant is written \"grant\")")
    }

    // MARK: - Tokens

    private mutating func advance() throws(SchemaSyntaxError) { token = try scanner.next() }

    /// Takes a keyword or a sign.
    private mutating func take(_ text: String) throws(SchemaSyntaxError) {
        let isThere =
            if let sign = text.first, text.count == 1 {
                token.isSign(sign)
            } else {
                token.isWord(text)
            }
        guard isThere else { throw unexpected(text.count == 1 ? "'\(text)'" : text) }
        try advance()
    }

    private mutating func takeName(_ what: String) throws(SchemaSyntaxError) -> String {
        guard token.kind == .word || token.kind == .quoted else { throw unexpected(what) }
        let name = token.text
        try advance()
        return name
    }

    private func unexpected(_ expected: String) -> SchemaSyntaxError {
        unexpected(expected, token)
    }

    private func unexpected(_ expected: String, _ found: Token) -> SchemaSyntaxError {
        SchemaSyntaxError(found.location, expected: expected, found: found.shown)
    }
}
