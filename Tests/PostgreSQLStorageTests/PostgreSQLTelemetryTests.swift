#if PostgreSQL
    import CloudModel
    import Foundation
    import PostgreSQL
    import PostgreSQLStorage
    import SQLiteStorage
    import Seeding
    import Telemetry
    import Testing

    @Suite("Telemetry on PostgreSQL")
    struct PostgreSQLTelemetryTests {
        private static let day: Milliseconds = 86_400_000
        private static let start = 20_833 * day
        private let options: ConnectionOptions

        init() throws { options = try NewDatabase.options() }

        private func open() throws -> PostgreSQLTelemetry { try PostgreSQLTelemetry(options) }

        private static func name(
            _ operation: String, _ container: String = "icloud.a"
        ) -> SeriesName {
            SeriesName(
                .requests, container: container, environment: "production", operation: operation)
        }

        private static func totals(_ requests: Int) -> TelemetryTotals {
            var totals = TelemetryTotals()
            for number in 0..<requests {
                totals.latency.record(nanoseconds: UInt64(1 + number) * 1_000_000)
            }
            return totals
        }

        private static func question(_ step: TelemetryStep, days: Int64 = 1) -> RowQuestion {
            RowQuestion(
                [.requests], of: "icloud.a", in: "production", step: step,
                moments: start..<(start + days * day))
        }

        @Test("What two processes count in the same minute adds up, also when they write at once")
        func together() throws {
            let processes = [try open(), try open()]
            DispatchQueue.concurrentPerform(iterations: 2) { index in
                for minute in 0..<30 {
                    let moment = Self.start + Int64(minute) * 60_000
                    // NB: what is missing shows in the sums below.
                    try? processes[index].add(
                        TelemetryMinute(
                            start: moment,
                            series: [
                                Self.name("both"): Self.totals(2),
                                Self.name("one\(index)"): Self.totals(1),
                            ]))
                }
            }
            let found = try processes[0].rows(Self.question(.quarterHour))
            #expect(found.map(\.name.operation) == ["both", "one0", "one1"])
            #expect(
                found.map { $0.rows.map(\.totals.requests) } == [[60, 60], [15, 15], [15, 15]])
            #expect(processes[0].userHash.of("u") == processes[1].userHash.of("u"))
            #expect(processes[1].byteCount > 0)
        }

        @Test("A session that has ended is begun again, and one that was closed is not")
        func sessions() throws {
            let storage = try open()
            try storage.add(
                TelemetryMinute(start: Self.start, series: [Self.name("o"): Self.totals(1)]))
            _ = try Connection(options).run(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()
                """)
            try storage.add(
                TelemetryMinute(start: Self.start, series: [Self.name("o"): Self.totals(2)]))
            let found = try storage.rows(Self.question(.minute))
            #expect(found.flatMap(\.rows).map(\.totals.requests) == [3])
            storage.close()
            #expect(throws: TelemetryClosed.self) { try storage.rows(Self.question(.minute)) }
        }

        @Test("Alerts are those of all processes: a name once, so many at most")
        func alerts() throws {
            let (one, other) = (try open(), try open())
            var rule = AlertRule(name: "slow \u{0} é", metric: .p95, threshold: 0.25, minutes: 5)
            (rule.filter.container, rule.mail, rule.isRelative) = ("icloud.a", "a@b.example", true)
            try one.add(rule)
            #expect(throws: AlertRefusal.exists) { try other.add(rule) }
            var telling = AlertTelling()
            (telling.dueAt, telling.reached, telling.toldAt) = (9, .url, 7)
            #expect(try other.note(telling, of: rule))
            // It has read the alert before the other one told of it.
            #expect(try !one.note(AlertTelling(), of: rule))
            rule.telling = telling
            #expect(try one.alerts() == [rule])
            for number in 1..<AlertRule.countMax {
                try one.add(
                    AlertRule(name: "\(number)", metric: .p95, threshold: 1, minutes: 5))
            }
            let more = AlertRule(name: "more", metric: .p95, threshold: 1, minutes: 5)
            #expect(throws: AlertRefusal.tooMany) { try other.add(more) }
            try other.removeAlert(rule.name)
            #expect(throws: AlertRefusal.unknown) { try one.removeAlert(rule.name) }
        }

        /// Puts the same into both engines' telemetry, by chance.
        private static func step(
            _ random: inout SeededRandom, _ both: [any TelemetryStorage], at now: Milliseconds
        ) throws {
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                let figures = ContainerFigures(
                    container: "icloud.a", environment: "production",
                    day: ContainerFigures.day(of: now), records: .random(in: 0...9, using: &random),
                    recordBytes: 1, assets: 2, assetBytes: 3, tombstones: 4, users: 5)
                for storage in both { try storage.note(figures) }
            case 1: for storage in both { try storage.noteStart(at: now) }
            default:
                var minute = TelemetryMinute(start: TelemetryStep.minute.start(of: now))
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let operation = "o\(Int.random(in: 0..<5, using: &random))"
                    let container = Bool.random(using: &random) ? "icloud.a" : "icloud.b"
                    minute.series[name(operation, container)] =
                        totals(.random(in: 1...5, using: &random))
                }
                for storage in both { try storage.add(minute) }
            }
        }

        @Test("It keeps, tells and forgets what SQLite's does")
        func sameAsSQLite() throws {
            let folder = FileManager.default.temporaryDirectory.appending(
                path: "telemetry-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            // NB: the folder goes with the machine's temporary files.
            defer { try? FileManager.default.removeItem(at: folder) }
            let both: [any TelemetryStorage] = [
                try SQLiteTelemetry(path: folder.appending(path: "t.sqlite").path), try open(),
            ]
            var random = SeededRandom("telemetry of two engines")
            var now = Self.start
            for _ in 0..<200 {
                now += .random(in: 0...7_200_000, using: &random)
                try Self.step(&random, both, at: now)
            }
            for step in TelemetryStep.allCases {
                let told = try both.map { storage in
                    try storage.rows(Self.question(step, days: 60)).map {
                        ($0.name, $0.rows.map { ($0.start, $0.totals.encoded) })
                    }
                }
                #expect(told[0].map(\.0) == told[1].map(\.0))
                #expect(told[0].map { $0.1.map(\.0) } == told[1].map { $0.1.map(\.0) })
                #expect(told[0].map { $0.1.map(\.1) } == told[1].map { $0.1.map(\.1) })
                #expect(!told[1].isEmpty)
            }
            let days = 0...ContainerFigures.day(of: now)
            let figures = try both.map {
                try $0.figures(of: "icloud.a", in: "production", days: days)
            }
            #expect(figures[0] == figures[1])
            let starts = try both.map { try $0.starts(in: 0..<(now + 1), limit: 10) }
            #expect(starts[0] == starts[1])
        }
    }
#endif
