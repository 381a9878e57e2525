import Testing

@Suite("Layers: imports go downward only")
struct LayeringTests {
    /// Modules of the platform, which the table does not list.
    private static let platform: Set<String> = [
        "Glibc", "Musl", "Darwin", "Platform", "Dispatch", "Synchronization", "Swift",
    ]

    @Test("The table of targets lists exactly the package's targets and their dependencies")
    func tableEqualsPackage() throws {
        let declared = try PackageLayers.declared()
        let rows = PackageLayers.table
        #expect(Set(rows.map(\.target)) == Set(declared.keys))
        #expect(rows.count == Set(rows.map(\.target)).count)
        for row in rows {
            #expect(declared[row.target] == row.mayImport, "\(row.target)")
        }
    }

    @Test("Every target says in one sentence what it is, and what it never does")
    func absences() {
        let page = Repository.text(PackageLayers.page) ?? ""
        for row in PackageLayers.table {
            #expect(row.sentence.count > 10, "\(row.target)")
            #expect(row.never.lowercased().contains("never"), "\(row.target)")
        }
        for target in Repository.sourceTargets {
            #expect(page.contains("**`\(target)`**") || page.contains("`\(target)`"), "\(target)")
        }
    }

    @Test("The diagram shows every target that is more than a part of the operating system")
    func diagram() {
        let lines = Repository.lines(PackageLayers.page)
            .drop { !$0.hasPrefix("```") }.dropFirst().prefix { !$0.hasPrefix("```") }
        let words = Set(
            lines.flatMap { $0.split { !($0.isLetter || $0.isNumber) } }.map(String.init))
        for target in Repository.sourceTargets
        where !Repository.isFolder("Sources/System/\(target)") {
            #expect(words.contains(target), "\(target)")
        }
        #expect(words.contains("Files"))
    }

    @Test("A file imports only what the table allows its target")
    func imports() {
        let rows = Dictionary(uniqueKeysWithValues: PackageLayers.table.map { ($0.target, $0) })
        for (path, source) in Repository.serverSources {
            let target = String(path.split(separator: "/")[2])
            guard let row = rows[target] else {
                Issue.record("\(path): \(target) is not in the table")
                continue
            }
            let imported = Set(source.imports)
            let undeclared = imported.subtracting(row.mayImport).subtracting(Self.platform)
            #expect(undeclared.isEmpty, "\(path) imports \(undeclared.sorted())")
        }
    }

    @Test("One file of the server names the engine that keeps the data, and no other target does")
    func engines() {
        let engines = Set(
            Repository.sourceTargets.filter { Repository.isFolder("Sources/Engines/\($0)") })
        #expect(!engines.isEmpty)
        let naming = Repository.serverSources.filter { path, source in
            let target = String(path.split(separator: "/")[2])
            return !engines.contains(target) && !engines.isDisjoint(with: source.imports)
        }.map(\.0)
        #expect(
            naming == ["Sources/Program/Server/Serving/Settings/ServerConfiguration+Engine.swift"])
    }

    @Test("SQL is written in the engines only")
    func statements() {
        let words = ["SELECT", "INSERT INTO", "UPDATE", "DELETE FROM", "PRAGMA"]
        let openings = words.flatMap { ["\"\($0) ", "    \($0) "] }
        for (path, source) in Repository.serverSources {
            let target = String(path.split(separator: "/")[2])
            guard !Repository.isFolder("Sources/Engines/\(target)") else { continue }
            for (index, line) in source.lines.enumerated() {
                let found = openings.contains { line.contains($0) }
                #expect(!found, "\(path):\(index + 1): \(line)")
            }
        }
    }
}
