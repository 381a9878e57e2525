import Foundation
import Seeding
import Testing

@testable import SQLite

/// What is left in a file of rows that were deleted.
@Suite("Space that was given up")
struct ErasedSpaceTests {
    private static let mark = "-erased-"
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A file in which every second row was deleted, in an order that moves rows between pages.
    private func fill(_ connection: Connection) throws {
        // Its own transactions are not what is looked at.
        try connection.execute("PRAGMA synchronous = OFF")
        try connection.execute(
            """
            CREATE TABLE erased_space (id INTEGER PRIMARY KEY, zeros BLOB NOT NULL);
            CREATE TABLE texts (text PRIMARY KEY) WITHOUT ROWID;
            CREATE TABLE bodies (id INTEGER PRIMARY KEY, body TEXT)
            """)
        var random = SeededRandom("rows that are deleted")
        let text = try connection.prepare("INSERT OR IGNORE INTO texts VALUES (?1)")
        let body = try connection.prepare("INSERT OR REPLACE INTO bodies VALUES (?1, ?2)")
        for round in 0..<40 {
            try connection.execute("BEGIN")
            for number in 0..<200 {
                let mark = number % 2 == 0 ? "-kept---" : Self.mark
                let words = String(repeating: "x", count: random.below(200))
                text.bind("\(random.below(100_000))\(mark)\(words)", at: 1)
                try text.run()
                body.bind(Int64(random.below(1_000_000)), at: 1)
                body.bind(mark + String(repeating: words, count: round % 40), at: 2)
                try body.run()
            }
            try connection.execute("COMMIT")
        }
        try connection.execute(
            """
            DELETE FROM texts WHERE instr(text, '\(Self.mark)');
            DELETE FROM bodies WHERE instr(body, '\(Self.mark)')
            """)
    }

    private func marks(_ name: String) throws -> Int {
        let bytes = try Data(contentsOf: URL(filePath: folder.file(name)))
        var (count, rest) = (0, bytes.startIndex..<bytes.endIndex)
        while let found = bytes.range(of: Data(Self.mark.utf8), in: rest) {
            count += 1
            rest = found.upperBound..<bytes.endIndex
        }
        return count
    }

    @Test(
        "No byte of deleted rows is left in the file or the log, in steps of any size",
        arguments: [1, 7, 300])
    func overwritten(step: Int) throws {
        let connection = try Connection(path: folder.file(), mode: .readWrite)
        try fill(connection)
        _ = connection.emptyLog { 0 }
        #expect(try marks("store.sqlite") > 100)
        let pages = try connection.integer("PRAGMA page_count")
        let space = ErasedSpace(connection)
        while try !space.fill(pagesMax: step) {}
        #expect(try connection.freePageCount() == 0)
        while try !space.clear(rowsMax: step) {}
        #expect(connection.emptyLog { 0 })
        #expect(try marks("store.sqlite") == 0)
        #expect(try Data(contentsOf: URL(filePath: folder.file("store.sqlite-wal"))).isEmpty)
        // Nearly as large as before: the free pages were taken.
        #expect(try connection.integer("PRAGMA page_count") < pages + 20)
        #expect(try connection.integer("SELECT count(*) FROM erased_space") == 0)
        let again = try Connection(path: folder.file(), mode: .readOnly)
        let check = try again.prepare("PRAGMA integrity_check")
        #expect(try check.step() && check.string(0) == "ok")
        #expect(try again.integer("SELECT count(*) > 1000 FROM texts") == 1)
    }

    @Test("A reader who still sees what was deleted keeps the log, and it is emptied once they go")
    func readers() throws {
        let connection = try Connection(path: folder.file(), mode: .readWrite)
        try connection.execute("CREATE TABLE texts (text TEXT); INSERT INTO texts VALUES ('a')")
        let reader = try Connection(path: folder.file(), mode: .readOnly)
        try reader.execute("BEGIN")
        #expect(try reader.integer("SELECT count(*) FROM texts") == 1)
        try connection.execute("DELETE FROM texts")
        // A clock that only goes on: the wait ends.
        #expect(!connection.emptyLog { DispatchTime.now().uptimeNanoseconds })
        try reader.execute("COMMIT")
        #expect(connection.emptyLog { DispatchTime.now().uptimeNanoseconds })
    }
}
