import CSQLite
import Platform

/// A failure that SQLite reported.
package struct SQLiteError: Error, Sendable, CustomStringConvertible {
    /// What the failure means to the caller that has to react.
    package enum Kind: Sendable {
        /// The disk or the file's page limit is full; nothing was written.
        case full
        /// Reading or writing the file failed. From COMMIT the outcome is unknown.
        case inputOutput
        case outOfMemory
        case busy
        case constraint
        case corrupt
        /// The process, or the system, has as many files open as it may; a moment later it may have fewer.
        case tooManyFiles
        /// A read went past its deadline.
        case interrupted
        /// The file could not be opened.
        case unopened
        case other
    }

    /// The extended result code, as `sqlite3.h` lists them.
    package let code: Int32
    package let message: String
    /// The system's error where a file could not be opened; 0 for none.
    private let systemError: Int32

    /// What a write gets that is refused because the disk was full a moment ago.
    package static let diskFull = SQLiteError(
        code: SQLITE_FULL, message: "database or disk is full")

    package init(code: Int32, message: String, systemError: Int32 = 0) {
        self.code = code
        self.message = message
        self.systemError = systemError
    }

    package var kind: Kind {
        switch code & 0xff {
        case SQLITE_FULL: .full
        case SQLITE_IOERR: .inputOutput
        case SQLITE_NOMEM: .outOfMemory
        case SQLITE_BUSY, SQLITE_LOCKED: .busy
        case SQLITE_CONSTRAINT: .constraint
        case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
        case SQLITE_INTERRUPT: .interrupted
        case SQLITE_CANTOPEN where systemError == EMFILE || systemError == ENFILE: .tooManyFiles
        case SQLITE_CANTOPEN: .unopened
        default: .other
        }
    }

    /// SQLITE_IOERR_SHMSIZE, which is no constant in Swift.
    private static let logIndexCannotGrow = SQLITE_IOERR | 19 << 8

    /// Whether there was no room for what an opening needs beside the file: nothing is wrong with the file.
    ///
    /// Of a COMMIT it says nothing: the index of a log is made longer after the log has been written.
    package var isOpeningWithoutRoom: Bool {
        kind == .full || code == Self.logIndexCannotGrow
            || kind == .unopened && (systemError == ENOSPC || systemError == EDQUOT)
    }

    /// Whether the connection that met it is better opened again.
    var endsConnection: Bool {
        switch kind {
        case .inputOutput, .corrupt, .outOfMemory: true
        default: false
        }
    }

    package var description: String { "SQLite \(code): \(message)" }
}
