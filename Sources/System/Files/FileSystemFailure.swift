import Platform

/// Why something was not done with a file or folder: one line that names it.
package struct FileSystemFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String
    /// What the system reported, as `errno` has it; 0 where it was asked nothing.
    package let code: Int32

    package init(_ description: String, code: Int32 = 0) {
        self.description = description
        self.code = code
    }

    /// Whether there was no room on the disk, or none left to this user.
    package var isFull: Bool { code == ENOSPC || code == EDQUOT }
}
