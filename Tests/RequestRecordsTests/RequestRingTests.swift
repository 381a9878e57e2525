import CloudModel
import Files
import Foundation
import RequestRecords
import Seeding
import Testing

@Suite("The lines of requests that are kept")
struct RequestRingTests {
    /// A ring in a folder of its own, gone with it.
    final class Folder {
        let path = NSTemporaryDirectory() + "requests-\(UUID().uuidString)"

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func ring(bytesMax: Int = 64 << 20, daysMax: Int = 14) throws -> RequestRing {
            try RequestRing(path, .init(bytesMax: bytesMax, daysMax: daysMax))
        }

        var files: [String] {
            get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
        }

        func bytes(_ name: String) throws -> [UInt8] {
            Array(try Data(contentsOf: URL(filePath: "\(path)/\(name)")))
        }

        func write(_ bytes: [UInt8], _ name: String) throws {
            try Data(bytes).write(to: URL(filePath: "\(path)/\(name)"))
        }
    }

    static let start: Milliseconds = 1_767_225_600_000

    /// A line with all that a line may have, or with little.
    static func entry(
        _ number: Int, _ random: inout SeededRandom, user: String? = nil
    ) -> RequestEntry {
        var entry = RequestEntry(
            time: start + Int64(number), id: (0..<16).map { _ in UInt8(random.below(256)) })
        entry.status = 200
        entry.operation = random.one(of: ["records/modify", "records/lookup", "changes/zone"])
        entry.user = user ?? "_user\(random.below(50))"
        entry.container = "iCloud.dev.lenticular.Notes"
        entry.environment = random.one(of: [.development, .production])
        entry.database = random.one(of: [.private, .public, .shared, nil])
        entry.device = random.happens(80) ? "device-\(entry.user ?? "")" : nil
        entry.bytesIn = random.below(5_000)
        entry.bytesOut = random.below(90_000)
        entry.microseconds.waiting = random.below(900)
        entry.microseconds.reading = random.below(900)
        guard random.happens(40) else { return entry }
        entry.software = .init(kind: "apple", name: "Notes", version: "\(random.below(9))")
        entry.session = "5e55\(random.below(9))"
        entry.keyID = random.happens(10) ? "key" : nil
        entry.code = random.happens(20) ? "BAD_REQUEST" : nil
        entry.reason = entry.code == nil ? nil : "schemaLacksField"
        entry.dateAheadMilliseconds = random.happens(10) ? -7_200_000 : nil
        entry.zones = (0..<random.below(4)).map { zone in
            .init(
                name: "Zone\(zone)", owner: random.happens(30) ? "_owner" : nil,
                from: random.happens(70) ? Int64(random.below(1 << 40)) : nil,
                to: random.happens(70) ? Int64(random.below(1 << 40)) : nil,
                moreComing: random.happens(30))
        }
        entry.failures = (0..<random.below(3)).map { _ in
            .init(
                code: "CONFLICT", reason: random.happens(50) ? "limitExceeded" : nil,
                count: random.below(200), records: [UInt32(random.below(1 << 31))])
        }
        (entry.items, entry.records, entry.notices) = (random.below(200), random.below(200), 1)
        entry.microseconds.deciding = random.below(900)
        entry.microseconds.committing = random.below(9_000)
        entry.microseconds.sending = random.below(900)
        return entry
    }

    static func found(
        _ ring: RequestRing, _ filter: RequestFilter = RequestFilter()
    ) -> [RequestEntry] {
        var found: [RequestEntry] = []
        ring.newest(filter) { _, entry in
            found.append(entry)
            return true
        }
        return found.reversed()
    }

