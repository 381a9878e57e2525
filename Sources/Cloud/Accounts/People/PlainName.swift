/// Names that operators give to things and people: 1 to 128 bytes without control characters.
enum PlainName {
    static let bytesMax = 128

    /// The name as it is.
    ///
    /// - Throws: `nameIllegal`.
    static func checked(_ name: String?) throws(AccountsRefusal) -> String? {
        guard let name else { return nil }
        let isPrintable = name.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
        guard (1...bytesMax).contains(name.utf8.count), isPrintable else { throw .nameIllegal }
        return name
    }
}
