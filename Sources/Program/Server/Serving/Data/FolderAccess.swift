import Control
import Files

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The owner of a data folder, and what to run when this process may not use it.
package enum FolderAccess {
    /// Says what stops this process from using the folder, and the command that mends it.
    ///
    /// - Parameter names: what in the folder is looked at, where it is there.
    /// - Throws: `CommandFailure`.
    static func require(_ folder: String, names: [String]) throws(CommandFailure) {
        for path in [folder] + names.map({ "\(folder)/\($0)" }) {
            var status = stat()
            guard stat(path, &status) == 0 else {
                if errno == ENOENT || errno == ENOTDIR { continue }
                throw CommandFailure("cannot look at \(path): \(reason())")
            }
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            guard faccessat(AT_FDCWD, path, R_OK | W_OK | (isFolder ? X_OK : 0), AT_EACCESS) != 0
            else { continue }
            guard errno == EACCES || errno == EPERM else {
                throw CommandFailure("\(path) cannot be used: \(reason())")
            }
            throw CommandFailure(mending(path, of: status.st_uid, isFolder: isFolder, in: folder))
        }
    }

    /// Gives what root has made in a folder to the folder's owner, so that their server can use it.
    ///
    /// Does nothing for anybody but root, and in root's own folders.
    package static func giveToOwner(of folder: String) {
        var status = stat()
        guard geteuid() == 0, stat(folder, &status) == 0, status.st_uid != 0 else { return }
        // NB: what cannot be given away is named by the server's start, with the command for it.
        try? give(to: status.st_uid, status.st_gid, below: folder)
    }

    private static func give(to user: uid_t, _ group: gid_t, below folder: String) throws {
        for name in try FileSystem.names(in: folder) {
            let path = "\(folder)/\(name)"
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            if status.st_uid == 0 { lchown(path, user, group) }
            if status.st_mode & S_IFMT == S_IFDIR { try give(to: user, group, below: path) }
        }
    }

    private static func mending(
        _ path: String, of owner: uid_t, isFolder: Bool, in folder: String
    ) -> String {
        let user = geteuid()
        guard owner != user else {
            return "the mode of \(path) keeps its owner out; "
                + "run: chmod \(isFolder ? "700" : "600") \(quoted(path))"
        }
        let given = "sudo chown -R \(name(of: user)) \(quoted(folder))"
        guard path == folder else {
            return "\(path) belongs to \(name(of: owner)), and this runs as \(name(of: user)); "
                + "run: \(given)"
        }
        return
            "\(path) belongs to \(name(of: owner)), and this runs as \(name(of: user)); run it as "
            + "its owner (sudo -u \(name(of: owner)) lenticular …), or give the folder over: \(given)"
    }

    private static func name(of user: uid_t) -> String {
        guard let entry = getpwuid(user), let name = entry.pointee.pw_name else { return "\(user)" }
        return String(cString: name)
    }

    /// A path as a shell takes it.
    static func quoted(_ path: String) -> String {
        let isPlain = path.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "/._-+".utf8.contains(byte)
            }
        }
        return isPlain ? path : "'\(path.replacing("'", with: "'\\''"))'"
    }

    private static func reason() -> String { String(cString: strerror(errno)) }
}
