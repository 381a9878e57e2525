/// A file of texts in one language: one JSON5 object of texts.
package struct LanguageFile: Sendable {
    /// One text, and the line where it stands.
    package struct Entry: Sendable {
        package let key: String
        package let text: String
        package let line: Int
        package let column: Int
    }

    /// The setting that names the folder of these files.
    package static let path = "pages.textsFolder"

    package let file: String
    package let entries: [Entry]

    /// - Throws: `ConfigurationError` for a file that cannot be read, or is no such object.
    package init(_ file: String) throws(ConfigurationError) {
        let bytes = try SettingsFile.contents(of: file, path: Self.path)
        let root: JSON5Value
        do throws(JSON5Error) {
            root = try JSON5Reader.read(bytes)
        } catch {
            throw ConfigurationError(
                origin: .file(file, line: error.location.line, column: error.location.column),
                path: Self.path, reason: error.reason)
        }
        func refusal(_ value: JSON5Value, _ reason: String) -> ConfigurationError {
            ConfigurationError(
                origin: .file(file, line: value.location.line, column: value.location.column),
                path: Self.path, reason: reason)
        }
        guard case .object(let members) = root.content else {
            throw refusal(root, "expected an object of texts")
        }
        var entries: [Entry] = []
        for member in members {
            guard case .string(let text) = member.value.content else {
                throw refusal(member.value, "\(member.key): expected a text")
            }
            entries.append(
                Entry(
                    key: member.key, text: text, line: member.keyLocation.line,
                    column: member.keyLocation.column))
        }
        self.file = file
        self.entries = entries
    }

    /// What is wrong with one of its texts, or with the file as a whole.
    ///
    /// - Parameter keys: those that there are, so that a slip is named.
    package func error(
        key: String?, reason: String, keys: some Collection<String>
    ) -> ConfigurationError {
        guard let entry = entries.first(where: { $0.key == key }) else {
            return ConfigurationError(
                origin: .fileAsWhole(file), path: Self.path, reason: reason)
        }
        let near = keys.contains(entry.key) ? nil : NearName.closest(to: entry.key, among: keys)
        return ConfigurationError(
            origin: .file(file, line: entry.line, column: entry.column), path: Self.path,
            reason: "\(entry.key): \(reason)" + (near.map { "; is \($0) meant?" } ?? ""))
    }
}
