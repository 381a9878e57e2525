import SQLite

/// Statements of one connection that belong together, each prepared when it is first used.
class LazyStatements: StatementSet {
    unowned let connection: Connection

    required init(_ connection: Connection) { self.connection = connection }
}
