import CSQLite
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
