import Files
import Foundation
import Synchronization
import Testing

@testable import SQLite

@Suite struct BackupTests {
    private let folder: TemporaryFolder
    private let writer: GroupWriter

    init() throws {
        folder = try TemporaryFolder()
        writer = try GroupWriter(
            path: folder.file(),
            makeHooks: {
                try $0.execute(
                    """
                    CREATE TABLE t (id INTEGER PRIMARY KEY, body); CREATE TABLE n (total);
                    INSERT INTO n VALUES (0);
                    WITH RECURSIVE i (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM i LIMIT 5000)
                    INSERT INTO t SELECT -x, randomblob(500) FROM i;
                    """)
                return nil
            }, onIndeterminate: { _ in Issue.record("indeterminate") })
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("A copy made under constant writes is one moment's state, whole and private")
    func underWrites() throws {
        var backup = Backup()
        backup.pagesPerStep = 8
        let written = Mutex<Int64>(0)
        // A write between any two steps would start a copy without a snapshot over for ever.
        backup.shouldStop = { [writer] in
            let id = written.withLock {
                $0 += 1
                return $0
            }
            try? writer.write {
                try $0.execute("INSERT INTO t VALUES (\(id), 'x'); UPDATE n SET total = total + 1")
            }
            return false
        }
        let copy = folder.file("copy.sqlite")
        let bytes = try backup.copy(folder.file(), to: copy)
        #expect(written.withLock { $0 } > 20)
        #expect(try FileManager.default.attributesOfItem(atPath: copy)[.size] as? Int64 == bytes)
        #expect(try mode(copy) == 0o600)
        #expect(!FileManager.default.fileExists(atPath: copy + ".partial"))
        let opened = try Connection(path: copy, mode: .readWrite)
        #expect(try opened.integrityCheck() == [])
        #expect(try opened.integer("SELECT count(*) FROM t WHERE id > 0") == 0)
        #expect(try opened.integer("SELECT total FROM n") == 0)
        #expect(try opened.integer("SELECT count(*) FROM t") == 5_000)
    }

    @Test("A copy that is stopped leaves nothing behind")
    func stopped() throws {
        var backup = Backup()
        backup.pagesPerStep = 8
        backup.shouldStop = { true }
        let error = #expect(throws: SQLiteError.self) {
            try backup.copy(folder.file(), to: folder.file("copy.sqlite"))
        }
        #expect(error?.kind == .interrupted)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!names.contains { $0.hasPrefix("copy") })
    }

    @Test("A copy never replaces a file")
    func existing() throws {
        let copy = folder.file("copy.sqlite")
        #expect(FileManager.default.createFile(atPath: copy, contents: Data("mine".utf8)))
        #expect(throws: SQLiteError.self) { try Backup().copy(folder.file(), to: copy) }
        #expect(FileManager.default.contents(atPath: copy) == Data("mine".utf8))
    }

    @Test("The check finds a page that was overwritten")
    func check() throws {
        try writer.write { try $0.execute("CREATE INDEX bodies ON t (body)") }
        writer.close()
        let file = try #require(FileHandle(forUpdatingAtPath: folder.file()))
        try file.seek(toOffset: 4_096 * 40)
        try file.write(contentsOf: Data(repeating: 7, count: 4_096))
        try file.close()
        let opened = try Connection(path: folder.file(), mode: .readOnly)
        let found = Result { try opened.integrityCheck() }
        if case .success(let lines) = found { #expect(!lines.isEmpty) }
    }

    @Test("Databases and their logs can be opened by their owner only")
    func modes() throws {
        // The mask that all threads of this process share would let others in: it stays as it is, for the
        // tests that make files at the same time.
        let open = folder.file("open")
        #expect(FileManager.default.createFile(atPath: open, contents: nil))
        #expect(try (mode(open) ?? 0) & 0o044 != 0)
        let path = folder.file("private.sqlite")
        let connection = try Connection(path: path, mode: .readWrite)
        try connection.execute("CREATE TABLE t (x)")
        for suffix in ["", "-wal", "-shm"] { #expect(try mode(path + suffix) == 0o600) }
        #expect(try mode(folder.path) == 0o700)
    }
}

@Suite struct FileLockTests {
    @Test("A second holder is refused and told who holds; after the first the lock is free")
    func exclusive() throws {
        let folder = try TemporaryFolder()
        do {
            let first = try FileLock(path: folder.file("lock"))
            #expect(throws: FileLock.Failure.held(process: getpid())) {
                try FileLock(path: folder.file("lock"))
            }
            withExtendedLifetime(first) {}
        }
        _ = try FileLock(path: folder.file("lock"))
    }

    #if os(Linux)
        @Test(
            "A lock that was let go is free, even while a child that is being started has its file")
        func inherited() throws {
            let folder = try TemporaryFolder()
            let path = folder.file("lock")
            var lock: FileLock? = try FileLock(path: path)
            let files = "/proc/self/fd"
            let held = try FileManager.default.contentsOfDirectory(atPath: files).first {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(files)/\($0)"))
                    == path
            }
            // What a fork copies, and what only the child's own program closes.
            let copy = dup(try #require(held.flatMap { Int32($0) }))
            defer { close(copy) }
            withExtendedLifetime(lock) {}
            lock = nil
            _ = try FileLock(path: path)
        }
    #endif

    @Test("A lock that cannot be made says why")
    func unusable() throws {
        let failure = #expect(throws: FileLock.Failure.self) {
            try FileLock(path: "/nonexistent/lock")
        }
        #expect(failure?.description.contains("No such file") == true)
    }
}
