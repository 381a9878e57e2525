import Foundation
import Testing

@testable import SQLite

@Suite struct StatementTests {
    private let folder: TemporaryFolder
    private let connection: Connection

    init() throws {
        folder = try TemporaryFolder()
        connection = try Connection(path: folder.file(), mode: .readWrite)
        try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, value)")
    }

    @Test("Values of every kind come back as they were bound, empty ones too")
    func kinds() throws {
        let select = try connection.prepare("SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7")
        select.bind(Int64.min, at: 1)
        select.bind(0.1, at: 2)
        select.bind("a\u{0}ü", at: 3)
        select.bind([UInt8](), at: 4)
        select.bind("", at: 5)
        select.bindNull(at: 6)
        select.bind([0, 255], at: 7)
        #expect(try select.step())
        #expect(select.int64(0) == .min && select.double(1) == 0.1)
        #expect(select.string(2) == "a\u{0}ü" && select.string(4) == "")
        #expect(select.bytes(3).isEmpty && !select.isNull(3) && !select.isNull(4))
        #expect(select.isNull(5) && Array(select.bytes(6)) == [0, 255])
        #expect(try !select.step())
    }

    @Test("A statement may wait to be prepared; its first step says what is wrong with it")
    func later() throws {
        let insert = connection.statement("INSERT INTO later (value) VALUES (?1)")
        for isBound in [false, true] {
            if isBound { insert.bind(Int64(1), at: 1) }
            let error = #expect(throws: SQLiteError.self) { try insert.run() }
            #expect(error?.message.contains("later") == true)
        }
        insert.reset()
        try connection.execute("CREATE TABLE later (value)")
        insert.bind(Int64(7), at: 1)
        try insert.run()
        #expect(try connection.integers("SELECT value FROM later") == [7])
    }

    @Test("A statement takes new values after its last row without a reset")
    func reuse() throws {
        let insert = try connection.prepare("INSERT INTO t (value) VALUES (?1)")
        for value in 1...3 {
            insert.bind(Int64(value), at: 1)
            #expect(try !insert.step())
        }
        #expect(try connection.integers("SELECT value FROM t") == [1, 2, 3])
    }

    @Test("A value bound in the middle of a scan is an error, not the value bound before")
    func lateBinding() throws {
        try connection.execute("INSERT INTO t VALUES (1, 1), (2, 1), (3, 2)")
        let scan = try connection.prepare("SELECT id FROM t WHERE value = ?1")
        scan.bind(Int64(1), at: 1)
        #expect(try scan.step())
        scan.bind(Int64(2), at: 1)
        let error = #expect(throws: SQLiteError.self) { try scan.step() }
        #expect(error?.code == 21, "SQLITE_MISUSE")
        scan.bind(Int64(2), at: 1)
        #expect(try scan.step())
        #expect(scan.int64(0) == 3)
    }

    @Test("A value that no parameter takes is an error")
    func range() throws {
        let insert = try connection.prepare("INSERT INTO t (value) VALUES (?1)")
        insert.bind(Int64(1), at: 2)
        let error = #expect(throws: SQLiteError.self) { try insert.run() }
        #expect(error?.code == 25, "SQLITE_RANGE")
        #expect(try connection.integer("SELECT count(*) FROM t") == 0)
    }

    @Test("Errors carry SQLite's extended code and what they mean")
    func errors() throws {
        try connection.execute("INSERT INTO t VALUES (1, 1)")
        let error = #expect(throws: SQLiteError.self) {
            try connection.execute("INSERT INTO t VALUES (1, 2)")
        }
        #expect(error?.code == 1_555 && error?.kind == .constraint)
        #expect(error?.description.contains("UNIQUE") == true)
        #expect(throws: SQLiteError.self) { try connection.prepare("SELEC 1") }
        #expect(throws: SQLiteError.self) {
            try Connection(path: "/nonexistent/store.sqlite", mode: .readWrite)
        }
    }

    @Test("Pages that deletes freed are given back to the disk")
    func freePages() throws {
        try connection.execute(
            """
            WITH RECURSIVE i (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM i LIMIT 500)
            INSERT INTO t SELECT x, randomblob(4000) FROM i;
            DELETE FROM t WHERE id > 10;
            """)
        #expect(try connection.freePageCount() > 400)
        try connection.giveBackFreePages(countMax: 100)
        #expect((300...400).contains(try connection.freePageCount()))
        try connection.giveBackFreePages(countMax: 10_000)
        #expect(try connection.freePageCount() == 0)
        #expect(try connection.integer("PRAGMA page_count") < 50)
        #expect(try connection.integrityCheck() == [])
    }

    @Test("A page with a cell that cannot lie in it is corrupt, whichever of its cells is read")
    func cellSizes() throws {
        let path = folder.file("cells")
        let root = try {
            let made = try Connection(path: path, mode: .readWrite)
            try made.execute(
                "CREATE TABLE t (id INTEGER PRIMARY KEY, value); INSERT INTO t VALUES (1, 7), (2, 8)"
            )
            return try made.integer("SELECT rootpage FROM sqlite_schema WHERE name = 't'")
        }()
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        defer { try? file.close() }
        // Where the first cell begins: the last byte of the page.
        try file.seek(toOffset: UInt64(root - 1) * 4_096 + 8)
        try file.write(contentsOf: Data([0x0F, 0xFF]))
        for mode in [Connection.Mode.readWrite, .readOnly] {
            let connection = try Connection(path: path, mode: mode)
            let error = #expect(throws: SQLiteError.self) {
                try connection.integer("SELECT value FROM t WHERE id = 2")
            }
            #expect(error?.kind == .corrupt)
        }
    }
}