    @Test("The id of a request and the digits of its session are kept as they are told")
    func digits() throws {
        var random = SeededRandom("digits of lines")
        let folder = Folder()
        let ring = try folder.ring()
        var lines = WaitingLines()
        var written: [RequestEntry] = []
        for length in 0..<200 {
            let bytes = (0..<length).map { _ in UInt8(random.below(256)) }
            let id = (0..<16).map { _ in UInt8(random.below(256)) }
            func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
                bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            }
            let digits = hexadecimal(id)
            var (uuid, rest) = ("", digits[...])
            for count in [8, 4, 4, 4, 12] {
                uuid += (uuid.isEmpty ? "" : "-") + rest.prefix(count)
                rest = rest.dropFirst(count)
            }
            var entry = RequestEntry(time: Self.start, id: id)
            entry.operation = "records/lookup"
            entry.session = hexadecimal(bytes.prefix(127))
            entry.keyID = "key"
            let head = LineHead { texts in
                texts.append(.operation, entry.operation)
                texts.append(.session, digitsOf: bytes)
                texts.append(.key, entry.keyID)
            }
            lines.append { line in
                line.begin(at: entry.time, nil, nil)
                line.id(uuid)
                line.head(head)
                line.numbers(
                    LineNumbers(
                        status: 0, dateAheadMilliseconds: nil, items: 0, records: 0, bytesIn: 0,
                        bytesOut: 0, microseconds: .init(), notices: 0))
            }
            written.append(entry)
        }
        try ring.append(lines, now: Self.start)
        #expect(Self.found(ring) == written)
        #expect(try folder.files.count == 1)
    }

    @Test("Lines are read back as they were, by user and by device too, also after a new start")
    func roundTrip() throws {
        var random = SeededRandom("lines of requests")
        let folder = Folder()
        var written: [RequestEntry] = []
        for _ in 0..<3 {
            let ring = try folder.ring(bytesMax: 1 << 20)
            for _ in 0..<4 {
                let batch = (0..<300).map { Self.entry(written.count + $0, &random) }
                try ring.append(batch, now: Self.start)
                written += batch
            }
            #expect(Self.found(ring) == written)
        }
        let ring = try folder.ring(bytesMax: 1 << 20)
        #expect(try folder.files.count > 1, "some segments are full")
        for number in [0, 7, 49] {
            let user = "_user\(number)"
            #expect(
                Self.found(ring, RequestFilter(person: .init(users: [user])))
                    == written.filter { $0.user == user })
            #expect(
                Self.found(ring, RequestFilter(device: "device-\(user)"))
                    == written.filter { $0.device == "device-\(user)" })
        }
        #expect(
            Self.found(ring, RequestFilter(operation: "changes/zone", code: "CONFLICT"))
                == written.filter {
                    $0.operation == "changes/zone" && $0.failed(with: "CONFLICT")
                })
        #expect(
            Self.found(ring, RequestFilter(since: Self.start + 3_000))
                == written.filter { $0.time >= Self.start + 3_000 })
    }

    @Test("Pages go on before and after a line, and none is left out or told twice")
    func pages() throws {
        var random = SeededRandom("pages of lines")
        let folder = Folder()
        let ring = try folder.ring(bytesMax: 1 << 20)
        let written = (0..<3_000).map { Self.entry($0, &random) }
        for start in stride(from: 0, to: 3_000, by: 100) {
            try ring.append(Array(written[start..<start + 100]), now: Self.start)
        }
        var (found, before): ([RequestEntry], RequestLocation?) = ([], nil)
        while found.count < written.count {
            var count = 0
            ring.newest(RequestFilter(before: before)) { location, entry in
                found.append(entry)
                before = location
                count += 1
                return count < 170
            }
            guard count > 0 else { break }
        }
        #expect(found.reversed() == written)
        var last: RequestLocation?
        ring.newest(RequestFilter()) { location, _ in
            last = location
            return false
        }
        let more = (3_000..<3_010).map { Self.entry($0, &random) }
        try ring.append(more, now: Self.start)
        #expect(Self.found(ring, RequestFilter(after: last)) == more)
    }

    @Test("The oldest go when there are too many bytes, and when they are too old")
    func oldest() throws {
        var random = SeededRandom("old lines")
        let folder = Folder()
        let ring = try folder.ring(bytesMax: 1 << 20, daysMax: 2)
        for batch in 0..<100 {
            try ring.append(
                (0..<500).map { Self.entry(batch * 500 + $0, &random) }, now: Self.start)
        }
        #expect(ring.byteCount <= 1 << 20)
        let found = Self.found(ring)
        #expect(found.count > 1_000 && found.last?.time == Self.start + 49_999)
        let days: Milliseconds = 3 * 86_400_000
        var late = Self.entry(0, &random)
        late.time = Self.start + days
        try ring.append([late], now: Self.start + days)
        try ring.append([late], now: Self.start + days)
        #expect(Self.found(ring).allSatisfy { $0.time >= Self.start + days })
    }

    @Test("A torn tail is cut at the start, wherever it is torn, and what was before it stays")
    func tornTail() throws {
        var random = SeededRandom("torn tails")
        for _ in 0..<60 {
            let folder = Folder()
            let ring = try folder.ring()
            var written: [RequestEntry] = []
            for _ in 0..<5 {
                let batch = (0..<20).map { Self.entry(written.count + $0, &random) }
                try ring.append(batch, now: Self.start)
                written += batch
            }
            let name = try #require(try folder.files.last)
            var bytes = try folder.bytes(name)
            let cut = 16 + random.below(bytes.count - 16)
            bytes.removeLast(bytes.count - cut)
            if random.happens(50) { bytes += pattern(random.below(300), seed: random.next()) }
            try folder.write(bytes, name)
            let again = try folder.ring()
            let found = Self.found(again)
            #expect(written.starts(with: found) && found.count % 20 == 0)
            let next = [Self.entry(written.count, &random)]
            try again.append(next, now: Self.start)
            #expect(Self.found(again) == found + next)
            #expect(Self.found(try folder.ring()) == found + next)
        }
    }

    @Test("Whatever the bytes of a segment are, reading ends, and nothing else is harmed")
    func fuzz() throws {
        var random = SeededRandom("damaged segments")
        let folder = Folder()
        let ring = try folder.ring(bytesMax: 1 << 20)
        for batch in 0..<20 {
            try ring.append(
                (0..<200).map { Self.entry(batch * 200 + $0, &random) }, now: Self.start)
        }
        let whole = try folder.files.map { ($0, try folder.bytes($0)) }
        for _ in 0..<150 {
            for (name, bytes) in whole {
                var bytes = bytes
                for _ in 0..<1 + random.below(20) {
                    switch random.below(4) {
                    case 0: bytes[random.below(bytes.count)] = UInt8(random.below(256))
                    case 1: bytes[random.below(bytes.count)] ^= 1 << UInt8(random.below(8))
                    case 2:
                        let at = max(0, bytes.count - 1 - random.below(400))
                        bytes[at] = random.happens(50) ? 0xff : UInt8(random.below(256))
                    default:
                        bytes.removeLast(random.happens(5) ? random.below(bytes.count - 40) : 0)
                    }
                }
                try folder.write(bytes, name)
            }
            let damaged = try folder.ring(bytesMax: 1 << 20)
            _ = Self.found(damaged)
            _ = Self.found(damaged, RequestFilter(person: .init(users: ["_user1"])))
            let one = [Self.entry(1, &random, user: "_new")]
            try damaged.append(one, now: Self.start)
            #expect(Self.found(damaged, RequestFilter(person: .init(users: ["_new"]))) == one)
            for name in try folder.files {
                try FileManager.default.removeItem(atPath: "\(folder.path)/\(name)")
            }
        }
    }

    @Test("Erasing a user takes their lines and their devices' out of the files, and no others'")
    func erasure() throws {
        var random = SeededRandom("erased lines")
        let folder = Folder()
        let ring = try folder.ring(bytesMax: 1 << 20)
        var written = (0..<2_000).map { Self.entry($0, &random) }
        for index in written.indices where written[index].user == "_user7" {
            written[index].device = "phone-of-seven"
            if random.happens(20) { written[index].user = nil }
        }
        for start in stride(from: 0, to: 2_000, by: 100) {
            try ring.append(Array(written[start..<start + 100]), now: Self.start)
        }
        let theirs = written.filter { $0.user == "_user7" || $0.device == "phone-of-seven" }
        #expect(try ring.erase(["_user7"]) == theirs.count)
        let rest = written.filter { $0.user != "_user7" && $0.device != "phone-of-seven" }
        #expect(Self.found(ring) == rest)
        for name in try folder.files {
            #expect(name.hasSuffix(".requests"))
            let text = String(decoding: try folder.bytes(name), as: UTF8.self)
            #expect(!text.contains("phone-of-seven"))
        }
        #expect(Self.found(try folder.ring(bytesMax: 1 << 20)) == rest)
    }

    @Test("An erasure that was cut off is finished by the next start, and nobody else's lines go")
    func erasureAfterCrash() throws {
        var random = SeededRandom("cut off erasures")
        let folder = Folder()
        let ring = try folder.ring(bytesMax: 1 << 20)
        let written = (0..<5_000).map { Self.entry($0, &random) }
        try ring.append(written, now: Self.start)
        let name = try #require(try folder.files.first)
        let old = try folder.bytes(name)
        try ring.erase(["_user7"])
        let rest = Self.found(ring)
        // As it stands between the two moves.
        try folder.write(old, name + ".erasing")
        try folder.write(try folder.bytes(name), name + ".new")
        try FileManager.default.removeItem(atPath: "\(folder.path)/\(name)")
        #expect(Self.found(try folder.ring(bytesMax: 1 << 20)) == rest)
        #expect(try folder.files.allSatisfy { $0.hasSuffix(".requests") })
    }

    @Test("A usual line takes at most 150 bytes with its index")
    func size() throws {
        var random = SeededRandom("sizes of lines")
        let folder = Folder()
        let ring = try folder.ring()
        for batch in 0..<100 {
            try ring.append(
                (0..<1_000).map { Self.entry(batch * 1_000 + $0, &random) }, now: Self.start)
        }
        let bytes = Double(ring.byteCount) / 100_000
        print("bytes a line: \(bytes)")
        #expect(bytes < 100)
    }
}
