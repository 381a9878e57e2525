import Files
import SQLite
import Storage

/// Copies of databases as an earlier version had them, each beside its own.
///
/// A migration cannot be undone: who goes back to the version before puts the copy in the store's place.
struct FormerStores: Sendable {
    /// Whether copies are made.
    let isOn: Bool
    /// What a copy leaves free on the disk at least.
    let freeBytesMin: Int

    /// Copies a database whose schema is about to change, if there is room for it.
    ///
    /// One copy is kept: that of the version before.
    ///
    /// - Parameter version: the schema's; nil when there is nothing to migrate.
    /// - Throws: what the file system and SQLite report while copying; the database then is as it was.
    func keep(_ path: String, of version: Int?) throws -> StoreReport? {
        guard let version else { return nil }
        let copy = Self.path(of: version, beside: path)
        guard isOn, try FileSystem.kind(of: copy) == nil else {
            return .migrating(version: version, copy: isOn ? copy : nil)
        }
        let bytes = Int(FileSystem.size(of: path) + FileSystem.size(of: path + "-wal"))
        guard try FileSystem.freeBytes(at: path) - bytes >= freeBytesMin else {
            return .migrating(version: version, copy: nil)
        }
        try Backup().copy(path, to: copy)
        for former in 1..<max(version, 1) {
            FileSystem.removeFile(Self.path(of: former, beside: path))
        }
        return .migrating(version: version, copy: copy)
    }

    /// The copies that lie beside a database.
    func copies(of path: String) throws -> [String] {
        guard let folder = FileSystem.parent(of: path), try FileSystem.kind(of: folder) == .folder
        else { return [] }
        let start = "\(path.dropFirst(folder.count + 1)).v"
        return try FileSystem.names(in: folder).filter {
            $0.hasPrefix(start) && Int($0.dropFirst(start.count)) != nil
        }.map { "\(folder)/\($0)" }
    }

    static func path(of version: Int, beside path: String) -> String { "\(path).v\(version)" }
}
