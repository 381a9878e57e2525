import CloudModel
import Foundation
import SQLite
import Storage
import StorageConformance
import Testing

@testable import SQLiteStorage

/// What a store takes, and how it gives back what it does not need.
@Suite("Space that is given back")
final class SpaceTests {
    private let location: SQLiteLocation
    private let store: SQLiteStore
    private let zone: StoredZone
    private let type: Int64
    private static let kept = 40
    private static let text = String(repeating: "x", count: 20_000)

    init() throws {
        location = try SQLiteLocation()
        store = try #require(try location.openStore() as? SQLiteStore)
        let user = try #require(UserRecordName("_" + String(repeating: "a", count: 32)))
        let name = try #require(ZoneName("Shelf"))
        let note = try #require(RecordTypeName("Note"))
        (zone, type) = try store.writeAndWait { transaction in
            var schema = try transaction.schema
            schema.types[note] = Schema.RecordType()
            try transaction.replaceSchema(by: schema, who: "test", difference: ["+ type Note"])
            let zone = try transaction.makeZone(named: name, ofOwnerNamed: user)
            return (zone, try transaction.schema.types[note]?.number ?? 0)
        }
    }

    deinit { location.remove() }

    private func save(_ text: String, _ body: String?) throws {
        let name = try #require(RecordName(text))
        let (zone, type) = (zone, type)
        try store.writeAndWait { transaction in
            let previous = try transaction.head(of: name, in: zone.number)
            let bytes = previous == nil ? 0 : Self.text.utf8.count + 2
            _ = try transaction.save(
                NewVersion(
                    zone: zone, name: name, position: transaction.takePosition(),
                    previous: previous, previousBytes: bytes, previousIsAlive: previous != nil,
                    type: type, flags: body == nil ? .tombstone : [],
                    body: Array("\"\(body ?? "")\"".utf8)))
        }
    }

    /// Saves large records, of which every tenth stays.
    private func fill(_ count: Int = 10 * SpaceTests.kept) throws {
        for number in 0..<count { try save("r\(number)", Self.text) }
        for number in 0..<count where number % 10 != 9 { try save("r\(number)", nil) }
        #expect(try store.emptyLogOnce())
    }

    private func requireKept(_ count: Int = SpaceTests.kept) throws {
        let bodies = try store.read { snapshot in
            var found = 0
            try snapshot.versions(
                in: zone.number, after: 0, through: .max, newestFirst: false
            ) { version in
                if !version.flags.contains(.tombstone), version.body.count == Self.text.count + 2 {
                    found += 1
                }
                return true
            }
            return found
        }
        #expect(bodies == count)
        #expect(try location.problems() == [])
    }

    @Test("All that deletions have freed is given back, with what it held before kept whole")
    func wholly() throws {
        try fill()
        let before = try store.space()
        #expect(before.freeBytes > before.bytes / 2)
        var told: [Int64] = []
        try store.giveBackSpace { space in
            told.append(space.freeBytes)
            return true
        }
        let after = try store.space()
        #expect(after.freeBytes == 0 && after.bytes < before.bytes - before.freeBytes + 65_536)
        #expect(told.count > 2 && told == told.sorted(by: >))
        try requireKept()
        let size = try store.size(owners: 5)
        let amount = size.amount
        #expect(amount.records == Int64(Self.kept) && amount.assetBytes == 0)
        #expect(amount.recordBytes == Int64(Self.kept * (Self.text.utf8.count + 2)))
        #expect(size.owners.map(\.amount) == [amount] && size.space == after)
    }

    @Test("Who reads an earlier moment goes on reading it, a backup too, while writes go on")
    func beside() throws {
        try fill()
        let before = try store.space()
        let reading = try Connection(path: location.path, mode: .readOnly)
        try reading.image { image in
            func all() throws -> [UInt8] { try image.read(at: 0, count: Int(image.byteCount)) }
            let first = try all()
            var written = 0
            try store.giveBackSpace { _ in
                written += 1
                return written < 200 && (try? save("new\(written)", "x")) != nil
            }
            #expect(written > 10)
            // A page that holds nothing may read otherwise: the copy is judged as a database.
            let again = try all()
            #expect(again.count == first.count)
            for bytes in [first, again] {
                let path = location.path + "-copy"
                try bytes.withUnsafeBytes { try Data($0).write(to: URL(filePath: path)) }
                #expect(try StoreCheck(path: path).problems() == [])
            }
        }
        try store.giveBackSpace { _ in true }
        #expect(try store.space().bytes < before.bytes / 2)
        try requireKept()
    }

    /// Does the work of its kind that is due, one step; nil when there is none.
    private func step(_ count: Int) throws -> Bool? {
        try store.writeAndWait { transaction in
            guard let work = try transaction.take(.space) else { return nil }
            guard try transaction.maintain(.space, step: count) else {
                try transaction.finish(work)
                return false
            }
            try transaction.advance(work, to: 0)
            return true
        }
    }

    @Test(
        "Removing old rows leaves it as work where much is free; a little stays for the next writes"
    )
    func byItself() throws {
        _ = try store.writeAndWait { try $0.collect(olderThan: 0, limit: 100) }
        #expect(try step(16) == nil)
        try fill()
        _ = try store.writeAndWait { try $0.collect(olderThan: 0, limit: 100) }
        let before = try store.space()
        var steps = 0
        while let hasMore = try step(64), hasMore { steps += 1 }
        #expect(steps > 10)
        #expect(try store.emptyLogOnce())
        let after = try store.space()
        #expect(after.bytes < before.bytes / 2)
        #expect(after.freeBytes <= after.bytes / 16)
        #expect(try step(64) == nil)
        try requireKept()
    }

    @Test("While others write, the next step waits for a second")
    func quiet() throws {
        try fill()
        _ = try store.writeAndWait { try $0.collect(olderThan: 0, limit: 100) }
        #expect(try step(4) == true)
        #expect(try step(4) == true)
        for number in 0..<3 { try save("more\(number)", "x") }
        #expect(try step(4) == true)
        #expect(try step(4) == nil)
        let wait = try store.writeAndWait { transaction in
            try transaction.nextWorkMoment([.maintenance], for: WorkHolder(1))
                .map { $0 - transaction.now }
        }
        #expect(wait.map { $0 > 0 && $0 <= 1_000 } == true)
    }

    @Test("Whoever asks for it to end finds all of it as it was, and a part of it given back")
    func ended() throws {
        try fill()
        let before = try store.space()
        var steps = 0
        try store.giveBackSpace { _ in
            steps += 1
            return steps < 4
        }
        let after = try store.space()
        #expect(after.freeBytes < before.freeBytes && after.freeBytes > 0)
        try requireKept()
    }
}
