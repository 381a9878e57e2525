import Audit
import Foundation
import Seeding
import Testing

@Suite("The audit log")
struct AuditLogTests {
    /// A folder of a test's own, gone with it.
    private final class Folder {
        let path = NSTemporaryDirectory() + "audit-\(UUID().uuidString)"
        var log: String { "\(path)/audit.log" }

        init() throws {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func bytes() throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: log))) }

        func write(_ bytes: some Sequence<UInt8>) throws {
            try Data(bytes).write(to: URL(filePath: log))
        }

        func report() throws -> AuditReport { try AuditReport(of: log) }

        func page(since: Int64 = .min, limit: Int = 1_000) throws -> AuditPage {
            try AuditPage(of: log, since: since, limit: limit)
        }
    }

    private func entry(_ number: Int) -> AuditEntry {
        AuditEntry(
            time: Int64(number), who: "operator \(number % 3)", what: "user erase",
            account: number % 2 == 0 ? "account-\(number)" : nil,
            detail: number % 5 == 0 ? "with \"quotes\",\n a line end and é" : nil)
    }

    private func filled(_ folder: Folder, _ count: Int) throws {
        let log = try AuditLog(path: folder.log)
        for number in 0..<count { try log.note(entry(number)) }
    }

    @Test("What was noted is read back in order, and the file is its owner's alone")
    func roundTrip() throws {
        let folder = try Folder()
        #expect(try folder.page().entries.isEmpty)
        try filled(folder, 7)
        try filled(folder, 3)
        let report = try folder.report()
        #expect(try folder.page().entries == (0..<7).map(entry) + (0..<3).map(entry))
        #expect(report.problems.isEmpty)
        #expect(report.lineCount == 10)
        let mode = try FileManager.default.attributesOfItem(atPath: folder.log)[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test("Since and limit give the newest entries of a time")
    func window() throws {
        let folder = try Folder()
        try filled(folder, 100)
        #expect(try folder.page(since: 90).entries == (90..<100).map(entry))
        #expect(try folder.page(limit: 4).entries == (96..<100).map(entry))
        #expect(try folder.page(since: 98, limit: 4).entries == (98..<100).map(entry))
    }

    @Test("A line that is removed, changed, doubled or moved shows, at its place")
    func tampering() throws {
        let folder = try Folder()
        try filled(folder, 20)
        let lines = try folder.bytes().split(separator: 0x0A).map { Array($0) + [0x0A] }
        var removed = lines
        removed.remove(at: 7)
        try folder.write(removed.joined())
        #expect(
            try folder.report().problems
                == ["line 8 of the audit log does not follow on the line before it"])
        var first = lines
        first.removeFirst()
        try folder.write(first.joined())
        #expect(try folder.report().problems.count == 1)
        var moved = lines
        moved.swapAt(3, 4)
        try folder.write(moved.joined())
        #expect(try folder.report().problems.count == 3)
        var doubled = lines
        doubled.insert(lines[5], at: 6)
        try folder.write(doubled.joined())
        #expect(try folder.report().problems.count == 1)
        let changed = lines.map { String(decoding: $0, as: UTF8.self) }.enumerated().map {
            $0.offset == 10 ? $0.element.replacing("erase", with: "write") : $0.element
        }
        try folder.write(changed.joined().utf8)
        let report = try folder.report()
        #expect(report.problems.first == "line 11 of the audit log is not as it was written")
        #expect(try folder.page().entries.count == 19)
    }

    @Test("Any bit that is turned shows, or is in a last line that is not whole")
    func bits() throws {
        var random = SeededRandom("audit bits")
        let folder = try Folder()
        try filled(folder, 8)
        let whole = try folder.bytes()
        let last = try #require(whole.dropLast().lastIndex(of: 0x0A))
        for _ in 0..<2_000 {
            var bytes = whole
            let location = random.below(whole.count)
            bytes[location] ^= 1 << UInt8(random.below(8))
            try folder.write(bytes)
            let report = try folder.report()
            #expect(!report.problems.isEmpty || location > last, "\(location)")
            let page = try folder.page()
            #expect(page.problems.isEmpty == report.problems.isEmpty, "\(location)")
            // Whatever the file is, opening it and going on works, or says why not.
            if random.once(in: 20) { try AuditLog(path: folder.log).note(entry(9)) }
        }
    }

    @Test("After a crash at any byte of the last line, the whole lines stay and the chain goes on")
    func torn() throws {
        let folder = try Folder()
        try filled(folder, 3)
        let whole = try folder.bytes()
        let lastStart = try #require(whole.dropLast().lastIndex(of: 0x0A)) + 1
        for cut in lastStart..<whole.count {
            try folder.write(whole[..<cut])
            let log = try AuditLog(path: folder.log)
            #expect(log.tornBytes == cut - lastStart)
            try log.note(entry(50))
            let report = try folder.report()
            #expect(try folder.page().entries == [entry(0), entry(1), entry(50)])
            #expect(report.problems.isEmpty)
        }
        // The end of a line came to the disk, its beginning did not.
        try folder.write(whole[..<lastStart] + [UInt8](repeating: 0, count: 40) + [0x7D, 0x0A])
        let log = try AuditLog(path: folder.log)
        #expect(log.tornBytes == 42)
        try log.note(entry(50))
        #expect(try folder.report().problems.isEmpty)
    }

    @Test("What is too long is refused, and nothing of it is in the file")
    func tooLong() throws {
        let folder = try Folder()
        let log = try AuditLog(path: folder.log)
        let long = String(repeating: "\u{1}", count: AuditEntry.textBytesMax)
        let longest = AuditEntry(time: 1, who: long, what: long, account: long, detail: long)
        try log.note(longest)
        #expect(throws: AuditFailure.tooLong) {
            try log.note(AuditEntry(time: 1, who: long + "a", what: "x"))
        }
        #expect(try folder.page().entries == [longest])
        #expect(try folder.report().problems.isEmpty)
    }

    @Test("On a full disk the note is refused, and the lines before it stay whole")
    func fullDisk() throws {
        // A device that takes no byte stands for a disk that has no room.
        guard FileManager.default.fileExists(atPath: "/dev/full") else { return }
        let log = try AuditLog(path: "/dev/full")
        #expect(throws: AuditFailure.self) { try log.note(entry(1)) }
    }

    @Test("Many threads note at once, and every line follows on another")
    func threads() async throws {
        let folder = try Folder()
        let log = try AuditLog(path: folder.log)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 { group.addTask { try log.note(self.entry(number)) } }
            try await group.waitForAll()
        }
        let report = try folder.report()
        #expect(report.problems.isEmpty)
        #expect(Set(try folder.page().entries.map(\.time)) == Set(0..<40))
    }

    @Test("A link in the log's place is not followed")
    func link() throws {
        let folder = try Folder()
        try FileManager.default.createSymbolicLink(
            atPath: folder.log, withDestinationPath: "\(folder.path)/elsewhere")
        #expect(throws: AuditFailure.self) { try AuditLog(path: folder.log) }
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/elsewhere"))
    }
}
