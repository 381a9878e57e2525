import Foundation

/// The files of this repository as they stand in the working copy.
enum Repository {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Every file under a folder, as paths from the root, in order; build products are left out.
    static func files(under folder: String = "", endingIn suffixes: [String] = [""]) -> [String] {
        let start = folder.isEmpty ? root : root.appendingPathComponent(folder)
        guard let names = FileManager.default.subpaths(atPath: start.path) else { return [] }
        let prefix = folder.isEmpty ? "" : folder + "/"
        return names.map { prefix + $0 }
            .filter { path in
                let parts = path.split(separator: "/")
                return suffixes.contains { path.hasSuffix($0) }
                    && !parts.contains { leftOut.contains(String($0)) || $0.hasSuffix(".pyc") }
                    && !isFolder(path)
            }
            .sorted()
    }

    private static let leftOut: Set<String> = [
        ".build", ".build-postgres", ".git", ".swiftpm", "__pycache__", ".DS_Store", "data",
    ]

    static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        let full = root.appendingPathComponent(path).path
        return FileManager.default.fileExists(atPath: full, isDirectory: &isFolder)
            && isFolder.boolValue
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appendingPathComponent(path).path)
    }

    /// The text of a file, or nil when it is missing or no UTF-8.
    static func text(_ path: String) -> String? {
        guard
            let data = FileManager.default.contents(atPath: root.appendingPathComponent(path).path)
        else { return nil }
        return String(bytes: data, encoding: .utf8)
    }

    static func lines(_ path: String) -> [String] {
        (text(path) ?? "").split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// Every Swift file but the manifest, read once for all tests.
    static let swiftSources: [(path: String, source: SwiftSource)] =
        files(endingIn: [".swift"]).filter { $0 != "Package.swift" }
        .map { ($0, SwiftSource(text($0) ?? "")) }

    /// Those of the server itself.
    static var serverSources: [(path: String, source: SwiftSource)] {
        swiftSources.filter { $0.path.hasPrefix("Sources/") }
    }

    /// The folders in the parts of `Sources/`: the targets, but for those that live elsewhere.
    static var sourceTargets: [String] {
        let names = Set(files(under: "Sources").map { String($0.split(separator: "/")[2]) })
        return names.sorted()
    }
}
