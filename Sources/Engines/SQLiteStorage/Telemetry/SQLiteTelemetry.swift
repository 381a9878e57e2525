import CatalogSQL
import CloudModel
import Files
import SQLite
import StoredRows
import Synchronization
import Telemetry

/// Keeps telemetry in a database of its own: one connection, used by one thread at a time.
///
/// A minute is one transaction and one fsync, so a crash loses what was counted in the minute that it came in.
package final class SQLiteTelemetry: SQLTelemetry {
    /// What the log may hold before it is moved into the file, in pages.
    private static let logPagesMax = 1_000

    private struct State {
        /// Nil once it is closed.
        var connection: Connection?
        /// Of series that were written, so that each is looked for once.
        var known: [SeriesName: Int64] = [:]
        var cleaning = CleaningPace()
    }

    package let userHash: UserHash
    private let path: String
    private let state: Mutex<State>

    /// Opens the file; makes it the first time.
    ///
    /// - Throws: `SQLiteError`, `MigrationError`.
    package init(path: String) throws {
        self.path = path
        let connection = try Connection(path: path, mode: .readWrite, cacheKiB: 2_048)
        try Schemas.telemetry.migrate(connection)
        let key = try connection.prepare("SELECT key FROM telemetry_key").first { $0.int64(0) }
        userHash = UserHash(key: UInt64(bitPattern: key ?? 0))
        state = Mutex(State(connection: connection))
    }

    package var byteCount: Int64 { FileSystem.size(of: path) + FileSystem.size(of: path + "-wal") }

    package func close() {
        state.withLock { state in
            // NB: what is in the log stays there, and the next opening reads it.
            try? state.connection?.checkpoint()
            state.connection = nil
        }
    }

    // MARK: - Writing

    package func add(_ minute: TelemetryMinute) throws {
        try state.withLock { state in
            guard let connection = state.connection else { throw TelemetryClosed() }
            do {
                try connection.transaction {
                    for (name, totals) in minute.series {
                        let series = try Self.number(of: name, &state.known, connection)
                        for step in TelemetryStep.allCases {
                            try Self.add(
                                totals, to: step, at: minute.start, of: series, connection)
                        }
                    }
                    if state.cleaning.isDue(at: minute.start),
                        try PastTelemetry.remove(
                            at: minute.start,
                            in: CatalogConnection(SQLiteCatalogSession(connection: connection))) > 0
                    {
                        state.known = [:]
                    }
                }
            } catch {
                // A number that was given out in what is undone is nobody's.
                state.known = [:]
                throw error
            }
            if connection.logPages >= Self.logPagesMax { try connection.checkpoint() }
        }
    }

    private static func number(
        of name: SeriesName, _ known: inout [SeriesName: Int64], _ connection: Connection
    ) throws -> Int64 {
        if let number = known[name] { return number }
        let found = try connection.prepare(
            """
            SELECT id FROM series WHERE container = ?1 AND environment = ?2 AND kind = ?3
                AND operation = ?4 AND database = ?5 AND client = ?6 AND version = ?7
            """
        ).first(
            name.container, name.environment, name.kind.rawValue, name.operation, name.database,
            name.client, name.version
        ) { $0.int64(0) }
        if let found {
            known[name] = found
            return found
        }
        try connection.prepare(
            """
            INSERT INTO series (container, environment, kind, operation, database, client, version)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """
        ).run(
            name.container, name.environment, name.kind.rawValue, name.operation, name.database,
            name.client, name.version)
        let made = connection.lastInsertedRowID
        known[name] = made
        return made
    }

    private static func add(
        _ totals: TelemetryTotals, to step: TelemetryStep, at moment: Milliseconds,
        of series: Int64, _ connection: Connection
    ) throws {
        let start = step.start(of: moment)
        var sum = totals
        if let stored = try stored(step, start, series, connection) { sum.add(stored) }
        try connection.prepare("INSERT OR REPLACE INTO totals VALUES (?1, ?2, ?3, ?4)").run(
            step.rawValue, start, series, sum.encoded)
    }

    private static func stored(
        _ step: TelemetryStep, _ start: Milliseconds, _ series: Int64, _ connection: Connection
    ) throws -> TelemetryTotals? {
        try connection.prepare(
            "SELECT body FROM totals WHERE step = ?1 AND start = ?2 AND series = ?3"
        ).first(step.rawValue, start, series) { row in
            guard let totals = TelemetryTotals(encoded: row.bytes(0)) else {
                throw InvalidRow(table: "totals")
            }
            return totals
        }
    }

    package func using<Value: Sendable>(
        _ body: @Sendable (CatalogConnection) throws -> Value
    ) throws -> Value {
        try reading { try body(CatalogConnection(SQLiteCatalogSession(connection: $0))) }
    }

    func reading<Value: Sendable>(
        _ body: @Sendable (Connection) throws -> Value
    ) throws -> Value {
        try state.withLock { state in
            guard let connection = state.connection else { throw TelemetryClosed() }
            return try body(connection)
        }
    }
}

extension Connection {
    /// Moves the log into the file, as far as nobody reads it.
    fileprivate func checkpoint() throws {
        let statement = try prepare("PRAGMA wal_checkpoint(PASSIVE)")
        _ = try statement.step()
        statement.reset()
    }
}
