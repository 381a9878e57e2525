import Foundation
import Testing
import WebServices

/// Follows the guides: what they quote and name is there, and what they promise for each addition holds.
///
/// The commands of the guides for those who use the server are run by `Tests/acceptance/guides.py`.
@Suite("Guides")
struct GuideTests {
    /// Those for people who change the server.
    private static let guides = ["add-a-setting", "add-an-endpoint", "write-an-engine"].map {
        "docs/guides/\($0).md"
    }
    /// Its page is what the tests of the JavaScript client open in a browser.
    private static let web = "docs/guides/web.md"

    @Test("Every guide is in the index, and the script of guides runs all that have commands")
    func all() {
        let index = Repository.text("docs/guides/README.md") ?? ""
        let script = Repository.text("Tests/acceptance/guides.py") ?? ""
        let pages = Repository.files(under: "docs/guides", endingIn: [".md"])
        #expect(pages.count > 12)
        for page in pages where !page.hasSuffix("/README.md") {
            let name = page.dropFirst("docs/guides/".count)
            #expect(index.contains("](\(name))"), "\(page)")
            guard page != Self.web else { continue }
            #expect(script.contains("\"\(name.dropLast(".md".count))\""), "\(page)")
        }
    }

    @Test("The page of a first web app is the file among the examples, and its script is short")
    func example() throws {
        let blocks = PageText.blocks(of: "docs/guides/first-web-app.md")
        let lines = try #require(blocks.first { $0.kind == "html" }).lines
        #expect(lines.first == "<!-- shopping.html -->")
        let file = Repository.lines("Examples/shopping.html")
        #expect(Array(lines.dropFirst()) == file.filter { !$0.isEmpty })
        let script = file.drop { !$0.hasPrefix("<script") }.prefix { $0 != "</script>" }
        #expect((30...42).contains(script.count), "\(script.count)")
    }

    @Test(
        "Code that a guide quotes stands word for word in the file that it names", arguments: guides
    )
    func quotes(_ guide: String) throws {
        let blocks = PageText.blocks(of: guide).filter { $0.kind != "sh" }
        #expect(blocks.count > 3)
        for block in blocks {
            let path = try #require(block.lines.first).dropFirst("// ".count)
            let code = block.lines.dropFirst().joined(separator: "\n")
            let text = try #require(Repository.text(String(path)), "\(guide): \(path)")
            #expect(!code.isEmpty && text.contains(code), "\(guide): not in \(path):\n\(code)")
        }
    }

    @Test("The page that the guide for the web explains is the example, word for word")
    func page() {
        let example = Repository.text("Examples/board.html") ?? ""
        let blocks = PageText.blocks(of: Self.web).filter { $0.kind == "js" }
        #expect(blocks.count > 3)
        for block in blocks {
            let code = block.lines.joined(separator: "\n")
            #expect(example.contains(code), "not in the example:\n\(code)")
        }
    }

    @Test(
        "Each file, type, function, setting and endpoint that a guide names exists",
        arguments: guides)
    func names(_ guide: String) {
        for name in PageText.names(in: guide) {
            #expect(Self.isKnown(name), "\(guide) names `\(name)`")
        }
    }

