import Testing

@Suite("Migrations")
struct MigrationTests {
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
}
