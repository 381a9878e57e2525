import CloudModel
import Foundation
import Testing
import WebServices

@Suite("Documentation")
struct DocumentationTests {
    @Test("Links between the pages lead somewhere, and their pictures are there")
    func links() throws {
        let link = try Regex(
            "(?:\\]\\(|src=\")([^)\"\\s]+)[)\"]", as: (Substring, Substring).self)
        for page in Repository.files(endingIn: [".md"]) {
            let folder = (page as NSString).deletingLastPathComponent
            for match in (Repository.text(page) ?? "").matches(of: link) {
                let target = String(match.1)
                guard !target.contains("://"), !target.hasPrefix("mailto:") else { continue }
                let parts = target.split(
                    separator: "#", maxSplits: 1, omittingEmptySubsequences: false
                ).map(String.init)
                var path = page
                if !parts[0].isEmpty {
                    path = (folder as NSString).appendingPathComponent(parts[0])
                    path = URL(fileURLWithPath: "/" + path).standardized.path
                    path.removeFirst()
                }
                #expect(Repository.exists(path), "\(page) links to \(target)")
                guard parts.count == 2, path.hasSuffix(".md") else { continue }
                #expect(
                    Self.anchors(path).contains(parts[1]), "\(page) links to \(target)")
            }
        }
    }

    @Test("Every setting is in docs/operating/settings.md with its default")
    func settings() throws {
        let page = Repository.text("docs/operating/settings.md") ?? ""
        let sample = try #require(Repository.text("config/lenticular.json5"))
        let settings = SampleSettings.settings(in: sample)
        #expect(settings.count > 30)
        for setting in settings {
            let row = "| `\(setting.name)` | `\(setting.fallback)` |"
            #expect(page.contains(row), "docs/operating/settings.md has no row that starts \(row)")
        }
    }

    @Test("Every metric is in docs/operating/watching.md")
    func metrics() {
        let page = Repository.text("docs/operating/watching.md") ?? ""
        let names = OperatingPageTests.metricNames
        #expect(names.count > 40)
        for name in names { #expect(page.contains("`\(name)`"), "\(name)") }
    }

    @Test("Every endpoint has its heading on a page under docs/protocol")
    func endpoints() {
        let headings = Set(
            Repository.files(under: "docs/protocol", endingIn: [".md"])
                .flatMap(Repository.lines).filter { $0.hasPrefix("## `") })
        #expect(!RouteTable.operations.isEmpty)
        for operation in RouteTable.operations {
            #expect(headings.contains("## `\(operation)`"), "\(operation)")
        }
    }

    @Test("The part fairness of the benchmark has a row for every endpoint")
    func benchmarkRows() {
        let rows = Repository.lines("Benchmarks/endpoints.py")
            .drop { !$0.hasPrefix("REQUESTS = {") }.prefix { $0 != "}" }
            .filter { $0.hasPrefix("    \"") && $0.contains("\": (") }
            .compactMap { $0.split(separator: "\"").dropFirst().first.map(String.init) }
        #expect(rows.sorted() == RouteTable.operations)
    }

    @Test(
        "The line that moves a page sends all of what Apple's script asks for here, and nothing else"
    )
    func movingPage() throws {
        let page = Repository.text("docs/protocol/moving-a-page.md") ?? ""
        #expect(page.contains("**the user's web token** along, to Apple"))
        let line = page.split(separator: "\n").first { $0.contains("services: {fetch:") } ?? ""
        let parts = try #require(
            line.firstMatch(of: /replace\(\/(.+)\/, '([^']+)'\), options\)/))
        let pattern = try NSRegularExpression(
            pattern: String(parts.output.1).replacing("\\/", with: "/"))
        func moved(_ url: String) -> String {
            pattern.stringByReplacingMatches(
                in: url, range: NSRange(url.startIndex..., in: url),
                withTemplate: String(parts.output.2))
        }
        let path = "/device/1/iCloud.a/production/tokens/create?ckWebAuthToken=x"
        for host in ["api", "feedbackws", "p33-ckdatabasews"] {
            for port in ["", ":443"] {
                let url = "https://\(host).apple-cloudkit.com\(port)\(path)"
                #expect(moved(url) == "https://sync.example.org\(path)")
            }
        }
        for url in [
            "https://sync.example.org\(path)", "https://a.example/https://api.apple-cloudkit.com/",
            "https://api.apple-cloudkit.com.a.example/",
        ] { #expect(moved(url) == url) }
    }

    @Test("The table of faults' details is that of the code")
    func details() {
        let rows = Repository.lines("docs/protocol/faults.md").drop { $0 != "## Details" }
            .dropFirst().prefix { !$0.hasPrefix("## ") }
            .filter { $0.hasPrefix("| `") }.dropFirst().map { String($0.split(separator: "`")[1]) }
        #expect(rows == FaultDetail.allCases.map(\.rawValue))
    }

    @Test("Rules that comments name by number stand in docs/protocol")
    func numberedRules() throws {
        let rulings = Repository.text("docs/protocol/rulings.md") ?? ""
        let sections = Repository.text("docs/protocol/web-services.md") ?? ""
        let ruling = try Regex(
            "rulings\\.md ([0-9]+)(?: and ([0-9]+))?",
            as: (Substring, Substring, Substring?).self)
        let section = try Regex(
            "web-services\\.md (§[0-9.]*[0-9])", as: (Substring, Substring).self)
        for path in Repository.files(endingIn: [".swift", ".sql", ".c", ".h"]) {
            let text = Repository.text(path) ?? ""
            for match in text.matches(of: ruling) {
                for number in [match.1, match.2].compactMap({ $0 }) {
                    #expect(rulings.contains("\n\(number). "), "\(path): ruling \(number)")
                }
            }
            for match in text.matches(of: section) {
                #expect(sections.contains("| \(match.1) |"), "\(path): section \(match.1)")
            }
        }
    }

    @Test(
        "Types, files and targets that the map and the page of storage name exist",
        arguments: [PackageLayers.page, "docs/design/storage.md"])
    func symbols(page: String) throws {
        let name = try Regex("`([A-Z][A-Za-z0-9]+)`", as: (Substring, Substring).self)
        let declaration = try Regex(
            "(struct|class|enum|protocol|actor|typealias) ([A-Z][A-Za-z0-9]+)",
            as: (Substring, Substring, Substring).self)
        var known: Set = ["Foundation", "Glibc", "Darwin", "Dispatch", "Synchronization"]
        known.formUnion(PackageLayers.table.map(\.target))
        for (path, source) in Repository.swiftSources {
            // Pages name files and folders, too.
            known.formUnion(
                path.split(separator: "/").map {
                    String($0).replacingOccurrences(of: ".swift", with: "")
                })
            for line in source.code where line.contains(" ") {
                guard let match = line.firstMatch(of: declaration) else { continue }
                known.insert(String(match.2))
            }
        }
        for match in (Repository.text(page) ?? "").matches(of: name) {
            if !known.contains(String(match.1)) { Issue.record("\(page) names \(match.1)") }
        }
    }

    @Test("Every table of the schema is in the glossary")
    func glossary() throws {
        let change = try Regex(
            "(?m)^(CREATE|DROP)(?: VIRTUAL)? TABLE ([a-z_]+)",
            as: (Substring, Substring, Substring).self)
        var tables: Set<String> = []
        for path in Repository.files(under: "migrations/sqlite", endingIn: [".sql"]).sorted() {
            for match in (Repository.text(path) ?? "").matches(of: change) {
                if match.1 == "CREATE" {
                    tables.insert(String(match.2))
                } else {
                    tables.remove(String(match.2))
                }
            }
        }
        #expect(tables.count > 30)
        let name = try Regex("`([a-z_]{2,})`", as: (Substring, Substring).self)
        let page = Repository.lines("docs/glossary.md").filter { $0.hasPrefix("|") }
        let explained = Set(page.flatMap { $0.matches(of: name).map { String($0.1) } })
        for table in tables.sorted() {
            #expect(explained.contains(table), "docs/glossary.md does not explain `\(table)`")
        }
    }

    @Test("The pages that a newcomer looks for are there")
    func pages() {
        for page in [
            "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "docs/ARCHITECTURE.md",
            "docs/STYLE.md", "docs/operating.md", "docs/performance.md",
            "docs/protocol/overview.md",
            "docs/protocol/faults.md", "docs/protocol/sync-tokens.md", "docs/glossary.md",
        ] {
            #expect((Repository.text(page)?.count ?? 0) > 200, "\(page)")
        }
    }

    /// The anchors of a page's headings, as the usual renderers make them.
    private static func anchors(_ page: String) -> Set<String> {
        Set(
            Repository.lines(page).filter { $0.hasPrefix("#") }.map { heading in
                heading.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
                    .filter { $0.isLetter || $0.isNumber || "- _".contains($0) }
                    .replacingOccurrences(of: " ", with: "-")
            })
    }
}
