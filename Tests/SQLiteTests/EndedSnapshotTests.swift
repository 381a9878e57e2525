import Dispatch
import Foundation
import Synchronization
import Testing

@testable import SQLite

@Suite("Snapshots that never end")
struct EndedSnapshotTests {
    private let folder: TemporaryFolder
    private let writer: GroupWriter
    private let pool: ReaderPool
    private static let logPagesMax = 300

    init() throws {
        folder = try TemporaryFolder()
        var options = WriterOptions()
        var checkpoints = CheckpointOptions()
        checkpoints.checkpointPages = 50
        checkpoints.restartPages = 100
        checkpoints.logPagesMax = Self.logPagesMax
        checkpoints.endedSnapshotSecondsMin = 0
        options.checkpoints = checkpoints
        options.snapshots = OpenSnapshots()
        writer = try GroupWriter(
            path: folder.file(), options: options,
            makeHooks: {
                try $0.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, body)")
                return nil
            }, onIndeterminate: { Issue.record("indeterminate: \($0)") })
        var readers = ReaderPool.Options()
        readers.snapshotSecondsMax = 3_600
        readers.snapshots = options.snapshots
        pool = ReaderPool(path: folder.file(), options: readers)
    }

    private func write() throws {
        try writer.write { try $0.execute("INSERT INTO t (body) VALUES (randomblob(40000))") }
    }

    private func logBytes() throws -> Int {
        let found = try FileManager.default.attributesOfItem(atPath: folder.file() + "-wal")
        return found[.size] as? Int ?? 0
    }

    /// Runs a reader on a thread of its own until it is ended, and writes beside it.
    private func besideReader(
        _ read: @escaping @Sendable (Connection) throws -> Void
    ) throws {
        try write()
        let (began, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let outcome = Mutex<(any Error)?>(nil)
        Thread.detachNewThread { [pool] in
            do {
                try pool.read { connection in
                    _ = try connection.integer("SELECT count(*) FROM t")
                    began.signal()
                    try read(connection)
                }
            } catch { outcome.withLock { $0 = error } }
            ended.signal()
        }
        try #require(began.wait(timeout: .now() + 60) == .success)
        var most = 0
        for _ in 0..<400 {
            try write()
            most = max(most, try logBytes())
        }
        #expect(ended.wait(timeout: .now() + 60) == .success)
        #expect((outcome.withLock { $0 } as? SQLiteError)?.kind == .interrupted)
        // 4,400 pages went through it.
        #expect(most < Self.logPagesMax * 4_096 * 3 / 2, "\(most)")
        #expect(writer.measurements.checkpoints.snapshotsEnded == 1)
        // Its space is given back, and readers come and go as before. A busy machine may let the writer get
        // ahead of the checkpoints for a while.
        var more = 0
        repeat {
            for _ in 0..<60 { try write() }
            more += 60
        } while try logBytes() >= Self.logPagesMax * 4_096 && more < 600
        #expect(try logBytes() < Self.logPagesMax * 4_096)
        #expect(try pool.read { try $0.integer("SELECT count(*) FROM t") } == 401 + Int64(more))
    }

    @Test("One that searches on and on is ended when the log gets too long")
    func searching() throws {
        try besideReader {
            _ = try $0.integer(
                """
                WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
                SELECT count(*) FROM n
                """)
        }
    }

    @Test("One that asks for a row now and then is ended, too")
    func asking() throws {
        try besideReader { connection in
            while true { _ = try connection.integer("SELECT count(*) FROM t WHERE id = 1") }
        }
    }

    @Test("Short readers beside a long log are not ended")
    func short() throws {
        for _ in 0..<400 {
            try write()
            #expect(try pool.read { try $0.integer("SELECT min(id) FROM t") } == 1)
        }
        #expect(writer.measurements.checkpoints.snapshotsEnded == 0)
    }

    @Test("One that a busy machine has not let end yet is found again, and counted once")
    func twice() {
        let snapshots = OpenSnapshots()
        let (old, new) = (OpenSnapshots.Mark(), OpenSnapshots.Mark())
        snapshots.add(old)
        snapshots.add(new)
        old.begin(at: 10)
        new.begin(at: 30)
        #expect(snapshots.end(begunBefore: 20) == (1, 1))
        #expect(old.isEnded && !new.isEnded)
        #expect(snapshots.end(begunBefore: 20) == (0, 1))
        #expect(snapshots.end(begunBefore: 40) == (1, 2))
        old.end()
        old.begin(at: 50)
        #expect(!old.isEnded && snapshots.end(begunBefore: 60) == (1, 2))
    }
}
