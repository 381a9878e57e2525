import CloudModel
import SQLite
import Storage

/// A life of a store that goes on when the same process opens the file again.
///
/// Between the two the process had the folder alone, so that nothing of the log can have been lost: the
/// numbers go on, and no new life is recorded each time that a store comes and goes.
package struct StoreLife: Sendable {
    let identity: StoreIdentity
    /// The last position that the file had.
    let last: Position
    /// The first number that was never given out.
    let next: Position

    /// Whether a file is where this life ended, and not a copy that was put in its place.
    func goesOn(with recorded: StoreIdentity, _ position: Position) -> Bool {
        recorded.incarnation == identity.incarnation && position == last
    }
}

/// What a store leaves when it is closed.
package struct StoreRest: Sendable {
    /// When its next queued work is due; nil for none.
    package var nextWork: Milliseconds?
    /// Nil when it has not written anything, and when nobody knows what is in the file.
    package var life: StoreLife?
    /// What its writer has done.
    package var measurements: WriterMeasurements
}

/// What a file says of itself before anything is done to it.
package struct StoreFacts: Sendable, Equatable {
    /// What the catalog knows it by; nil for one of before names, and for an empty file.
    package let name: [UInt8]?
    /// The version of a schema that is about to be migrated; nil when there is nothing to migrate.
    package let formerVersion: Int?

    /// - Throws: `MigrationError` for another program's or a newer server's file, `SQLiteError`.
    init(_ connection: Connection) throws {
        formerVersion = try Migrator(StoreFile.migrations).formerVersion(connection)
        let row = try connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'properties'")
        defer { row.reset() }
        name = try row.step() ? StoreProperties(connection).name() : nil
    }

    /// Of a file that nobody need have open.
    ///
    /// - Throws: as the other.
    package init(at path: String) throws {
        try self.init(Connection(path: path, mode: .readOnly, cacheKiB: 64))
    }
}
