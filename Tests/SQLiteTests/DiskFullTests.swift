import Foundation
import Synchronization
import Testing

@testable import SQLite

/// A disk of a few MiB in memory; needs the right to mount.
final class SmallDisk: Sendable {
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

/// A time that only the test moves.
private final class TestClock: Sendable {
    private let nanoseconds = Mutex<UInt64>(0)

    var now: UInt64 { nanoseconds.withLock { $0 } }

    func passSecond() { nanoseconds.withLock { $0 += 1_000_000_000 } }
}

/// A writer on a disk of 4 MiB with a reserve of 1 MiB.
private struct Fixture {
    let disk: SmallDisk
    let clock = TestClock()
    let writer: GroupWriter
    /// The rows that were acknowledged.
    var rows: Set<Int64> = []

    /// Nil when this process may not mount.
    init?() throws {
        guard let disk = try SmallDisk(bytes: 4 << 20) else {
            print("skipped: mounting a small disk needs root on Linux")
            return nil
        }
        self.disk = disk
        var options = WriterOptions()
        options.groups.now = { [clock] in clock.now }
        options.reserve = DiskReserve.Options(path: disk.folder.file("reserve"), bytes: 1 << 20)
        writer = try GroupWriter(
            path: disk.folder.file(), options: options,
            makeHooks: {
                try $0.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, body)")
                return nil
            }, onIndeterminate: { Issue.record("indeterminate: \($0)") })
    }

    /// Writes until the disk is full, however often checkpoints make a little room.
    mutating func fill() throws {
        var refusals = 0
        for id in 1...1_000 where refusals < 3 {
            clock.passSecond()
            do {
                try insert(Int64(id))
                refusals = 0
            } catch let error as SQLiteError {
                #expect(error.kind == .full)
                refusals += 1
            }
        }
        #expect(refusals == 3 && rows.count > 20)
        #expect(writer.isDiskFull)
    }

    mutating func insert(_ id: Int64) throws {
        try writer.write { try $0.execute("INSERT INTO t VALUES (\(id), randomblob(20000))") }
        rows.insert(id)
    }

    mutating func delete(count: Int) throws {
        for id in rows.sorted().prefix(count) {
            try writer.write(frees: true) { try $0.execute("DELETE FROM t WHERE id = \(id)") }
            rows.remove(id)
        }
    }

    func close() throws {
        writer.close()
        let left = try Connection(path: disk.folder.file(), mode: .readOnly)
        #expect(try left.integrityCheck() == [])
        #expect(Set(try left.integers("SELECT id FROM t")) == rows)
    }
}

@Suite struct DiskFullTests {
    @Test("On a full disk reads and deletes go on, writes are refused, and room brings them back")
    func smallDisk() throws {
        guard var full = try Fixture() else { return }
        let ballast = full.disk.folder.file("ballast")
        let bytes = Data(repeating: 1, count: 1 << 20)
        #expect(FileManager.default.createFile(atPath: ballast, contents: bytes))
        try full.fill()

        let pool = ReaderPool(path: full.disk.folder.file())
        #expect(try pool.read { Set(try $0.integers("SELECT id FROM t")) } == full.rows)
        pool.close()
        try full.delete(count: 10)
        #expect(full.writer.isDiskFull, "no second has passed")
        #expect(throws: SQLiteError.self) { try full.insert(2_000) }

        try FileManager.default.removeItem(atPath: ballast)
        full.clock.passSecond()
        try full.insert(2_001)
        #expect(!full.writer.isDiskFull)
        #expect(FileManager.default.fileExists(atPath: full.disk.folder.file("reserve")))
        try full.close()
    }

    @Test("Deletes alone bring a full disk back: the file gives up what they freed")
    func deletesMakeRoom() throws {
        guard var full = try Fixture() else { return }
        try full.fill()
        // The first room may be used up by the deletes' own log before the insert comes.
        var isBack = false
        for _ in 0..<20 where !isBack {
            full.clock.passSecond()
            try full.delete(count: 5)
            do {
                try full.insert(2_000)
                isBack = true
            } catch let error as SQLiteError { #expect(error.kind == .full) }
        }
        #expect(isBack && !full.writer.isDiskFull)
        try full.close()
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
