import Foundation
import Testing

/// docs/STYLE.md lists the words: each needs explaining, and the field has a better one.
@Suite("Names of types and files take the field's words")
struct NameTests {
    private static let rule = "- ✓ **One word, one meaning.**"

    /// The words that the rule lists before its first full stop behind them.
    private static let words: Set<String> = {
        let lines = Repository.lines("docs/STYLE.md").drop { !$0.hasPrefix(rule) }
        let paragraph = lines.prefix(1) + lines.dropFirst().prefix { $0.hasPrefix("  ") }
        let text = paragraph.joined(separator: " ").dropFirst(rule.count)
        let quoted = text.split(separator: "`", omittingEmptySubsequences: false)
        return Set(quoted.indices.filter { $0 % 2 == 1 }.map { String(quoted[$0]) })
    }()

    /// The parts of a name: `SyncTokens+HTTP` has `Sync`, `Token` and `HTTP`; a plural counts as its singular.
    private static func parts(of name: String) -> Set<String> {
        let parts = name.matches(of: /[A-Z]+(?![a-z])|[A-Z]?[a-z]+/).map { String($0.output) }
        return Set(parts + parts.filter { $0.hasSuffix("s") }.map { String($0.dropLast()) })
    }

    @Test("The list is read, and a name that has one of its words is found")
    func list() throws {
        #expect(Self.words.count >= 10)
        let word = try #require(Self.words.min())
        for name in [word, "Known\(word)", "\(word)sOfNotes", "HTTP\(word)"] {
            #expect(!Self.words.isDisjoint(with: Self.parts(of: name)), "\(name)")
        }
        #expect(Self.words.isDisjoint(with: Self.parts(of: "\(word)x")))
    }

    @Test("No file or type is named by a word that needs explaining")
    func names() {
        let type = /\b(?:struct|class|enum|actor|protocol|typealias) +([A-Za-z0-9_]+)/
        for (path, source) in Repository.swiftSources {
            let file = path.split(separator: "/").last?.split(separator: ".").first ?? ""
            let inFile = Self.words.intersection(Self.parts(of: String(file)))
            #expect(inFile.isEmpty, "\(path): \(inFile)")
            for (index, line) in source.code.enumerated() {
                for match in line.matches(of: type) {
                    let found = Self.words.intersection(Self.parts(of: String(match.output.1)))
                    #expect(found.isEmpty, "\(path):\(index + 1): \(line)")
                }
            }
        }
    }
}
