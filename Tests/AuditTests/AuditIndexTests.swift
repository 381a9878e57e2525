import Audit
import Cryptography
import Foundation
import Seeding
import Testing

@Suite("The index of the audit log")
final class AuditIndexTests {
    private let path = NSTemporaryDirectory() + "audit-\(UUID().uuidString).log"
    private var index: String { "\(path).index" }

    deinit {
        // NB: what is not there need not go.
        try? FileManager.default.removeItem(atPath: path)
        try? FileManager.default.removeItem(atPath: index)
    }

    private static func account(_ number: Int) -> String {
        String(Hexadecimal.encode(SHA256.digest(Array("\(number)".utf8))).prefix(32))
    }

    /// As `AuditLog` would write them, without a sync for each.
    private func fill(_ numbers: Range<Int>, after last: String? = nil) throws -> String {
        var (bytes, previous) = ([UInt8](), last ?? String(repeating: "0", count: 64))
        for number in numbers {
            let start = """
                {"previous":"\(previous)","time":\(number * 1_000),"who":"user \(number % 3)",\
                "what":"user export","account":"\(Self.account(number))",\
                "detail":"iCloud.org.example.App\(number % 50) production item-\(number)"
                """
            previous = Hexadecimal.encode(SHA256.digest(Array(start.utf8)))
            bytes += Array("\(start),\"hash\":\"\(previous)\"}\n".utf8)
        }
        if last == nil { try Data().write(to: URL(filePath: path)) }
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(bytes))
        try handle.close()
        return previous
    }

    private func page(
        _ prefix: String, since: Int64 = .min, limit: Int = 10_000
    ) throws -> AuditPage {
        try AuditPage(of: path, since: since, prefix: prefix, limit: limit)
    }

    private func numbers(_ prefix: String, since: Int64 = .min) throws -> [Int64] {
        let page = try page(prefix, since: since)
        #expect(page.problems.isEmpty && page.next == nil)
        return page.entries.map { $0.time / 1_000 }
    }

    private func change(_ path: String, at offset: Int, to bytes: [UInt8]) throws {
        let handle = try FileHandle(forUpdating: URL(filePath: path))
        try handle.seek(toOffset: UInt64(offset))
        try handle.write(contentsOf: Data(bytes))
        try handle.close()
    }

    @Test("A search by operator, action, account, container or item finds each line that begins so")
    func finds() throws {
        var last = try fill(0..<3_000)
        for round in 0..<2 {
            let count = 3_000 + round * 300
            #expect(try numbers(Self.account(17)) == [17])
            #expect(try numbers(String(Self.account(2_999).prefix(9))) == [2_999])
            #expect(try numbers("item-2500") == [2_500])
            #expect(try numbers("item-250") == [250] + Array(2_500..<2_510))
            #expect(
                try numbers("iCloud.org.example.App7 ")
                    == (0..<Int64(count)).filter { $0 % 50 == 7 })
            #expect(try numbers("user 1") == (0..<Int64(count)).filter { $0 % 3 == 1 })
            #expect(try numbers("production").count == count && numbers("u").count == count)
            #expect(try numbers("item-31", since: 3_000_000_000).isEmpty)
            #expect(
                try numbers("user 1", since: 2_990_000)
                    == Array(2_990..<Int64(count)).filter { $0 % 3 == 1 })
            #expect(try numbers("nobody").isEmpty && numbers("tem-2500").isEmpty)
            last = try fill(count..<(count + 300), after: last)
        }
    }

    @Test("What is escaped in the log is found as it was noted")
    func escaped() throws {
        let log = try AuditLog(path: path)
        let details = ["plain", "\"quoted\"", "a/path", "back\\slash", "é", "tab\tbed"]
        for (number, detail) in details.enumerated() {
            try log.note(
                AuditEntry(
                    time: Int64(number) * 1_000, who: "user 1", what: "user export", account: nil,
                    detail: detail))
        }
        for (number, detail) in details.enumerated() {
            #expect(try numbers(detail) == [Int64(number)])
        }
    }

    @Test("Lines that cannot be looked for are not read")
    func skips() throws {
        _ = try fill(0..<5_000)
        #expect(try numbers(Self.account(4_000)) == [4_000])
        let size = try Data(contentsOf: URL(filePath: path)).count
        // The first tenth of the log is no log any more; only who reads it sees that.
        try change(path, at: 0, to: [UInt8](repeating: 0x78, count: size / 10))
        #expect(try numbers(Self.account(4_000)) == [4_000])
        #expect(try numbers("user 2", since: 4_900_000).count == 33)
        #expect(try !page("user 2").problems.isEmpty)
        #expect(try !AuditReport(of: path).problems.isEmpty)
    }

    @Test("A damaged line is named by every search")
    func damaged() throws {
        _ = try fill(0..<3_000)
        let text = try Data(contentsOf: URL(filePath: path))
        let place = try #require(text.range(of: Data("item-400\"".utf8)))
        try change(path, at: place.lowerBound, to: Array("item-401".utf8))
        let found = try page(Self.account(2_500))
        #expect(found.entries.count == 1 && found.problems.count == 2)
        // A line that was taken out shows too, also where a block begins.
        for line in [100, 127, 128, 129] {
            _ = try fill(0..<3_000)
            try? FileManager.default.removeItem(atPath: index)
            var lines = try Data(contentsOf: URL(filePath: path)).split(separator: 0x0A)
            lines.remove(at: line)
            try Data((lines + [Data()]).joined(separator: [0x0A])).write(to: URL(filePath: path))
            let found = try page(Self.account(2_500))
            #expect(found.entries.count == 1 && found.problems.count == 1, "\(line)")
        }
    }

    @Test("A torn, changed, missing or foreign index is made again")
    func madeAgain() throws {
        let last = try fill(0..<2_000)
        #expect(try numbers("item-1999") == [1_999])
        let whole = try Data(contentsOf: URL(filePath: index))
        var random = SeededRandom(seed: 7)
        for round in 0..<60 {
            var other = whole
            switch round % 3 {
            case 0: other = whole.prefix(Int.random(in: 0..<whole.count, using: &random))
            case 1:
                let start = Int.random(in: 0..<whole.count, using: &random)
                let end = min(whole.count, start + 700)
                other.replaceSubrange(start..<end, with: Data(count: end - start))
            default: other += Data(count: Int.random(in: 1..<2_000, using: &random))
            }
            try other.write(to: URL(filePath: index))
            let number = Int.random(in: 0..<2_000, using: &random)
            #expect(try numbers(Self.account(number)) == [Int64(number)])
            #expect(try Data(contentsOf: URL(filePath: index)) == whole, "\(round)")
        }
        try FileManager.default.removeItem(atPath: index)
        #expect(try numbers("item-1999") == [1_999])
        #expect(try Data(contentsOf: URL(filePath: index)) == whole)
        // Another log in its place, as after a restore: shorter, and as long.
        _ = try fill(5_000..<6_000)
        #expect(try numbers(Self.account(5_001)) == [5_001])
        _ = try fill(0..<1_000)
        _ = try fill(6_000..<7_500, after: last)
        #expect(try page(Self.account(7_000)).entries.count == 1)
        #expect(try page(Self.account(5_001)).entries.isEmpty)
    }

    @Test("Where no index can be kept the log itself is searched")
    func withoutIndex() throws {
        _ = try fill(0..<1_000)
        try FileManager.default.createSymbolicLink(
            atPath: index, withDestinationPath: "/dev/null")
        #expect(try numbers("item-77") == [77] + Array(770..<780))
        #expect(try numbers("item-0") == [0])
    }
}
