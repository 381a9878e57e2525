import Dispatch
import Synchronization
import Testing

@testable import SQLite

@Suite struct ReaderPoolTests {
    private let folder: TemporaryFolder
    private let writer: Connection
    private let pool: ReaderPool

    init() throws {
        folder = try TemporaryFolder()
        writer = try Connection(path: folder.file(), mode: .readWrite)
        try writer.execute("CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)")
        var options = ReaderPool.Options()
        options.connectionsMax = 2
        pool = ReaderPool(path: folder.file(), options: options)
    }

    @Test("A snapshot does not see what is committed while it lasts, and the next one does")
    func snapshot() throws {
        try pool.read { reader in
            #expect(try reader.integers("SELECT id FROM t") == [1])
            try writer.execute("INSERT INTO t VALUES (2)")
            #expect(try reader.integers("SELECT id FROM t") == [1])
        }
        #expect(try pool.read { try $0.integers("SELECT id FROM t") } == [1, 2])
    }

    @Test("A scan left halfway ends with its snapshot")
    func halfScan() throws {
        let reader = try pool.makeReader()
        try writer.execute("INSERT INTO t VALUES (2), (3)")
        try reader.snapshot { _ = try $0.prepare("SELECT id FROM t").step() }
        try writer.execute("INSERT INTO t VALUES (4)")
        #expect(try reader.snapshot { try $0.integer("SELECT count(*) FROM t") } == 4)
    }

    @Test("The number of a snapshot's state moves with what others commit, and only with that")
    func stateNumber() throws {
        let reader = try pool.makeReader()
        func state() throws -> Int64? { try reader.snapshot { try $0.stateNumber() } }
        let first = try #require(try state())
        #expect(try state() == first)
        let during = try reader.snapshot { connection in
            let before = try connection.stateNumber()
            try writer.execute("INSERT INTO t VALUES (2)")
            #expect(try connection.stateNumber() == before)
            return before
        }
        #expect(during == first)
        let second = try #require(try state())
        #expect(second != first)
        writer.truncateLog()
        #expect(try reader.snapshot { try $0.integers("SELECT id FROM t") } == [1, 2])
        #expect(try writer.snapshot { try $0.stateNumber() } == nil, "it would not see its own")
    }

    @Test("A reader cannot write")
    func readOnly() throws {
        let error = #expect(throws: SQLiteError.self) {
            try pool.read { try $0.execute("INSERT INTO t VALUES (9)") }
        }
        #expect(error?.code == 8, "SQLITE_READONLY")
    }

    @Test("A snapshot past its deadline is interrupted, and the connection goes on")
    func deadline() throws {
        let time = Mutex<UInt64>(0)
        var options = ReaderPool.Options()
        options.snapshotSecondsMax = 1
        // Each look at the clock is a tenth of a second later than the one before.
        options.now = {
            time.withLock {
                $0 += 100_000_000
                return $0
            }
        }
        let pool = ReaderPool(path: folder.file(), options: options)
        let endless =
            "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
            + " SELECT max(x) FROM n"
        let error = #expect(throws: SQLiteError.self) {
            try pool.read { try $0.integer(endless) }
        }
        #expect(error?.kind == .interrupted)
        #expect(try pool.read { try $0.integers("SELECT id FROM t") } == [1])
    }

    @Test("No more snapshots are read at once than there are connections")
    func bounded() throws {
        let counts = Mutex((now: 0, most: 0))
        DispatchQueue.concurrentPerform(iterations: 32) { [pool] _ in
            _ = try? pool.read { reader in
                counts.withLock {
                    $0.now += 1
                    $0.most = max($0.most, $0.now)
                }
                _ = try reader.integers("SELECT id FROM t")
                counts.withLock { $0.now -= 1 }
            }
        }
        #expect(counts.withLock { $0.most } <= 2)
        #expect(counts.withLock { $0.now } == 0)
    }
}
