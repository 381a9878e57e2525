import Foundation
import MigrationHistory
import Testing

@testable import SQLite

@Suite("Migrations of a database")
struct MigratorTests {
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

    @Test("Those that are lacking run in order, all or none, and a file of another form is refused")
    func migrations() throws {
        let broken = Migration(name: "0002-b", sql: "CREATE TABLE b (y); CREATE TABLE b (y);")
        #expect(throws: SQLiteError.self) { try Migrator([first, broken]).migrate(connection) }
        #expect(try connection.integer("SELECT count(*) FROM sqlite_schema") == 0)
        #expect(try connection.integer("PRAGMA application_id") == 0)
        try Migrator([first]).migrate(connection)
        #expect(try connection.integer("PRAGMA application_id") == Migrator.applicationID)
        #expect(try connection.integer("PRAGMA page_size") == 4_096)
        let both = Migrator([first, second])
        #expect(try both.pendingCount(connection) == 1)
        try both.migrate(connection)
        try both.migrate(connection)
        #expect(try both.pendingCount(connection) == 0)
        #expect(try connection.integers("SELECT x FROM a") == [1])
        // Equal to one that is made at once.
        let fresh = try Connection(path: folder.file("fresh.sqlite"), mode: .readWrite)
        try both.migrate(fresh)
        let schema = "SELECT group_concat(name || ifnull(sql, ''), x'0a') FROM sqlite_schema"
        #expect(try fresh.text(schema) == connection.text(schema))
        try refused()
    }

    @Test("A database that holds data is copied before a migration changes it, for its owner alone")
    func copies() throws {
        let path = folder.file()
        let copy = Migrator.copyPath(of: path, before: "0002-b")
        try Migrator([first]).migrate(connection)
        #expect(!FileManager.default.fileExists(atPath: copy))
        try connection.execute("INSERT INTO a VALUES (7)")
        try Migrator([first, second]).migrate(connection)
        let mode = try FileManager.default.attributesOfItem(atPath: copy)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        let before = try Connection(path: copy, mode: .readWrite)
        #expect(try before.integers("SELECT x FROM a") == [7])
        // The version before goes on with it.
        #expect(try Migrator([first]).pendingCount(before) == 0)
        #expect(try connection.integers("SELECT x FROM a ORDER BY x") == [1, 7])
        try Migrator.removeCopies(of: path)
        #expect(!FileManager.default.fileExists(atPath: copy))
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test("Of one database there is one copy, from before the last upgrade that went through")
    func oneCopy() throws {
        let path = folder.file()
        let third = Migration(name: "0003-c", sql: "CREATE TABLE c (z);")
        let broken = Migration(name: "0002-b", sql: "CREATE TABLE b (y); CREATE TABLE b (y);")
        try Migrator([first]).migrate(connection)
        // A start that goes no further leaves its copy.
        #expect(throws: SQLiteError.self) { try Migrator([first, broken]).migrate(connection) }
        let copy = Migrator.copyPath(of: path, before: "0002-b")
        #expect(try Migrator.copies(of: path) == [copy])
        try connection.execute("INSERT INTO a VALUES (7)")
        try Migrator([first, second]).migrate(connection)
        #expect(try Connection(path: copy, mode: .readOnly).integers("SELECT x FROM a") == [7])
        try Migrator([first, second, third]).migrate(connection)
        #expect(
            try Migrator.copies(of: path) == [Migrator.copyPath(of: path, before: "0003-c")])
    }

    @Test("A migration that cannot be copied for changes nothing")
    func noCopy() throws {
        try Migrator([first]).migrate(connection)
        let copy = Migrator.copyPath(of: folder.file(), before: "0002-b")
        // What stands in the way cannot be replaced by a file.
        try FileManager.default.createDirectory(
            atPath: copy + "/full", withIntermediateDirectories: true)
        #expect(throws: (any Error).self) { try Migrator([first, second]).migrate(connection) }
        #expect(try Migrator([first, second]).pendingCount(connection) == 1)
    }

    /// What was migrated by two is refused by everything else.
    private func refused() throws {
        func expect(_ error: MigrationError, by migrator: Migrator) throws {
            #expect(throws: error) { try migrator.migrate(connection) }
            #expect(throws: error) { try migrator.pendingCount(connection) }
        }
        try expect(.newer(name: "0002-b"), by: Migrator([first]))
        let edited = Migration(name: first.name, sql: first.sql + " ")
        let renamed = Migration(name: "0001-z", sql: first.sql)
        try expect(.altered(name: "0001-a"), by: Migrator([edited, second]))
        try expect(.altered(name: "0001-a"), by: Migrator([renamed, second]))
        let older = Migrator([edited], olderForms: [first.checksum: "abc"])
        try expect(.older(lastCommit: "abc"), by: older)
        #expect("\(MigrationError.older(lastCommit: "abc"))".contains("abc"))
        try connection.execute("PRAGMA application_id = 7")
        try expect(.foreign, by: Migrator([first, second]))
        #expect(try connection.integers("SELECT x FROM a") == [1])
    }
}
