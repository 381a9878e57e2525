import CFaultVFS
import CSQLite
import Foundation
import GroupCommit
import Synchronization
import Testing

@testable import SQLite

@Suite("A full disk with a reserve that is much smaller than what deletes free")
struct SmallReserveTests {
    private static func options(on disk: SmallDisk) -> WriterOptions {
        var options = WriterOptions()
        options.groups.fullProbeSeconds = 0
        options.reserve = DiskReserve.Options(path: disk.folder.file("reserve"), bytes: 2 << 20)
        return options
    }

    private static func writer(on disk: SmallDisk) throws -> GroupWriter {
        try GroupWriter(
            path: disk.folder.file(), options: options(on: disk),
            makeHooks: {
                try $0.execute("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, body)")
                return nil
            }, onIndeterminate: { Issue.record("indeterminate: \($0)") })
    }

    private static func insert(_ id: Int, _ writer: GroupWriter) throws {
        try writer.write {
            try $0.execute("INSERT INTO t VALUES (\(id), randomblob(100000))")
        }
    }

    @Test(
        "Pages are given back in steps that fit: writes come back, also after a restart",
        arguments: [false, true])
    func recovers(restarts: Bool) throws {
        guard let disk = try SmallDisk(bytes: 32 << 20) else {
            print("skipped: mounting a small disk needs root on Linux")
            return
        }
        var writer = try Self.writer(on: disk)
        var ids: [Int] = []
        for id in 1...1_000 {
            do {
                try Self.insert(id, writer)
                ids.append(id)
            } catch let error as SQLiteError where error.kind == .full { break }
        }
        #expect(ids.count > 150)
        // The other half, so that what stays lies all over the file.
        for id in ids where id % 8 != 0 {
            try writer.write(frees: true) { try $0.execute("DELETE FROM t WHERE id = \(id)") }
        }
        let left = ids.filter { $0 % 8 == 0 }
        if restarts {
            writer.close()
            writer = try Self.writer(on: disk)
        }
        var isBack = false
        for attempt in 0..<20 where !isBack {
            do {
                try Self.insert(2_000 + attempt, writer)
                isBack = true
            } catch let error as SQLiteError { #expect(error.kind == .full) }
        }
        #expect(isBack && !writer.isDiskFull)
        var status = stat()
        #expect(stat(disk.folder.file("reserve"), &status) == 0 && status.st_size == 2 << 20)
        writer.close()
        let reader = try Connection(path: disk.folder.file(), mode: .readOnly)
        #expect(try reader.integrityCheck() == [])
        #expect(
            try reader.integers("SELECT id FROM t WHERE id < 2000") == left.map { Int64($0) })
    }

    @Test("A quota that is used up is a full disk, not a failing one; other errors are not")
    func quota() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let isArmed = Mutex(false)
        let disk = FaultDisk("quota-\(folder.path)") { operation, path in
            let fails = isArmed.withLock { $0 } && operation == FAULT_WRITE
            return fails && path.hasSuffix("-wal") ? SQLITE_IOERR | 3 << 8 : SQLITE_OK
        }
        var options = WriterOptions()
        options.fileSystem = disk.name
        options.groups.fullProbeSeconds = 0
        options.reserve = DiskReserve.Options(path: folder.file("reserve"), bytes: 100_000)
        let reported = Mutex<SQLiteError?>(nil)
        let writer = try GroupWriter(
            path: folder.file(), options: options,
            makeHooks: {
                try $0.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
                return nil
            }, onIndeterminate: { error in reported.withLock { $0 = error as? SQLiteError } })
        disk.setError(EDQUOT)
        isArmed.withLock { $0 = true }
        let error = #expect(throws: SQLiteError.self) {
            try writer.write { try $0.execute("INSERT INTO t VALUES (1)") }
        }
        #expect(error?.kind == .full)
        #expect(writer.isDiskFull)
        isArmed.withLock { $0 = false }
        try writer.write { try $0.execute("INSERT INTO t VALUES (2)") }
        #expect(!writer.isDiskFull)
        #expect(reported.withLock { $0 } == nil)
        disk.setError(EIO)
        isArmed.withLock { $0 = true }
        #expect(throws: WriterError.indeterminate) {
            try writer.write { try $0.execute("INSERT INTO t VALUES (3)") }
        }
        writer.close()
    }
}
