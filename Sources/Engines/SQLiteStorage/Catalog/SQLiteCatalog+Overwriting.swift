import Platform
import Storage

extension SQLiteCatalog {
    /// How long readers are left alone between two attempts to empty the log.
    private static let readerMicroseconds: UInt32 = 20_000

    /// Overwrites what was deleted before: the connection has done so in the file, and the log is emptied.
    ///
    /// - Throws: `OverwritingEnded`, and as `write`.
    func overwriteDeleted(while goesOn: () -> Bool) throws {
        while !emptyLog() {
            guard goesOn() else { throw OverwritingEnded() }
            usleep(Self.readerMicroseconds)
        }
    }
}
