import Storage

extension LocalSecret {
    /// The names of all of them, as SQL lists them.
    package static let list = allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
}
