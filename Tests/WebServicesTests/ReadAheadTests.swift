import Awaiting
import Foundation
import SQLiteStorage
import Synchronization
import Testing

/// What is read of feeds before somebody asks for it.
@Suite("Reading ahead of who follows a feed")
struct ReadAheadTests {
    /// What was read ahead, stretch by stretch, and a disk as it is told to be.
    private final class Witness: Sendable {
        private let stretches = Mutex<[Int]>([])
        private let reads = Atomic<Int>(0)
        let isCold: Bool

        init(isCold: Bool) { self.isCold = isCold }

        var all: [Int] { stretches.withLock { $0 } }

        func ahead(bytesMax: Int = 8_192) -> ReadAhead {
            var options = ReadAhead.Options()
            options.bytesMax = bytesMax
            options.didRead = { bytes in self.stretches.withLock { $0.append(bytes) } }
            options.diskReads = {
                self.isCold ? self.reads.add(1, ordering: .relaxed).newValue : 0
            }
            return ReadAhead(options)
        }

        func wait(forStretches count: Int) throws { try Patience.until { all.count >= count } }
    }

    /// What a row of the records below takes, about.
    private static let rowBytes = 1_000..<1_150
    private static let text = String(repeating: "x", count: 950)

    private func fill(_ ida: WireClient, _ count: Int) throws {
        try ida.make("Shelf")
        for number in 1...count {
            try ida.save("r\(number)", "{\"t\":{\"value\":\"\(Self.text)\"}}")
        }
    }

    private func names(_ page: Found) -> [String] {
        page["records"].elements.compactMap(\.name)
    }

    @Test(
        "Behind a page from the disk so many bytes are read, and more only when more is asked for",
        arguments: [false, true])
    func stretches(reversed: Bool) throws {
        let witness = Witness(isCold: true)
        let ahead = witness.ahead()
        let server = try WireServer(readAhead: ahead)
        let ida = try server.user()
        try fill(ida, 40)
        let more = reversed ? #""reverse":true"# : nil
        let order = (1...40).map { "r\($0)" }
        let expected = reversed ? order.reversed() : order

        let first = try ida.changes(limit: 4, more: more)
        #expect(names(first) == Array(expected[0..<4]))
        try witness.wait(forStretches: 1)
        // Whole rows: the last one may go beyond.
        #expect((8_192..<8_192 + Self.rowBytes.upperBound).contains(witness.all[0]))

        let second = try ida.changes(after: first["syncToken"].string, limit: 4, more: more)
        #expect(names(second) == Array(expected[4..<8]))
        try witness.wait(forStretches: 2)
        #expect((4_096..<4_096 + Self.rowBytes.upperBound).contains(witness.all[1]))

        // Far from the middle of what lies ahead, nothing is read.
        let third = try ida.changes(after: second["syncToken"].string, limit: 1, more: more)
        #expect(names(third) == [expected[8]])
        server.close()
        #expect(witness.all.count == 2)
        #expect(ahead.bytes == witness.all.reduce(0, +))
    }

    @Test("A feed that is followed to its end is what it is without reading ahead")
    func end() throws {
        let witness = Witness(isCold: true)
        let server = try WireServer(readAhead: witness.ahead())
        let ida = try server.user()
        try fill(ida, 30)
        var (token, found, pages) = (String?.none, [String](), 0)
        repeat {
            let page = try ida.changes(after: token, limit: 3)
            found += names(page)
            token = page["syncToken"].string
            pages += 1
            if page["moreComing"].bool != true { break }
            try witness.wait(forStretches: 1)
        } while pages < 20
        #expect(found == (1...30).map { "r\($0)" } && pages == 10)
    }

    @Test("A store that is closed while it is read ahead leaves no log behind")
    func closing() throws {
        let server = try WireServer(readAhead: Witness(isCold: true).ahead(bytesMax: 1_048_576))
        let ida = try server.user()
        try fill(ida, 200)
        #expect(try ida.changes(limit: 1)["moreComing"].bool == true)
        server.close()
        let left = try FileManager.default.contentsOfDirectory(atPath: server.folder.path)
        #expect(left.contains { $0.hasSuffix("-development.sqlite") })
        #expect(!left.contains { $0.hasSuffix("-development.sqlite-wal") }, "\(left)")
    }

    @Test("A feed in memory is not read ahead, nor any where that is switched off")
    func warm() throws {
        for (isCold, bytesMax) in [(false, 8_192), (true, 0)] {
            let witness = Witness(isCold: isCold)
            let server = try WireServer(readAhead: witness.ahead(bytesMax: bytesMax))
            let ida = try server.user()
            try fill(ida, 12)
            var token: String?
            for _ in 0..<4 {
                token = try ida.changes(after: token, limit: 3)["syncToken"].string
            }
            server.close()
            #expect(witness.all == [])
        }
    }

    @Test("A page with nothing behind it begins nothing")
    func lastPage() throws {
        let witness = Witness(isCold: true)
        let server = try WireServer(readAhead: witness.ahead())
        let ida = try server.user()
        try fill(ida, 3)
        #expect(try ida.changes(limit: 3)["moreComing"].bool == false)
        server.close()
        #expect(witness.all == [])
    }
}
