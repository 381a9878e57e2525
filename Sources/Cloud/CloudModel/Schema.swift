/// The record types, fields, indexes and security roles of one container environment.
package struct Schema: Sendable, Equatable {
    /// A field as the schema has it.
    package struct Field: Sendable, Equatable {
        package var type: FieldType
        package var indexes: IndexOptions
        /// What a NUMBER becomes when its first value does not tell: INT64 or DOUBLE.
        package var preferred: FieldType.Element?

        package init(
            type: FieldType, indexes: IndexOptions, preferred: FieldType.Element? = nil
        ) {
            self.type = type
            self.indexes = indexes
            self.preferred = preferred
        }

        /// A field made on the fly: it has every index that is of use to its type.
        package init(_ type: FieldType) {
            self.init(type: type, indexes: type.indexOptionsOfUse)
        }
    }

    /// One kind of record.
    package struct RecordType: Sendable, Equatable {
        /// Its number in the store; 0 until it is stored.
        package var number: Int64
        package var fields: [FieldName: Field]
        /// Index options of system fields, as far as the schema lists them.
        package var systemFields: [SystemField: IndexOptions]
        /// What roles may do with its records in the public database.
        package var grants: [RoleName: Permissions]

        /// A type as it is made on the fly: with the default grants.
        package init(
            number: Int64 = 0, fields: [FieldName: Field] = [:],
            systemFields: [SystemField: IndexOptions] = [:],
            grants: [RoleName: Permissions] = RecordType.grantsDefault
        ) {
            self.number = number
            self.fields = fields
            self.systemFields = systemFields
            self.grants = grants
        }

        /// Everybody may read it, signed-in users may make it, its maker may change it.
        package static let grantsDefault: [RoleName: Permissions] = [
            .world: .read, .authenticated: .create, .creator: .write,
        ]
    }

    /// Types and fields of a schema, by name.
    package struct Parts: Sendable, Equatable {
        package var types: Set<RecordTypeName>
        package var fields: [RecordTypeName: Set<FieldName>]

        package init(
            types: Set<RecordTypeName> = [], fields: [RecordTypeName: Set<FieldName>] = [:]
        ) {
            self.types = types
            self.fields = fields
        }

        package var isEmpty: Bool { types.isEmpty && fields.isEmpty }
    }

    /// Moves with every change, so that what was checked against one version is known to be stale.
    package var version: Int
    package var types: [RecordTypeName: RecordType]
    /// The numbers of types that it no longer has: feeds still tell deletions of their records.
    package var earlierTypes: [RecordTypeName: Int64] = [:]
    /// The roles of the container's own, each with its number in the store; 0 until it is stored.
    package var roles: [RoleName: Int64]
    /// What is about to be removed, while somebody looks whether records have it: no save may bring it.
    package var leaving = Parts()

    package init(
        version: Int = 0, types: [RecordTypeName: RecordType] = [:], roles: [RoleName: Int64] = [:]
    ) {
        self.version = version
        self.types = types
        self.roles = roles
    }

    /// The numbers in the store of all types, including those that it no longer has.
    package var typeNumbers: [RecordTypeName: Int64] {
        types.mapValues(\.number).merging(earlierTypes) { number, _ in number }
    }

    /// The number of a type in the store; nil where no record ever had it.
    package func number(of type: RecordTypeName) -> Int64? {
        types[type]?.number ?? earlierTypes[type]
    }

    /// The types that are in every schema, as they are at first.
    package static let builtInTypes: [RecordTypeName: RecordType] = [
        .users: RecordType(
            fields: [.roles: Field(type: FieldType(.int64, isList: true), indexes: [])],
            grants: [.creator: .write, .world: .read]),
        .share: RecordType(grants: [:]),
    ]

    /// The schema with the built-in types, and fields of those types, that it does not have.
    package var withBuiltInTypes: Schema {
        var whole = self
        for (name, type) in Schema.builtInTypes {
            whole.types[name, default: type].fields.merge(type.fields) { own, _ in own }
        }
        return whole
    }
}

/// What queries may do with a field.
package struct IndexOptions: OptionSet, Hashable, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// Equality, membership, nearness.
    package static let queryable = IndexOptions(rawValue: 1)
    /// Order, ranges, prefixes.
    package static let sortable = IndexOptions(rawValue: 2)
    /// Words in text.
    package static let searchable = IndexOptions(rawValue: 4)
}

/// What a role may do with the records of a type in the public database.
package struct Permissions: OptionSet, Hashable, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static let read = Permissions(rawValue: 1)
    package static let create = Permissions(rawValue: 2)
    /// Changing and deleting.
    package static let write = Permissions(rawValue: 4)
}

/// Names a security role: a built-in one, or a letter, then letters, digits and `_`.
package struct RoleName: Hashable, Sendable {
    package let text: String

    /// Everybody, with or without credentials.
    package static let world = RoleName(known: "_world")
    /// Everybody who is signed in.
    package static let authenticated = RoleName(known: "_icloud")
    /// The maker of the record.
    package static let creator = RoleName(known: "_creator")
    package static let builtIn = [world, authenticated, creator]

    package init?(_ text: String) {
        guard isIdentifier(text) || RoleName.builtIn.contains(where: { $0.text == text }) else {
            return nil
        }
        self.text = text
    }

    private init(known text: String) { self.text = text }

    package var isBuiltIn: Bool { RoleName.builtIn.contains(self) }
}

/// A field that every record has without being sent (web-services.md §5.10).
///
/// The raw value is its name in the schema language and in `fieldName`.
package enum SystemField: String, Sendable, CaseIterable {
    case recordID = "___recordID"
    case createTime = "___createTime"
    case modTime = "___modTime"
    case createdBy = "___createdBy"
    case modifiedBy = "___modifiedBy"
    case etag = "___etag"
    case parent = "___parent"
    case share = "___share"
}
