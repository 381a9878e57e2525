import Foundation
import Seeding
import Testing

@testable import SQLite

/// What is left in a file of rows that were deleted.
@Suite("Rows that were deleted")
struct DeletedRowsTests {
    private static let mark = "-erased-"
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Whether a file has a text anywhere.
    private func holds(_ text: String, _ name: String = "store.sqlite") throws -> Bool {
        try Data(contentsOf: URL(filePath: folder.file(name))).range(of: Data(text.utf8)) != nil
    }

    /// Rows of two kinds, from short ones to those of many pages, saved and deleted in the same transactions.
    ///
    /// So rows of one kind take pages over that the other kind has given up.
    private func live(_ connection: Connection, _ random: inout SeededRandom) throws {
        let insert = try connection.prepare("INSERT OR REPLACE INTO bodies VALUES (?1, ?2)")
        let delete = try connection.prepare("DELETE FROM bodies WHERE id = ?1")
        let text = try connection.prepare("INSERT OR IGNORE INTO texts VALUES (?1)")
        for _ in 0..<20 {
            try connection.execute("BEGIN")
            for _ in 0..<60 {
                let mark = random.happens(30) ? Self.mark : "-kept---"
                let id = Int64(random.below(400))
                if random.happens(25) {
                    try delete.run(id)
                } else {
                    let length = random.one(of: [5, 60, 800, 3_000]) + random.below(300)
                    insert.bind(id, at: 1)
                    insert.bind(String(repeating: mark, count: length), at: 2)
                    try insert.run()
                }
                let words = String(repeating: "x", count: random.below(200))
                text.bind("\(random.below(100_000))\(mark)\(words)", at: 1)
                try text.run()
            }
            try connection.execute("COMMIT")
            #expect(connection.emptyLog { 0 })
        }
    }

    @Test(
        "No byte of them is left in the file or the log, not even where other rows have taken their pages"
    )
    func overwritten() throws {
        var random = SeededRandom("rows that are deleted")
        let connection = try Connection(path: folder.file(), mode: .readWrite)
        // Its own transactions are not what is looked at.
        try connection.execute("PRAGMA synchronous = OFF")
        try connection.execute(
            """
            CREATE TABLE texts (text PRIMARY KEY) WITHOUT ROWID;
            CREATE TABLE bodies (id INTEGER PRIMARY KEY, body TEXT)
            """)
        try live(connection, &random)
        #expect(try holds(Self.mark))
        try connection.execute(
            """
            DELETE FROM texts WHERE instr(text, '\(Self.mark)');
            DELETE FROM bodies WHERE instr(body, '\(Self.mark)')
            """)
        #expect(connection.emptyLog { 0 })
        #expect(try !holds(Self.mark))
        #expect(try Data(contentsOf: URL(filePath: folder.file("store.sqlite-wal"))).isEmpty)
        #expect(try holds("-kept---"))
        let again = try Connection(path: folder.file(), mode: .readOnly)
        let check = try again.prepare("PRAGMA integrity_check")
        #expect(try check.step() && check.string(0) == "ok")
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
