import Audit
import Cryptography
import Foundation
import Seeding
import Testing

@Suite("Pages of the audit log")
final class AuditPageTests {
    private let path = NSTemporaryDirectory() + "audit-\(UUID().uuidString).log"

    deinit { try? FileManager.default.removeItem(atPath: path) }

    private func note(_ count: Int) throws {
        let log = try AuditLog(path: path)
        for number in 0..<count {
            try log.note(
                AuditEntry(
                    time: Int64(number), who: "operator \(number % 3)", what: "act \(number)",
                    account: number % 2 == 0 ? "account-\(number)" : nil))
        }
    }

    /// A log with so many lines, as `AuditLog` would write them, without a sync for each.
    private func fill(_ count: Int) throws {
        var (bytes, previous): ([UInt8], String) = ([], String(repeating: "0", count: 64))
        for number in 0..<count {
            let start = """
                {"previous":"\(previous)","time":\(number),"who":"o\(number)","what":"act"
                """
            previous = Hexadecimal.encode(SHA256.digest(Array(start.utf8)))
            bytes += Array("\(start),\"hash\":\"\(previous)\"}\n".utf8)
        }
        try Data(bytes).write(to: URL(filePath: path))
    }

    /// All pages, each with the oldest entry first.
    private func pages(
        limit: Int, prefix: String = "", between: () throws -> Void = {}
    ) throws -> [AuditPage] {
        var pages: [AuditPage] = []
        repeat {
            pages.append(
                try AuditPage(
                    of: path, before: pages.last?.next, since: .min, prefix: prefix, limit: limit))
            try between()
        } while pages.last?.next != nil
        return pages
    }

    @Test("Each line is on one page from the newest to the oldest, also while lines are added")
    func order() throws {
        try note(23)
        for limit in [1, 4, 22, 23, 24] {
            let pages = try self.pages(limit: limit)
            #expect(
                pages.reversed().flatMap(\.entries).map(\.time) == Array(0..<23), "\(limit)")
            #expect(pages.allSatisfy { $0.problems.isEmpty && $0.entries.count <= limit })
            #expect(pages.filter { $0.lastHash != nil }.count == 1)
            #expect(try pages[0].lastHash == AuditReport(of: path).lastHash)
        }
        let whileAdding = try pages(limit: 4) { try note(2) }
        #expect(whileAdding.reversed().flatMap(\.entries).map(\.time) == Array(0..<23))
        #expect(whileAdding.allSatisfy { $0.problems.isEmpty })
    }

    @Test("A page of 100,000 lines reads no more of them than it needs")
    func long() throws {
        try fill(100_000)
        // Whatever lies before the end of the file is not looked at.
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.write(contentsOf: Data(repeating: 0x78, count: 100))
        try handle.close()
        let page = try AuditPage(of: path, since: .min, limit: 100)
        #expect(page.entries.map(\.time) == Array(99_900..<100_000) && page.problems.isEmpty)
        let all = try pages(limit: 10_000)
        #expect(all.reversed().flatMap(\.entries).map(\.time) == Array(1..<100_000))
        #expect(all.dropLast().allSatisfy { $0.problems.isEmpty })
        #expect(all.last?.problems.isEmpty == false)
        // A search goes on where a page has read enough, even if it has found nothing.
        let found = try pages(limit: 10, prefix: "o7777")
        #expect(
            Set(found.flatMap(\.entries).map(\.who))
                == Set(["o7777"] + (0...9).map { "o7777\($0)" }))
        #expect(found.count > 1)
    }

    @Test("A search finds how operators, actions and accounts begin")
    func search() throws {
        try note(12)
        func times(_ prefix: String) throws -> [Int64] {
            try AuditPage(of: path, since: .min, prefix: prefix, limit: 99).entries.map(\.time)
        }
        #expect(try times("operator 1") == [1, 4, 7, 10])
        #expect(try times("act 1") == [1, 10, 11])
        #expect(try times("account-1") == [10])
        #expect(try times("count").isEmpty && times("act %").isEmpty && times("a.*").isEmpty)
    }

    @Test("Where no line ends no page begins")
    func locations() throws {
        try note(3)
        let size = try Data(contentsOf: URL(filePath: path)).count
        for end in [-1, 0, 1, Int64(size) - 1, Int64(size) + 1, .max, .min] {
            #expect(throws: AuditFailure.locationUnknown, "\(end)") {
                try AuditPage(of: path, before: end, since: .min, limit: 9)
            }
        }
        #expect(
            try AuditPage(of: path, before: Int64(size), since: .min, limit: 9).entries.count == 3)
        #expect(throws: AuditFailure.locationUnknown) {
            try AuditPage(of: "\(path).none", before: 1, since: .min, limit: 9)
        }
    }

    @Test("A line that is longer than any may be is named, and the lines around it are read")
    func tooLong() throws {
        try note(2)
        let lines = try Data(contentsOf: URL(filePath: path)).split(separator: 0x0A)
        for length in [32_768, 65_535, 65_536, 200_000] {
            let long = Data(repeating: 0x78, count: length)
            var bytes = Data()
            for line in [lines[0], long, lines[1]] {
                bytes += line
                bytes.append(0x0A)
            }
            bytes.append(0x7B)
            try bytes.write(to: URL(filePath: path))
            let page = try AuditPage(of: path, since: .min, limit: 9)
            #expect(page.entries.map(\.time) == [0, 1], "\(length)")
            #expect(
                page.problems.contains {
                    $0.hasPrefix("the line at byte \(lines[0].count + 1) of the audit log is")
                }, "\(length): \(page.problems)")
            #expect(page.next == nil)
        }
    }

    @Test("Whatever a log's bytes are, its pages end, and none goes beyond the file")
    func noise() throws {
        var random = SeededRandom("audit pages")
        for _ in 0..<200 {
            let bytes = (0..<random.below(3_000)).map { _ in
                random.once(in: 9) ? UInt8(0x0A) : UInt8(random.below(256))
            }
            try Data(bytes).write(to: URL(filePath: path))
            let pages = try self.pages(limit: 1 + random.below(4))
            #expect(pages.count <= bytes.count + 1)
            #expect(pages.allSatisfy { $0.entries.isEmpty })
        }
    }
}
