import Foundation
import Synchronization
import Testing

@testable import SQLite

/// A disk of a few MiB in memory; needs the right to mount.
private final class SmallDisk: Sendable {
    let folder: TemporaryFolder

    /// Nil when this process may not mount.
    init?(bytes: Int) throws {
        folder = try TemporaryFolder()
        #if os(Linux)
            let path = folder.path
            guard geteuid() == 0, mount("tmpfs", path, "tmpfs", 0, "size=\(bytes)") == 0 else {
                return nil
            }
        #else
            return nil
        #endif
    }

    deinit {
        #if os(Linux)
            umount2(folder.path, 2)
        #endif
    }
}

@Suite struct DiskFullTests {
    @Test("On a full disk reads and deletes go on, writes are refused, and room brings them back")
    func smallDisk() throws {
        guard let disk = try SmallDisk(bytes: 4 << 20) else {
            print("skipped: mounting a small disk needs root on Linux")
            return
        }
        let path = disk.folder.file()
        let ballast = disk.folder.file("ballast")
        let time = Mutex<UInt64>(0)
        var options = WriterOptions()
        options.now = { time.withLock { $0 } }
        options.reserve = DiskReserve.Options(
            path: disk.folder.file("reserve"), bytes: 1 << 20)
        var checkpoints = CheckpointOptions()
        checkpoints.checkpointPages = 50
        checkpoints.restartPages = 100
        checkpoints.logPagesMax = 150
        options.checkpoints = checkpoints
        let writer = try GroupWriter(
            path: path, options: options,
            makeHooks: {
                try $0.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, body)")
                return nil
            }, onIndeterminate: { Issue.record("indeterminate: \($0)") })
        #expect(
            FileManager.default.createFile(
                atPath: ballast, contents: Data(repeating: 1, count: 1 << 20)))
        let insert: @Sendable (Int64) throws -> Void = { id in
            try writer.write {
                try $0.execute("INSERT INTO t VALUES (\(id), randomblob(20000))")
            }
        }

        // Until the disk is full, however often checkpoints make a little room.
        var last: Int64 = 0
        var acknowledged: Set<Int64> = []
        var refusals = 0
        while refusals < 3, last < 1_000 {
            last += 1
            time.withLock { $0 += 1_000_000_000 }
            do {
                try insert(last)
                acknowledged.insert(last)
                refusals = 0
            } catch let error as SQLiteError {
                #expect(error.kind == .full)
                refusals += 1
            }
        }
        #expect(last < 1_000 && acknowledged.count > 20)
        #expect(writer.isDiskFull)

        let pool = ReaderPool(path: path)
        #expect(try pool.read { Set(try $0.integers("SELECT id FROM t")) } == acknowledged)
        let gone = acknowledged.sorted().prefix(10)
        for id in gone {
            try writer.write(frees: true) { try $0.execute("DELETE FROM t WHERE id = \(id)") }
        }
        acknowledged.subtract(gone)
        #expect(writer.isDiskFull, "no second has passed")

        // What the deletes freed is enough for the reserve only together with other room.
        try FileManager.default.removeItem(atPath: ballast)
        time.withLock { $0 += 1_000_000_000 }
        try insert(2_000)
        acknowledged.insert(2_000)
        #expect(!writer.isDiskFull)
        #expect(FileManager.default.fileExists(atPath: disk.folder.file("reserve")))
        writer.close()
        pool.close()
        let left = try Connection(path: path, mode: .readOnly)
        #expect(try left.integrityCheck() == [])
        #expect(Set(try left.integers("SELECT id FROM t")) == acknowledged)
    }

    @Test("Deletes alone bring a full disk back: the file gives up what they freed")
    func deletesMakeRoom() throws {
        guard let disk = try SmallDisk(bytes: 4 << 20) else {
            print("skipped: mounting a small disk needs root on Linux")
            return
        }
        let time = Mutex<UInt64>(0)
        var options = WriterOptions()
        options.now = { time.withLock { $0 } }
        options.reserve = DiskReserve.Options(
            path: disk.folder.file("reserve"), bytes: 1 << 20)
        let writer = try GroupWriter(
            path: disk.folder.file(), options: options,
            makeHooks: {
                try $0.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, body)")
                return nil
            }, onIndeterminate: { Issue.record("indeterminate: \($0)") })
        var last = 0
        var refusals = 0
        while refusals < 3, last < 1_000 {
            last += 1
            time.withLock { $0 += 1_000_000_000 }
            let id = last
            let outcome = Result {
                try writer.write {
                    try $0.execute("INSERT INTO t VALUES (\(id), randomblob(20000))")
                }
            }
            if case .failure = outcome { refusals += 1 } else { refusals = 0 }
        }
        #expect(writer.isDiskFull)
        for _ in 0..<50 where writer.isDiskFull {
            time.withLock { $0 += 1_000_000_000 }
            try writer.write(frees: true) {
                try $0.execute("DELETE FROM t WHERE id IN (SELECT id FROM t LIMIT 5)")
            }
        }
        #expect(!writer.isDiskFull)
        try writer.write { try $0.execute("INSERT INTO t VALUES (2000, 'x')") }
        writer.close()
    }

    @Test("The reserve takes its room and gives it back; half a reserve is none")
    func reserve() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("reserve")
        let reserve = DiskReserve(DiskReserve.Options(path: path, bytes: 300_000))
        #expect(reserve.hold() && reserve.isHeld)
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_size == 300_000 && status.st_blocks * 512 >= 300_000)
        #expect(status.st_mode & 0o777 == 0o600)
        reserve.release()
        #expect(!reserve.isHeld && !FileManager.default.fileExists(atPath: path))
        #expect(!DiskReserve(DiskReserve.Options(path: path, bytes: 1 << 60)).hold())
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("A server that starts without room for its reserve starts as on a full disk")
    func startsFull() throws {
        let folder = try TemporaryFolder()
        var options = WriterOptions()
        options.reserve = DiskReserve.Options(path: folder.file("reserve"), bytes: 1 << 60)
        let writer = try GroupWriter(
            path: folder.file(), options: options, onIndeterminate: { _ in })
        #expect(writer.isDiskFull)
        let error = #expect(throws: SQLiteError.self) {
            try writer.write { try $0.execute("CREATE TABLE t (x)") }
        }
        #expect(error?.kind == .full)
        try writer.write(frees: true) { try $0.execute("CREATE TABLE t (x)") }
        writer.close()
    }
}
