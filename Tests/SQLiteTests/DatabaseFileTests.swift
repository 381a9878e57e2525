import Files
import Foundation
import Testing

@testable import SQLite

@Suite struct DatabaseFileTests {
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
