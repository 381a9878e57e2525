import Testing

@testable import SQLite

@Suite struct MigratorTests {
    private let first = Migration(
        name: "0001-a", sql: "CREATE TABLE a (x); CREATE INDEX ax ON a (x);")
    private let second = Migration(
        name: "0002-b", sql: "CREATE TABLE b (y); INSERT INTO a VALUES (1);")
    private let folder: TemporaryFolder
    private let connection: Connection

    init() throws {
        folder = try TemporaryFolder()
        connection = try Connection(path: folder.file(), mode: .readWrite)
    }

    private func schema(_ connection: Connection) throws -> String {
        try connection.text(
            "SELECT group_concat(type || name || tbl_name || ifnull(sql, '') || rootpage, x'0a')"
                + " FROM sqlite_schema")
    }

    @Test("Each migration runs once, in order, and the file says whose it is")
    func once() throws {
        #expect(try Migrator([first]).pendingCount(connection) == 1)
        #expect(try Migrator([first]).migrate(connection) == 1)
        #expect(try Migrator([first, second]).pendingCount(connection) == 1)
        #expect(try Migrator([first, second]).migrate(connection) == 1)
        #expect(try Migrator([first, second]).migrate(connection) == 0)
        #expect(try connection.integers("SELECT x FROM a") == [1])
        #expect(try connection.integer("PRAGMA user_version") == 2)
        #expect(try connection.integer("PRAGMA application_id") == Migrator.applicationID)
        #expect(try connection.integer("PRAGMA page_size") == 4_096)
    }

    @Test("A fresh database and one brought up step by step are equal")
    func freshEqualsUpgraded() throws {
        try Migrator([first]).migrate(connection)
        try Migrator([first, second]).migrate(connection)
        let fresh = try Connection(path: folder.file("fresh.sqlite"), mode: .readWrite)
        try Migrator([first, second]).migrate(fresh)
        #expect(try schema(fresh) == schema(connection))
        #expect(try schema(fresh).contains("CREATE TABLE b"))
    }

    @Test("A database of a newer version is refused by the name of what is unknown")
    func newer() throws {
        try Migrator([first, second]).migrate(connection)
        #expect(throws: MigrationError.newer(name: "0002-b")) {
            try Migrator([first]).migrate(connection)
        }
        #expect(throws: MigrationError.newer(name: "0002-b")) {
            try Migrator([first]).pendingCount(connection)
        }
    }

    @Test("A migration that was edited after it ran is refused, and so is one renamed")
    func altered() throws {
        try Migrator([first]).migrate(connection)
        let edited = Migration(name: first.name, sql: first.sql + " ")
        let renamed = Migration(name: "0001-z", sql: first.sql)
        for changed in [edited, renamed] {
            #expect(throws: MigrationError.altered(name: "0001-a")) {
                try Migrator([changed, second]).migrate(connection)
            }
        }
        #expect(try connection.integer("PRAGMA user_version") == 1)
    }

    @Test("A database of another program is refused and left as it was")
    func foreign() throws {
        try connection.execute("CREATE TABLE theirs (x)")
        #expect(throws: MigrationError.foreign) { try Migrator([first]).migrate(connection) }
        try connection.execute("DROP TABLE theirs; PRAGMA application_id = 7")
        #expect(throws: MigrationError.foreign) { try Migrator([first]).migrate(connection) }
        #expect(try connection.integer("SELECT count(*) FROM sqlite_schema") == 0)
    }

    @Test("A migration that fails leaves nothing of itself and all of the ones before it")
    func failing() throws {
        let broken = Migration(name: "0002-b", sql: "CREATE TABLE b (y); CREATE TABLE b (y);")
        #expect(throws: SQLiteError.self) { try Migrator([first, broken]).migrate(connection) }
        #expect(try connection.integer("PRAGMA user_version") == 1)
        #expect(try connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'b'") == 0)
        #expect(try Migrator([first, second]).migrate(connection) == 1)
    }
}
