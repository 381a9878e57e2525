import CloudModel

/// Why a schema is not replaced by another; nothing was changed.
package struct SchemaRefusal: Error, Equatable, CustomStringConvertible {
    /// For people: what prevents it, and what to do.
    package let description: String

    init(_ description: String) { self.description = description }

    /// How many of the things that prevent it are listed.
    private static let listedMax = 10

    init(_ what: String, _ items: [String]) {
        let further = items.count - Self.listedMax
        let listed =
            items.prefix(Self.listedMax) + (further > 0 ? ["and \(further) more"] : [])
        description = "\(what): \(listed.joined(separator: ", "))"
    }
}

extension ServiceLimits {
    /// Refuses a schema with more of something than a container may have.
    ///
    /// - Throws: `SchemaRefusal` that names the limit.
    func check(_ schema: Schema) throws(SchemaRefusal) {
        let types = schema.types.count - Schema.builtInTypes.count
        guard types <= recordTypesMax else {
            throw SchemaRefusal(
                "\(types) record types are more than \(recordTypesMax)")
        }
        guard schema.roles.count <= rolesMax else {
            throw SchemaRefusal(
                "\(schema.roles.count) roles are more than \(rolesMax)")
        }
        for (name, type) in SchemaLanguage.sorted(schema.types, by: \.text)
        where type.fields.count > fieldsPerTypeMax {
            throw SchemaRefusal(
                "\(type.fields.count) fields of \(name.text) are more than \(fieldsPerTypeMax)")
        }
    }
}
