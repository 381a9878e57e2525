import Dispatch
import SQLite
import Storage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension SQLiteCatalog {
    private static let pagesPerStep = 128
    private static let rowsPerStep = 4
    /// How long readers are left alone between two attempts to empty the log.
    private static let readerMicroseconds: UInt32 = 20_000

    /// Overwrites what was deleted before: the pages that are free, and the log.
    ///
    /// - Throws: `OverwritingEnded`, and as `write`.
    func overwriteDeleted(while goesOn: () -> Bool) throws {
        try inSteps(goesOn) { try ErasedSpace($0.connection).clear(rowsMax: Self.rowsPerStep) }
        try inSteps(goesOn) { try ErasedSpace($0.connection).fill(pagesMax: Self.pagesPerStep) }
        try inSteps(goesOn) { try ErasedSpace($0.connection).clear(rowsMax: Self.rowsPerStep) }
        while !emptyLog() {
            guard goesOn() else { throw OverwritingEnded() }
            usleep(Self.readerMicroseconds)
        }
    }

    private func inSteps(
        _ goesOn: () -> Bool, _ step: (CatalogConnection) throws -> Bool
    ) throws {
        while try !write(endsWhatWasTrue: false, step) {
            guard goesOn() else { throw OverwritingEnded() }
        }
    }
}
