#if PostgreSQL
    import Audit
    import CloudModel
    import Dispatch
    import Foundation
    import PostgreSQL
    import PostgreSQLStorage
    import Seeding
    import Testing

    @Suite("The audit log on PostgreSQL")
    struct PostgreSQLAuditTests {
        private let options: ConnectionOptions

        init() throws { options = try NewDatabase.options() }

        private func open() -> AuditRows { AuditRows(PostgreSQLAudit(options)) }

        private static func entry(_ number: Int64, _ random: inout SeededRandom) -> AuditEntry {
            let container = random.one(of: ["iCloud.org.example.Notes", "iCloud.org.example.Maps"])
            return AuditEntry(
                time: number * 1_000,
                who: random.one(of: ["command line", "operator \u{e9}\u{0}"]),
                what: random.one(of: ["user erase", "user list", "zone restore", "u"]),
                account: random.happens(50) ? "account-\(random.below(20))" : nil,
                detail: random.happens(70) ? "\(container) production \(random.below(9))" : nil)
        }

        private static func pages(
            _ log: any AuditStorage, since: Milliseconds, prefix: String, limit: Int
        ) throws -> [AuditEntry] {
            var (all, end): ([AuditEntry], Int64?) = ([], nil)
            while true {
                let page = try log.page(before: end, since: since, prefix: prefix, limit: limit)
                #expect(page.entries.count <= limit && page.problems.isEmpty)
                all = page.entries + all
                guard let next = page.next else { return all }
                end = next
            }
        }

        @Test(
            "Lines of several processes are one chain, and a search finds what it finds in a file")
        func together() throws {
            var random = SeededRandom("audit of two processes")
            let path = NSTemporaryDirectory() + "audit-\(UUID().uuidString)"
            // NB: what is left goes with the machine's temporary files.
            defer {
                for end in ["", ".index"] {
                    try? FileManager.default.removeItem(atPath: path + end)
                }
            }
            let model = try AuditLog(path: path)
            let processes = [open(), open()]
            for number in 0..<400 {
                let entry = Self.entry(Int64(number), &random)
                try random.one(of: processes).note(entry)
                try model.note(entry)
            }
            #expect(try processes[0].report() == model.report())
            let prefixes = [
                "", "u", "us", "user e", "operator \u{e9}\u{0}", "account-1", "account-11",
                "iCloud.org.example.No", "iCloud.org.example.Maps", "production", "nothing", "com",
            ]
            for prefix in prefixes {
                let since = Int64(random.below(3)) * 150_000
                let limit = 1 + random.below(60)
                #expect(
                    try Self.pages(processes[1], since: since, prefix: prefix, limit: limit)
                        == Self.pages(model, since: since, prefix: prefix, limit: limit),
                    "\(prefix) since \(since), \(limit) a page, seed \(random.seed)")
            }
            let first = try processes[0].page(before: nil, since: .min, prefix: "user", limit: 1)
            #expect(try first.lastHash == model.report().lastHash)
        }

        @Test("Lines that processes note at once follow one another, and none is lost")
        func atOnce() throws {
            let seed = SeededRandom("audit at once").seed
            let processes = [open(), open(), open()]
            DispatchQueue.concurrentPerform(iterations: 3) { index in
                var random = SeededRandom(seed: seed, stream: index)
                for number in 0..<25 {
                    do { try processes[index].note(Self.entry(Int64(number), &random)) } catch {
                        Issue.record("\(error), seed \(seed)")
                    }
                }
            }
            let report = try processes[0].report()
            #expect(report.lineCount == 75 && report.problems.isEmpty, "seed \(seed)")
        }

        @Test("A line that was removed, changed or moved shows, in the report and on its page")
        func tampering() throws {
            var random = SeededRandom("audit tampering")
            let log = open()
            for number in 0..<20 { try log.note(Self.entry(Int64(number), &random)) }
            let admin = try Connection(options)
            func problems(after change: String) throws -> [String] {
                try admin.run(script: "CREATE TABLE before AS SELECT * FROM logs.audit_lines")
                try admin.run(script: change)
                let problems = try log.report().problems
                #expect(
                    try log.page(before: nil, since: .min, prefix: "", limit: 100).problems
                        == problems)
                try admin.run(
                    script: """
                        DELETE FROM logs.audit_lines;
                        INSERT INTO logs.audit_lines SELECT * FROM before; DROP TABLE before
                        """)
                return problems
            }
            let breaks = "of the audit log does not follow on the line before it"
            #expect(
                try problems(after: "DELETE FROM logs.audit_lines WHERE number = 7")
                    == ["line 8 \(breaks)"])
            #expect(
                try problems(after: "DELETE FROM logs.audit_lines WHERE number <= 2")
                    == ["line 3 \(breaks)"])
            #expect(
                try problems(
                    after: """
                        UPDATE logs.audit_lines SET line = set_byte(line, 90, 33) WHERE number = 11
                        """
                ).first == "line 11 of the audit log is not as it was written")
            #expect(
                try problems(
                    after: """
                        UPDATE logs.audit_lines SET number = -4 WHERE number = 4;
                        UPDATE logs.audit_lines SET number = 4 WHERE number = 5;
                        UPDATE logs.audit_lines SET number = 5 WHERE number = -4
                        """
                ).count == 3)
            #expect(try log.report().problems.isEmpty)
        }

        @Test("What cannot be noted is refused, and noted once the database takes it again")
        func refused() throws {
            var random = SeededRandom("audit refused")
            let log = open()
            try log.note(Self.entry(1, &random))
            let admin = try Connection(options)
            try admin.run(script: "ALTER TABLE logs.audit_terms RENAME TO gone")
            let entry = Self.entry(2, &random)
            #expect(throws: AuditFailure.self) { try log.note(entry) }
            try admin.run(script: "ALTER TABLE logs.gone RENAME TO audit_terms")
            #expect(try log.report().lineCount == 1)
            try log.note(entry)
            #expect(try log.report().lineCount == 2)
            let long = AuditEntry(time: 3, who: String(repeating: "x", count: 1_025), what: "w")
            #expect(throws: AuditFailure.tooLong) { try log.note(long) }
        }
    }
#endif
