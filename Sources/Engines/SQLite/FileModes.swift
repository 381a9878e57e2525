import CSQLite
import Files
import Platform

/// Files that only their owner may open, whatever the umask.
package enum FileModes {
    /// Makes the file with mode 0600 when there is none; an existing one stays as it is.
    ///
    /// - Throws: `SQLiteError` (CANTOPEN) with the system's reason.
    package static func makePrivateFile(_ path: String) throws {
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if file >= 0 {
            close(file)
        } else if errno != EEXIST {
            throw cannot("make", path)
        }
    }

    /// Brings a file's content, or a folder's entries, to the disk.
    ///
    /// - Throws: `SQLiteError` (IOERR) with the system's reason.
    static func synchronize(_ path: String) throws {
        do { try FileSystem.synchronize(path) } catch {
            throw SQLiteError(code: SQLITE_IOERR, message: "\(error)", systemError: error.code)
        }
    }

    /// The folder that holds the file or folder of this path.
    static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    static func cannot(_ what: String, _ path: String) -> SQLiteError {
        let code = errno
        return SQLiteError(
            code: [ENOSPC, EDQUOT].contains(code) ? SQLITE_FULL : SQLITE_CANTOPEN,
            message: reason(what, path), systemError: code)
    }

    private static func reason(_ what: String, _ path: String) -> String {
        "cannot \(what) \(path): \(String(cString: strerror(errno)))"
    }
}
