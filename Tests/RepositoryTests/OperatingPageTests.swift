import Foundation
import Testing

/// Holds the pages for operators to the program: what they name is there, as they name it.
@Suite("Pages for operators")
struct OperatingPageTests {
    private static let pages =
        ["docs/operating.md", "docs/performance.md"]
        + Repository.files(under: "docs/operating", endingIn: [".md"])

    /// Those that type commands of an installed server.
    private static let guides = Repository.files(under: "docs/guides", endingIn: [".md"]).filter {
        !["add-a-setting.md", "add-an-endpoint.md", "write-an-engine.md"].contains(
            $0.dropFirst("docs/guides/".count))
    }

    private static let allPages =
        ["README.md", "CONTRIBUTING.md"] + Repository.files(under: "docs", endingIn: [".md"])

    @Test("Every page for operators is in the table of docs/operating.md")
    func index() {
        let index = Repository.text("docs/operating.md") ?? ""
        #expect(Self.pages.count > 10)
        for page in Self.pages where page.hasPrefix("docs/operating/") {
            #expect(index.contains("](\(page.dropFirst("docs/".count)))"), "\(page)")
        }
    }

    @Test("Settings that the pages name, and those in their examples, exist", arguments: allPages)
    func settings(_ page: String) {
        let sections = Set(Self.settings.filter { $0.contains(".") }.map(Self.section))
        var named = PageText.names(in: page).map(Self.beforeColon).filter {
            $0.contains(".") && sections.contains(Self.section($0)) && !$0.hasSuffix(".conf")
                && !$0.contains(".sqlite")
                && $0.allSatisfy { $0.isLetter || $0.isNumber || $0 == "." }
        }
        for block in PageText.blocks(of: page) where block.kind == "json5" {
            let text = block.lines.joined(separator: "\n")
            named += SampleSettings.settings(in: text).map(\.name)
        }
        for name in named { #expect(Self.settings.contains(name), "\(page) names `\(name)`") }
    }

    @Test("Environment variables that the pages name are those of settings", arguments: allPages)
    func variables(_ page: String) {
        let sample = Repository.text("config/lenticular.json5") ?? ""
        for name in PageText.names(in: page).map({ String($0.prefix { $0 != "=" }) })
        where name.hasPrefix("LENTICULAR_") && !Self.otherVariables.contains(name) {
            #expect(sample.contains("// \(name)\n"), "\(page) names `\(name)`")
        }
    }

    @Test("Metrics that the pages name exist", arguments: allPages)
    func metrics(_ page: String) {
        for name in PageText.names(in: page)
        where name.hasPrefix("lenticular_") && name.allSatisfy({ $0.isLetter || $0 == "_" }) {
            #expect(Self.metricNames.contains(name), "\(page) names `\(name)`")
        }
    }

    @Test("Commands and options that the pages name exist", arguments: pages + guides)
    func commands(_ page: String) {
        let (commands, options) = Self.declaredCommands()
        let groups = Set(
            commands.filter { $0.contains(" ") }.map { String($0.prefix { $0 != " " }) })
        for line in Self.written(in: page) {
            let isWhole = line.first == "lenticular"
            let words = isWhole ? Array(line.dropFirst()) : line
            guard let first = words.first, !first.hasPrefix("-") else { continue }
            let isCommand = (1...3).contains {
                commands.contains(words.prefix($0).joined(separator: " "))
            }
            guard isWhole || isCommand || groups.contains(first) else { continue }
            #expect(isCommand, "\(page): \(words.joined(separator: " "))")
            for word in words where word.hasPrefix("--") {
                let isNamed = commands.contains { $0.hasSuffix(" \(word)") }
                let name = String(word.dropFirst(2))
                #expect(
                    isNamed || options.contains(name), "\(page): \(words.joined(separator: " "))")
            }
        }
    }

    @Test("What the page of troubles quotes is what the server says")
    func messages() {
        let sources = Repository.serverSources.map { $0.source.lines.joined(separator: "\n") }
        let quoted = PageText.names(in: "docs/operating/trouble.md").filter {
            $0.split(separator: " ").count > 3
        }
        #expect(quoted.count > 10)
        for message in quoted {
            #expect(sources.contains { $0.contains(message) }, "nothing says '\(message)'")
        }
    }

    // MARK: - What the program has

    /// The beginning of all of them, and those that tests read.
    private static let otherVariables: Set = [
        "LENTICULAR_", "LENTICULAR_SEED", "LENTICULAR_STEPS", "LENTICULAR_TALLY",
        "LENTICULAR_TIMING",
    ]

    private static let settings = Set(
        SampleSettings.settings(in: Repository.text("config/lenticular.json5") ?? "").map(\.name))

    static let metricNames: Set<String> = {
        let name = /"(lenticular_[a-z_]+)"/
        var names: Set<String> = []
        for (_, source) in Repository.serverSources {
            for line in source.lines where line.contains("\"lenticular_") {
                names.formUnion(line.matches(of: name).map { String($0.1) })
            }
        }
        return names
    }()

    private static func section(_ name: String) -> String { String(name.prefix { $0 != "." }) }

    /// `accounts.signUp` of `accounts.signUp: "open"`.
    private static func beforeColon(_ name: String) -> String { String(name.prefix { $0 != ":" }) }

    private static func declaredCommands() -> (commands: Set<String>, options: Set<String>) {
        let command = /Command\(\s*"([a-z -]+)"/
        let option = /CommandOption\(\s*"([a-z-]+)"/
        var commands: Set = ["help"]
        var options: Set = ["help"]
        for (path, source) in Repository.serverSources
        where path.hasPrefix("Sources/Program/") {
            let text = source.lines.joined(separator: "\n")
            commands.formUnion(text.matches(of: command).map { String($0.1) })
            options.formUnion(text.matches(of: option).map { String($0.1) })
        }
        return (commands, options)
    }

    /// The words of each command that a page writes down, and of all else that it has between backticks.
    private static func written(in page: String) -> [[String]] {
        var lines: [String] = []
        for block in PageText.blocks(of: page) where ["sh", "console"].contains(block.kind) {
            var isContinued = false
            for line in block.lines {
                let text = line.hasSuffix("\\") ? String(line.dropLast()) : line
                if isContinued { lines[lines.count - 1] += text } else { lines.append(text) }
                isContinued = line.hasSuffix("\\")
            }
        }
        let named = PageText.names(in: page).filter { $0.contains(" ") }
        return (lines.filter { $0.hasPrefix("lenticular ") } + named).map {
            $0.split(separator: " ").map(String.init)
        }
    }
}
