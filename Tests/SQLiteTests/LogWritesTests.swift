import CFaultVFS
import CSQLite
import Synchronization
import Testing

@testable import SQLite

@Suite struct LogWritesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A store with a table, whose log has been begun.
    private func store(on disk: FaultDisk? = nil, cacheKiB: Int = 4_096) throws -> Connection {
        let connection = try Connection(
            path: folder.file(), mode: .readWrite, cacheKiB: cacheKiB, fileSystem: disk?.name)
        try connection.execute("CREATE TABLE items (id INTEGER PRIMARY KEY, body BLOB)")
        return connection
    }

    private static func insert(_ count: Int) -> String {
        """
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO items (body) SELECT randomblob(3000) FROM n
        """
    }

    @Test("A commit hands sixteen frames on at a time")
    func gathered() throws {
        let writes = Mutex(0)
        let disk = FaultDisk("gathered-\(folder.path)") { operation, path in
            if operation == FAULT_WRITE, path.hasSuffix("-wal") { writes.withLock { $0 += 1 } }
            return SQLITE_OK
        }
        defer { withExtendedLifetime(disk) {} }
        let connection = try store(on: disk)
        let (pages, before) = (connection.logPages, writes.withLock { $0 })
        try connection.execute(Self.insert(400))
        let (frames, calls) = (connection.logPages - pages, writes.withLock { $0 } - before)
        #expect(frames >= 400)
        #expect(calls <= frames / 16 + 3)
    }

    @Test(
        "What a commit has written, others read at once, synced or not",
        arguments: ["FULL", "NORMAL", "OFF"], [16, 4_096])
    func read(synchronous: String, cacheKiB: Int) throws {
        // A small cache writes pages of a transaction before its end, reads them again and writes them anew.
        let writer = try store(cacheKiB: cacheKiB)
        try writer.execute("PRAGMA synchronous = \(synchronous)")
        let reader = try Connection(path: folder.file(), mode: .readOnly)
        for round in 1...6 {
            try writer.execute(
                """
                BEGIN; \(Self.insert(round * 40));
                UPDATE items SET body = randomblob(2900) WHERE id % 7 = 0;
                DELETE FROM items WHERE id % 5 = 0; UPDATE items SET body = zeroblob(2800);
                COMMIT
                """)
            let sums = "SELECT count(*) * 1000003 + total(length(body)) FROM items"
            #expect(try reader.integer(sums) == writer.integer(sums))
            let check = try reader.prepare("PRAGMA integrity_check")
            defer { check.reset() }
            #expect(try check.step() && check.string(0) == "ok")
        }
    }

    @Test("A write that fails is told by the commit, and leaves no part of it")
    func failing() throws {
        let fails = Mutex(false)
        let disk = FaultDisk("failing-\(folder.path)") { operation, path in
            let isMeant = operation == FAULT_WRITE && path.hasSuffix("-wal")
            return isMeant && fails.withLock { $0 } ? SQLITE_FULL : SQLITE_OK
        }
        defer { withExtendedLifetime(disk) {} }
        let connection = try store(on: disk)
        try connection.execute(Self.insert(10))
        fails.withLock { $0 = true }
        #expect(throws: SQLiteError.self) { try connection.execute(Self.insert(100)) }
        fails.withLock { $0 = false }
        let reader = try Connection(path: folder.file(), mode: .readOnly)
        #expect(try reader.integer("SELECT count(*) FROM items") == 10)
        try connection.execute(Self.insert(100))
        #expect(try reader.integer("SELECT count(*) FROM items") == 110)
    }

    @Test("What an undone transaction had gathered does not take the place of what others commit")
    func undone() throws {
        // With a small cache pages are written before the transaction ends, and are gathered.
        let first = try store(cacheKiB: 16)
        let second = try Connection(path: folder.file(), mode: .readWrite)
        try first.execute(Self.insert(60))
        let replaced = "UPDATE items SET body = zeroblob(3000)"
        for round in 1...15 {
            // With an empty log, undoing reads nothing from it, which would hand on what was gathered.
            try second.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            let change = "UPDATE items SET body = randomblob(3000) WHERE id <= \(20 + round)"
            try first.execute("BEGIN; \(change); ROLLBACK")
            try second.execute("\(replaced) WHERE id > 20")
            let count = "SELECT count(*) FROM items WHERE body = zeroblob(3000)"
            #expect(try first.integer(count) == 40)
        }
    }
}
