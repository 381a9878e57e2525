import Foundation

@testable import SQLite

/// A folder of one test's own, gone with it.
final class TemporaryFolder: Sendable {
    let path: String

    /// - Parameter inMemory: in memory where there is such a folder, for tests that judge the order
    ///   of calls and need no real disk.
    init(inMemory: Bool = false) throws {
        let memory = "/dev/shm"
        let parent =
            inMemory && FileManager.default.isWritableFile(atPath: memory)
            ? memory : FileManager.default.temporaryDirectory.path
        path = parent + "/sqlite-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
    }

    deinit {
        // NB: what cannot be removed stays in the system's temporary folder.
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String = "store.sqlite") -> String { path + "/" + name }
}

extension Connection {
    /// The first column of the first row.
    func integer(_ sql: String) throws -> Int64 {
        let statement = try prepare(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.int64(0) : -1
    }

    func text(_ sql: String) throws -> String {
        let statement = try prepare(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.string(0) : ""
    }

    /// The first column of every row.
    func integers(_ sql: String) throws -> [Int64] {
        let statement = try prepare(sql)
        defer { statement.reset() }
        var found: [Int64] = []
        while try statement.step() { found.append(statement.int64(0)) }
        return found
    }
}
