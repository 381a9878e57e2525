extension RecordQuery.Subject {
    /// The field's name, or the system field's in the schema language.
    package var name: String {
        switch self {
        case .field(let name): name.text
        case .system(let field): field.rawValue
        }
    }
}