    @Test("Each command of a guide runs something that exists", arguments: guides)
    func commands(_ guide: String) {
        let commands = PageText.blocks(of: guide).filter { $0.kind == "sh" }.flatMap(\.lines)
        #expect(!commands.isEmpty)
        for command in commands {
            let words = command.split(separator: " ").map(String.init)
            switch words.prefix(2) {
            case ["swift", "test"]:
                #expect(words.count == 4 && words[2] == "--filter", "\(guide): \(command)")
                let isSuite = Self.declared.contains(words[3])
                #expect(isSuite || Repository.isFolder("Tests/\(words[3])"), "\(command)")
            case ["swift", "run"]:
                #expect(words.count > 2 && words[2] == "lenticular", "\(guide): \(command)")
                let named = words.dropFirst(3).prefix { $0 != ">" }
                for word in named { #expect(Self.commandWords.contains(word), "\(command)") }
            default: Issue.record("\(guide): \(command)")
            }
        }
    }

    @Test(
        "An endpoint has a heading, a row in the benchmark, and a test that sends a request to it")
    func endpoints() {
        let headings = Repository.files(under: "docs/protocol", endingIn: [".md"])
            .flatMap(Repository.lines)
        let rows = Repository.lines("Benchmarks/endpoints.py")
        let tests = Repository.swiftSources.filter { $0.path.hasPrefix("Tests/WebServicesTests/") }
        for operation in RouteTable.operations {
            #expect(headings.contains("## `\(operation)`"), "\(operation)")
            #expect(rows.contains { $0.hasPrefix("    \"\(operation)\": (") }, "\(operation)")
            let isTested = tests.contains { _, source in
                source.lines.contains {
                    $0.contains("/\(operation)") || $0.contains("\"\(operation)")
                }
            }
            #expect(isTested, "\(operation)")
        }
    }

    @Test("A setting is in the sample, in the table of operators, and applied by the server")
    func settings() throws {
        let sample = try #require(Repository.text("config/lenticular.json5"))
        let page = Repository.text("docs/operating/settings.md") ?? ""
        let server = Repository.serverSources.filter {
            $0.path.hasPrefix("Sources/Program/")
                && !$0.path.hasPrefix("Sources/Program/Configuration/Settings/")
        }
        let words = Set(server.flatMap { $0.source.code.flatMap(Self.words) })
        let settings = SampleSettings.settings(in: sample)
        #expect(!settings.isEmpty)
        for setting in settings {
            #expect(page.contains("| `\(setting.name)` |"), "\(setting.name)")
            let key = String(setting.name.split(separator: ".").last ?? "")
            #expect(words.contains(key), "nothing in Server applies \(setting.name)")
        }
    }

    @Test("An engine imports nothing above the contracts, and its tests try every promise")
    func engines() throws {
        let imports = try PackageLayers.declared()
        let tried = Repository.swiftSources.filter { $0.path.hasPrefix("Tests/") }
            .filter { $0.source.code.contains { $0.contains("arguments: StoragePromise.all)") } }
            .map { String($0.path.split(separator: "/")[1]) }
        let factories = Set(
            Repository.serverSources.filter {
                $0.source.code.contains { $0.contains(": EngineFactory {") }
            }
            .map { String($0.path.split(separator: "/")[2]) })
        let engines = imports.filter { factories.contains($0.key) }
        #expect(!engines.isEmpty)
        for (engine, direct) in engines {
            // What itself stands on the contracts is above them, but for what engines share.
            let above = direct.filter {
                imports[$0]?.contains("Storage") == true
                    && !Repository.isFolder("Sources/Engines/\($0)")
            }
            #expect(above.isEmpty, "\(engine) imports \(above.sorted())")
            #expect(tried.contains("\(engine)Tests"), "\(engine)")
        }
    }

    // MARK: - Names

    /// Whether a name is a path, an endpoint, a command, a setting or its variable, or declared in the sources.
    private static func isKnown(_ name: String) -> Bool {
        if Repository.exists(name) || RouteTable.operations.contains(name) { return true }
        if name.hasPrefix("lenticular ") {
            return name.split(separator: " ").dropFirst().allSatisfy {
                commandWords.contains(String($0))
            }
        }
        if name.hasPrefix("LENTICULAR_") || name.contains(".") {
            return Repository.text("config/lenticular.json5")?.contains("// \(name)\n")
                == true || settingNames.contains(name) || quotedMembers(name)
        }
        return declared.contains(String(name.prefix { $0 != "(" }))
    }

    private static let settingNames = Set(
        SampleSettings.settings(in: Repository.text("config/lenticular.json5") ?? "").map(\.name))

    /// `StoragePromise.all`: a type, and a member of that name.
    private static func quotedMembers(_ name: String) -> Bool {
        name.split(separator: ".").allSatisfy { declared.contains(String($0)) }
    }

    /// The words of every command, as their declarations quote them.
    private static let commandWords: Set<String> = {
        var found: Set<String> = []
        for (path, source) in Repository.serverSources
        where path.hasPrefix("Sources/Program/Commands/") {
            for line in source.lines {
                found.formUnion(line.split { $0 == "\"" || $0 == " " }.map(String.init))
            }
        }
        return found
    }()

    private static func words(_ line: String) -> [String] {
        line.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
    }

    /// Everything that a source, a test or the package declares by a name.
    private static let declared: Set<String> = {
        let keywords: Set = [
            "struct", "class", "enum", "protocol", "actor", "typealias", "func", "var", "let",
            "case",
        ]
        var declared: Set<String> = ["init"]
        declared.formUnion(PackageLayers.table.map(\.target))
        for (_, source) in Repository.swiftSources {
            for line in source.code {
                let words = words(line)
                for (word, next) in zip(words, words.dropFirst()) where keywords.contains(word) {
                    declared.insert(next)
                }
            }
        }
        return declared
    }()
}
