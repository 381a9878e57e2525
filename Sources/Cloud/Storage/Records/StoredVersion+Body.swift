import CloudModel

// What a version's body says, for whom its text is not enough.
extension StoredVersion {
    /// A copy of the body, with its parts.
    ///
    /// - Throws: `JSONError` for what is no stored body.
    package func storedBody() throws -> StoredBody {
        try StoredBody(copying: body, fields: ranges?.fields)
    }

    /// The fields of a copy of the body, as indexes, filters and sorts see them.
    ///
    /// - Throws: as `storedBody`.
    package func storedFields() throws -> StoredFields { StoredFields(try storedBody()) }
}
