import ChildProcesses
import Foundation
import Testing

@Suite("Migrations")
struct MigrationTests {
    private static let list = "migrations/released.sha256"

    /// Paths and checksums, in the form that `sha256sum` prints.
    private static var released: [(checksum: String, path: String)] {
        Repository.lines(list).filter { !$0.isEmpty && !$0.hasPrefix("#") }.compactMap { line in
            let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { return nil }
            return (parts[0], parts[1].trimmingCharacters(in: .whitespaces))
        }
    }

    @Test("A released migration is never edited")
    func checksums() throws {
        #expect(Repository.exists(Self.list))
        for (checksum, path) in Self.released {
            #expect(try Self.sha256(path) == checksum, "\(path)")
        }
    }

    @Test("Migrations are numbered without gaps, named for their purpose, and compiled in")
    func names() throws {
        let embedding = Repository.text("migrations/sqlite/embed.c") ?? ""
        let name = try Regex("^[0-9]{4}-[a-z0-9-]+\\.sql$")
        for kind in ["catalog", "store"] {
            let folder = "migrations/sqlite/\(kind)"
            let files = Repository.files(under: folder, endingIn: [".sql"])
            #expect(!files.isEmpty)
            for (index, path) in files.enumerated() {
                let file = String(path.dropFirst(folder.count + 1))
                #expect(file.firstMatch(of: name) != nil, "\(path)")
                #expect(Int(file.prefix(4)) == index + 1, "\(path)")
                #expect(embedding.contains("#embed \"\(kind)/\(file)\""), "\(path)")
                #expect(embedding.contains("{\"\(file.dropLast(4))\","), "\(path)")
            }
        }
    }

    /// How many migrations of each kind each release has had, oldest first.
    ///
    /// A release is a line that starts with `# Version`; what follows it came with that release.
    private static var releases: [(name: String, catalog: Int, store: Int)] {
        var found: [(name: String, catalog: Int, store: Int)] = []
        for line in Repository.lines(list) {
            if line.hasPrefix("# Version") {
                found.append((line, found.last?.catalog ?? 0, found.last?.store ?? 0))
            } else if !line.isEmpty, !line.hasPrefix("#"), !found.isEmpty {
                if line.contains("/catalog/") { found[found.count - 1].catalog += 1 }
                if line.contains("/store/") { found[found.count - 1].store += 1 }
            }
        }
        return found
    }

    @Test("Every release's data folder is kept, so that each later schema is tried on it")
    func fixtures() throws {
        #expect(!Self.releases.isEmpty)
        #expect(
            Self.released.count
                == (Self.releases.last.map { $0.catalog + $0.store } ?? 0),
            "each checksum stands under the release that it came with")
        for release in Self.releases {
            let name = "catalog-\(release.catalog)-store-\(release.store).tar.gz"
            #expect(
                Repository.exists("Tests/ServerTests/Fixtures/\(name)"),
                "\(release.name): make \(name), see the page beside it")
        }
    }

    private static func sha256(_ path: String) throws -> String {
        let process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        #if os(macOS)
            process.arguments = ["shasum", "-a", "256", path]
        #else
            process.arguments = ["sha256sum", path]
        #endif
        process.currentDirectoryURL = Repository.root
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.readToEnd()
        process.waitUntilExit()
        return String(bytes: data.prefix(64), encoding: .utf8) ?? ""
    }
}
