import Foundation
import Testing

@Suite("Words and names that the sources do without")
struct WordTests {
    /// Reasoned exceptions to checked sendability, by file: each needs a look when it grows.
    private static let uncheckedSendables: [String: Int] = [
        "Sources/Cloud/CloudDatabase/Batches/BatchBesideWriter.swift": 1,
        "Sources/Cloud/CloudDatabase/UseCases/Assets/ReceiveAsset.swift": 1,
        "Sources/Cloud/WebServices/Assets/ResumableUpload.swift": 1,
        "Sources/Base/Cryptography/P256PrivateKey.swift": 1,
        "Sources/Base/Cryptography/P256PublicKey.swift": 1,
        "Sources/Wire/HTTP/Connection/ConnectionLoop.swift": 1,
        "Sources/Cloud/Fairness/LoopTurns.swift": 1,
        "Sources/Cloud/Fairness/WorkLane.swift": 1,
        "Sources/Wire/HTTP/Connection/HTTPConnection.swift": 1,
        "Sources/Wire/HTTP/Bodies/HeldBody.swift": 1,
        "Sources/Base/Cryptography/RSAPublicKey.swift": 1,
        "Sources/Wire/HTTPClient/ClientConnection.swift": 1,
        "Sources/Wire/HTTPClient/Outgoing/OutgoingDestination.swift": 1,
        "Sources/Wire/HTTPClient/Outgoing/OutgoingRequests.swift": 1,
        "Sources/Wire/HTTPClient/Outgoing/TargetAddresses.swift": 1,
        "Sources/Wire/JSON/JSONTape.swift": 1,
        "Sources/Wire/Network/EventLoop.swift": 1,
        "Sources/Wire/Network/Listener.swift": 1,
        "Sources/Wire/Network/TLSContext.swift": 1,
        "Sources/Wire/Network/TLSTrust.swift": 1,
        "Sources/Engines/GroupCommit/MonotonicSemaphore.swift": 1,
        "Sources/Engines/PostgreSQLStorage/Sessions/ConnectionPool.swift": 1,
        "Sources/Engines/SQLite/ExclusiveValue.swift": 1,
        "Sources/Engines/SQLiteStorage/PositionCache.swift": 1,
        "Sources/Cloud/WebServices/Assets/AssetUploadSink.swift": 1,
    ]

    @Test("No file or type has a name that says nothing")
    func names() throws {
        let bare = ["Util", "Helper", "Manager", "Service", "Common", "Misc"]
        let word = "(Utils?|Utilities|Helpers?|Managers?|Services?|Common|Misc)"
        let allowed = "ServiceLimits"
        let file = try Regex("(^|[a-z])\(word)(\\+.*)?\\.swift$")
        let type = try Regex(
            "\\b(struct|class|enum|actor|protocol|typealias) [A-Za-z]*\(word)\\b")
        let exempt = try Regex("\\b(\(allowed))\\b")
        for (path, source) in Repository.swiftSources {
            let name = String(path.split(separator: "/").last ?? "")
            #expect(name.firstMatch(of: file) == nil, "\(path)")
            for (index, line) in source.code.enumerated() {
                guard bare.contains(where: { line.contains($0) }), line.firstMatch(of: type) != nil,
                    line.firstMatch(of: exempt) == nil
                else {
                    continue
                }
                Issue.record("\(path):\(index + 1): \(line)")
            }
        }
        for folder in Repository.sourceTargets where folder != "WebServices" {
            #expect(folder.firstMatch(of: try Regex("\(word)$")) == nil, "Sources/\(folder)")
        }
    }

