import Foundation

/// The table of targets in `docs/ARCHITECTURE.md`, and what `Package.swift` declares.
enum PackageLayers {
    struct Row {
        let target: String
        let sentence: String
        let mayImport: Set<String>
        let never: String
    }

    static let page = "docs/ARCHITECTURE.md"

    /// The rows of the table whose head starts with `| target |`.
    static var table: [Row] {
        var rows: [Row] = []
        var isInside = false
        for line in Repository.lines(page) {
            guard line.hasPrefix("|") else {
                isInside = false
                continue
            }
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .dropFirst().dropLast().map { $0.trimmingCharacters(in: .whitespaces) }
            if cells.first == "target" { isInside = true }
            guard isInside, cells.count == 4, cells[0].hasPrefix("`") else { continue }
            for target in quoted(cells[0]) {
                rows.append(
                    Row(
                        target: target, sentence: cells[1], mayImport: Set(quoted(cells[2])),
                        never: cells[3]))
            }
        }
        return rows
    }

    /// What each target of `Package.swift` under `Sources/` depends on.
    static func declared() throws -> [String: Set<String>] {
        let text = Repository.text("Package.swift") ?? ""
        var dependencies: [String: Set<String>] = [:]
        let layer = try Regex(
            "layer\\(\\s*\"(\\w+)\", in: \\.\\w+,\\s*\\[([^\\]]*)\\]",
            as: (Substring, Substring, Substring).self
        )
        for match in text.matches(of: layer) {
            dependencies[String(match.1)] = Set(names(String(match.2)))
        }
        let executable = try Regex(
            "executableTarget\\(\\s*name: \"(\\w+)\", dependencies: \\[([^\\]]*)\\]",
            as: (Substring, Substring, Substring).self)
        for match in text.matches(of: executable) {
            dependencies[String(match.1)] = Set(names(String(match.2)))
        }
        let leaf = try Regex(
            "\\.(systemLibrary|target)\\(\\s*name: \"(\\w+)\"((?:[^()])*)",
            as: (Substring, Substring, Substring, Substring).self)
        for match in text.matches(of: leaf) where !match.3.contains("path: \"Tests/") {
            dependencies[String(match.2)] = []
        }
        return dependencies
    }

    private static func quoted(_ cell: String) -> [String] {
        cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }

    private static func names(_ list: String) -> [String] {
        list.split(separator: ",").map {
            $0.trimmingCharacters(in: CharacterSet(charactersIn: " \n\""))
        }.filter { !$0.isEmpty }
    }
}
