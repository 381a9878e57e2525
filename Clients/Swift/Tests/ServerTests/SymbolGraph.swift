import Foundation
import XCTest

/// The public names of a module, as the compiler knows them.
struct SymbolGraph {
    struct Symbol {
        /// As a path, such as `CKDatabase.record(for:)`.
        let name: String
        let kind: String
        let comment: String
        let declaration: String
    }

    let symbols: [Symbol]

    private struct File: Decodable {
        struct Entry: Decodable {
            struct Kind: Decodable { let identifier: String }
            struct Identifier: Decodable { let precise: String }
            struct Comment: Decodable {
                struct Line: Decodable { let text: String }
                let lines: [Line]
            }
            struct Fragment: Decodable { let spelling: String }

            let kind: Kind
            let identifier: Identifier
            let pathComponents: [String]
            let docComment: Comment?
            let declarationFragments: [Fragment]?
        }

        let symbols: [Entry]
    }

    /// - Throws: `XCTSkip` without the toolchain's program.
    init(of module: String) throws {
        let built = try BuiltPackage()
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("symbols-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let machine = try RunningProgram.run(["uname", "-m"]).output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let done = try RunningProgram.run(
            [
                "swift-symbolgraph-extract", "-module-name", module, "-target",
                "\(machine)-unknown-linux-gnu", "-minimum-access-level", "public", "-output-dir",
                folder.path,
            ] + built.moduleArguments)
        if done.status == 127 { throw XCTSkip("no swift-symbolgraph-extract in the PATH") }
        guard done.status == 0 else { throw CocoaError(.fileReadUnknown) }
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        symbols = try files.flatMap { file in
            let data = try Data(contentsOf: folder.appendingPathComponent(file))
            return try JSONDecoder().decode(File.self, from: data).symbols
                // What comes with conformances is nobody's to document.
                .filter { !$0.identifier.precise.contains("::SYNTHESIZED::") }
                .map { entry in
                    Symbol(
                        name: entry.pathComponents.joined(separator: "."),
                        kind: entry.kind.identifier,
                        comment: (entry.docComment?.lines ?? []).map(\.text)
                            .joined(separator: "\n"),
                        declaration: (entry.declarationFragments ?? []).map(\.spelling).joined())
                }
        }
    }

    /// Every name, also by the names that types have within others.
    var names: Set<String> {
        var names = Set(symbols.map(\.name))
        for alias in symbols where alias.kind == "swift.typealias" {
            guard let type = alias.declaration.components(separatedBy: " = ").last else { continue }
            for symbol in symbols where symbol.name.hasPrefix("\(type).") {
                names.insert(alias.name + symbol.name.dropFirst(type.count))
            }
        }
        return names
    }
}