    @Test("Nothing is left for later in a comment")
    func promises() {
        let words = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]
        let suffixes = [".swift", ".c", ".h", ".md", ".py", ".sh", ".sql", ".json5", "Makefile"]
        for path in Repository.files(endingIn: suffixes) {
            for (index, line) in Repository.lines(path).enumerated() {
                let found =
                    words.contains { line.contains($0) }
                    && line.split { !($0.isLetter || $0 == "_") }
                        .contains { words.contains(String($0)) }
                #expect(!found, "\(path):\(index + 1): \(line)")
            }
        }
    }

    @Test("The server has no forced tries or casts and no deliberate crash on data")
    func traps() {
        let words = ["fatal" + "Error(", "try" + "!", "as" + "!"]
        for (path, source) in Repository.serverSources {
            for (index, line) in source.code.enumerated() {
                let found = words.contains { line.contains($0) }
                #expect(!found, "\(path):\(index + 1): \(line)")
            }
        }
    }

    @Test("Every error that is dropped says why on its line or in the comment above")
    func droppedErrors() {
        for (path, source) in Repository.serverSources {
            for (index, line) in source.code.enumerated() where Self.dropsError(line) {
                let above = source.lines[..<index].reversed().prefix {
                    $0.trimmingCharacters(in: .whitespaces).hasPrefix("//")
                }
                let isExplained = ([source.lines[index]] + above).contains {
                    $0.contains("// NB:")
                }
                #expect(isExplained, "\(path):\(index + 1): \(line)")
            }
        }
    }

    private static func dropsError(_ line: String) -> Bool {
        let word = "try" + "?"
        guard line.contains(word) else { return false }
        return line.split(separator: " ").contains {
            $0.hasSuffix(word) && $0.dropLast(word.count).allSatisfy { !$0.isLetter }
        }
    }

    @Test("Every unchecked Sendable gives its reason on the next line and is counted")
    func uncheckedSendables() {
        var counts: [String: Int] = [:]
        for (path, source) in Repository.serverSources {
            for (index, line) in source.code.enumerated()
            where line.contains("@unchecked Sendable") {
                counts[path, default: 0] += 1
                let next = index + 1 < source.lines.count ? source.lines[index + 1] : ""
                #expect(
                    next.trimmingCharacters(in: .whitespaces).hasPrefix("//"),
                    "\(path):\(index + 2) must say why")
            }
        }
        #expect(counts == Self.uncheckedSendables)
    }

    private static let stumbles = [
        "of before", "none of it", "as the other", "by whose word", "whoever", "at work",
        "of theirs", "who somebody is", "who wants",
    ]

    @Test("No page has a phrase that a reader stumbles over")
    func phrases() {
        let pages =
            Repository.files(under: "docs", endingIn: [".md"])
            + Repository.files(under: "Clients", endingIn: [".md"])
            + ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
        // The table of settings says what their declarations say.
        for path in pages where path != Self.settings {
            for phrase in Self.stumbles(in: Repository.lines(path).joined(separator: " ")) {
                Issue.record("\(path) has '\(phrase)'")
            }
        }
    }

    @Test("Nor does any comment or text of the server, of its console and of the clients")
    func commentPhrases() {
        let others =
            Repository.files(under: "Console", endingIn: [".js", ".css", ".html"])
            + Repository.files(under: "Clients", endingIn: [".swift", ".js", ".cjs"])
        let paths = Repository.serverSources.map(\.path) + others
        for path in paths {
            for text in Self.texts(Repository.lines(path)) {
                for phrase in Self.stumbles(in: text) {
                    Issue.record("\(path) has '\(phrase)': \(text)")
                }
            }
        }
    }

    /// The comments and the texts of a program, those of lines that follow each other joined.
    private static func texts(_ lines: [String]) -> [String] {
        var found: [String] = []
        var (comment, text) = ("", "")
        func end(_ joined: inout String) {
            if !joined.isEmpty { found.append(joined) }
            joined = ""
        }
        for line in lines {
            let parts = line.split(separator: "//", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { comment += " " + parts[1] } else { end(&comment) }
            let texts = line.matches(of: /["'`>]([^"'`<]+)/).map { String($0.1) }
            if texts.isEmpty { end(&text) } else { text += " " + texts.joined(separator: ". ") }
        }
        end(&comment)
        end(&text)
        return found
    }

    private static func stumbles(in line: String) -> [String] {
        let words = words(line)
        return stumbles.filter { words.contains(" \($0) ") }
    }

    private static let settings = "docs/operating/settings.md"

    /// The words of a line in small letters, with one space before and behind each.
    private static func words(_ line: String) -> String {
        " " + line.lowercased().split { !$0.isLetter }.joined(separator: " ") + " "
    }

    @Test("Committed files name nothing outside this repository")
    func outsidePaths() {
        let words = ["/wor" + "k/", ".libr" + "ary", "../sha" + "red", "/ro" + "ot/"]
        for path in Repository.files() {
            for (index, line) in Repository.lines(path).enumerated() {
                let found = words.contains { line.contains($0) }
                #expect(!found, "\(path):\(index + 1): \(line)")
            }
        }
    }
}
