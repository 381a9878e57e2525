import Configuration
import Control
import Files
import Pages

extension ServerConfiguration {
    private static let languageSuffixes = [".json5", ".json"]

    /// The languages of the pages and letters, read from their files.
    ///
    /// - Throws: `ConfigurationError` that names file, line and key; `CommandFailure` for a folder that
    ///   cannot be read.
    func phrasebooks() throws -> Phrasebooks {
        var books: [Phrasebook] = []
        for name in try languageFiles() {
            guard let suffix = Self.languageSuffixes.first(where: { name.hasSuffix($0) }) else {
                continue
            }
            let file = try LanguageFile("\(pages.textsFolder)/\(name)")
            do throws(PhraseRefusal) {
                books.append(
                    try Phrasebook(
                        tag: String(name.dropLast(suffix.count)),
                        entries: file.entries.map { ($0.key, $0.text) }))
            } catch {
                throw file.error(
                    key: error.key, reason: error.reason, keys: Phrasebooks.keys)
            }
        }
        let all = Phrasebooks(books, usual: pages.language)
        guard all.has(pages.language) else {
            throw CommandFailure(
                "pages.language: expected a language that is at hand; there is no file for "
                    + "\(pages.language) in pages.textsFolder")
        }
        return all
    }

    private func languageFiles() throws -> [String] {
        guard !pages.textsFolder.isEmpty else { return [] }
        do {
            return try FileSystem.names(in: pages.textsFolder).sorted()
        } catch {
            throw CommandFailure("pages.textsFolder: \(error)")
        }
    }
}
