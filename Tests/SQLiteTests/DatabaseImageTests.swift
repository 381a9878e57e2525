import Seeding
import Testing

@testable import SQLite

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

@Suite("The image of a database")
struct DatabaseImageTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func contents(_ path: String) throws -> [Int64: String] {
        let connection = try Connection(path: path, mode: .readOnly)
        #expect(try connection.integrityCheck() == [])
        return try connection.snapshot { connection in
            let statement = try connection.prepare("SELECT id, text FROM items")
            var found: [Int64: String] = [:]
            while try statement.step() { found[statement.int64(0)] = statement.string(1) }
            return found
        }
    }

    private func write(_ image: DatabaseImage, to path: String, step: Int) throws {
        let file = try #require(fopen(path, "w"))
        defer { fclose(file) }
        var offset: Int64 = 0
        while case let piece = try image.read(at: offset, count: step), !piece.isEmpty {
            #expect(fwrite(piece, 1, piece.count, file) == piece.count)
            offset += Int64(piece.count)
        }
        #expect(offset == image.byteCount)
    }

    @Test(
        "It is what the database held at one moment, whatever is written, brought into the file or begun anew meanwhile"
    )
    func moments() throws {
        var random = SeededRandom("images of databases")
        let path = folder.file("data.sqlite")
        let writer = try Connection(path: path, mode: .readWrite)
        try writer.execute("CREATE TABLE items (id INTEGER PRIMARY KEY, text TEXT)")
        var model: [Int64: String] = [:]
        func change() throws {
            try writer.execute("BEGIN IMMEDIATE")
            for _ in 0..<Int.random(in: 1...60, using: &random) {
                let id = Int64.random(in: 0..<400, using: &random)
                let text = String(
                    repeating: "x\(UInt32.random(in: 0...9_999, using: &random))", count: 40)
                try writer.execute("INSERT OR REPLACE INTO items VALUES (\(id), '\(text)')")
                model[id] = text
            }
            if Int.random(in: 0..<4, using: &random) == 0 {
                try writer.execute("DELETE FROM items WHERE id < 100")
                model = model.filter { $0.key >= 100 }
            }
            try writer.execute("COMMIT")
        }
        func checkpoint() throws {
            let mode =
                ["PASSIVE", "FULL", "RESTART", "TRUNCATE"].randomElement(using: &random) ?? "FULL"
            let statement = try writer.prepare("PRAGMA wal_checkpoint(\(mode))")
            _ = try statement.step()
            statement.reset()
        }
        try writer.execute("PRAGMA busy_timeout = 1; PRAGMA wal_autocheckpoint = 0")
        for round in 0..<60 {
            for _ in 0..<Int.random(in: 0...4, using: &random) { try change() }
            if Bool.random(using: &random) { try checkpoint() }
            if Int.random(in: 0..<3, using: &random) == 0 { try change() }
            let expected = model
            let copy = folder.file("copy\(round).sqlite")
            let reader = try Connection(path: path, mode: .readOnly)
            try reader.image { image in
                if Bool.random(using: &random) { try change() }
                if Bool.random(using: &random) { try checkpoint() }
                _ = try image.read(at: 0, count: Int(image.byteCount / 2))
                try change()
                try checkpoint()
                try write(image, to: copy, step: Int.random(in: 1_000...70_000, using: &random))
            }
            #expect(try contents(copy) == expected, "round \(round)")
        }
    }
}
