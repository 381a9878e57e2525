import Foundation
import Testing

@Suite("Documentation")
struct DocumentationTests {
    @Test("Links between the pages lead somewhere")
    func links() throws {
        let link = try Regex("\\]\\(([^)\\s]+)\\)", as: (Substring, Substring).self)
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

    @Test("Every setting of the sample configuration is in docs/operating.md")
    func settings() throws {
        let page = Repository.text("docs/operating.md") ?? ""
        let sample = "config/lenticular.json5"
        guard let text = Repository.text(sample) else { return }
        let names = SettingNames.dotted(in: text)
        #expect(!names.isEmpty)
        for name in names {
            #expect(page.contains("`\(name)`"), "docs/operating.md does not name \(name)")
        }
    }

    @Test("Every endpoint has its heading on a page under docs/protocol")
    func endpoints() throws {
        let table = "Sources/WebServices/RouteTable.swift"
        guard let text = Repository.text(table) else { return }
        let pages = Repository.files(under: "docs/protocol", endingIn: [".md"])
            .compactMap(Repository.text).joined(separator: "\n")
        let entities = "(records|zones|changes|users|assets|subscriptions|tokens)"
        let route = try Regex(
            "\"(\(entities)/[a-z/]+)\"", as: (Substring, Substring, Substring).self)
        let paths = Set(text.matches(of: route).map { String($0.1) })
        #expect(!paths.isEmpty)
        for path in paths.sorted() {
            #expect(pages.contains("`\(path)`"), "docs/protocol does not describe \(path)")
        }
    }

    @Test("The pages that a newcomer looks for are there")
    func pages() {
        for page in [
            "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "docs/ARCHITECTURE.md",
            "docs/STYLE.md", "docs/operating.md", "docs/protocol/overview.md",
            "docs/protocol/faults.md", "docs/protocol/sync-tokens.md", "docs/protocol/glossary.md",
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
