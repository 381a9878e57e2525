import Cryptography
import Testing

@Suite("Migrations")
struct MigrationTests {
    @Test("Migrations are numbered without gaps, named for their purpose, and compiled in")
    func names() throws {
        let name = try Regex("^[0-9]{4}-[a-z0-9-]+\\.sql$")
        let kinds = Set(
            Repository.files(under: "migrations", endingIn: [".sql"]).map { path in
                path.split(separator: "/").dropLast().map(String.init)
            })
        #expect(!kinds.isEmpty)
        for path in kinds {
            #expect(path.count == 3, "\(path)")
            let (engine, kind) = (path[1], path[path.count - 1])
            let embedding = Repository.text("migrations/\(engine)/embed.c") ?? ""
            let folder = "migrations/\(engine)/\(kind)"
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

    @Test("The migrations of every engine are among those of releases")
    func engines() throws {
        let released = try #require(Repository.text("migrations/released.sha256"))
        for path in Repository.files(under: "migrations", endingIn: [".sql"]) {
            let engine = path.split(separator: "/")[1]
            #expect(released.contains("  \(engine)/"), "\(path)")
        }
    }

    /// What a release contains is what databases out there say that they are made of.
    @Test("No migration of a release was changed since, and none was taken out")
    func released() throws {
        let lines = (Repository.text("migrations/released.sha256") ?? "").split(separator: "\n")
        for line in lines {
            let words = line.split(separator: " ").map(String.init)
            let path = "migrations/\(words.last ?? "")"
            let text = try #require(Repository.text(path), "\(path) is of a release, and missing")
            let digest = Hexadecimal.encode(SHA256.digest(Array(text.utf8)))
            #expect(
                digest == words.first,
                """
                \(path) is of a release: a new form is a migration with the next number. Before the first release \
                is tagged only: (cd migrations && sha256sum */*/*.sql >released.sha256)
                """)
        }
    }
}
