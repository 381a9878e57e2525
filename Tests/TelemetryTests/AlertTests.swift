import CloudModel
import Telemetry
import Testing

@Suite("Alerts")
struct AlertTests {
    private static let noon: Milliseconds = 1_800_014_400_000
    private let folder: TelemetryFolder
    private let storage: any TelemetryStorage

    init() throws {
        folder = try TelemetryFolder()
        storage = try folder.open()
    }

    /// Puts away minutes before noon: the first is the oldest.
    private func add(
        requests: [Int], errors: Int = 0, operation: String = "o", container: String = "icloud.a"
    ) throws {
        for (index, count) in requests.enumerated() {
            var totals = TelemetryTotals.of(count, milliseconds: 10)
            if errors > 0 { totals.errors = ["CONFLICT": UInt64(errors)] }
            let name = SeriesName(
                .requests, container: container, environment: "production", database: "private",
                operation: operation)
            try storage.add(
                TelemetryMinute(
                    start: Self.noon - Int64(requests.count - index) * 60_000,
                    series: [name: totals]))
        }
    }

    private func judge(_ rule: AlertRule) throws -> AlertJudgement {
        try AlertJudgement(rule, in: storage, at: Self.noon + 5_000)
    }

    @Test("A fixed threshold looks at its own time and filter alone")
    func fixed() throws {
        try add(requests: [90, 10, 10, 10, 10, 10], errors: 1)
        try add(requests: [500, 500], operation: "p")
        var rule = AlertRule(name: "a", metric: .requests, threshold: 49, minutes: 5)
        rule.filter.operation = "o"
        #expect(try judge(rule).value == 50)
        #expect(try judge(rule).isMet(by: rule))
        rule.threshold = 50
        #expect(try !judge(rule).isMet(by: rule))
        (rule.isAbove, rule.threshold) = (false, 51)
        #expect(try judge(rule).isMet(by: rule))
        rule.metric = .errorRate
        #expect(try judge(rule).value == 10)
        rule.filter.code = "EXISTS"
        #expect(try judge(rule).value == 0)
        rule.filter.container = "icloud.b"
        #expect(try judge(rule).value == nil)
        #expect(try !judge(rule).isMet(by: rule))
        rule.metric = .requests
        // Silence is below.
        #expect(try judge(rule).isMet(by: rule))
        (rule.metric, rule.filter.container) = (.p99, "icloud.a")
        #expect(abs((try judge(rule).value ?? 0) - 10) < 0.5)
    }

    @Test("A relative threshold is a part of what the time before had")
    func relative() throws {
        try add(requests: [10, 10, 14, 15])
        var rule = AlertRule(name: "a", metric: .requests, threshold: 40, minutes: 2)
        rule.isRelative = true
        #expect(try judge(rule).before == 20)
        #expect(try judge(rule).isMet(by: rule))
        rule.threshold = 50
        #expect(try !judge(rule).isMet(by: rule))
        rule.minutes = 4
        // There was nothing before.
        #expect(try judge(rule).limit == nil)
        #expect(try !judge(rule).isMet(by: rule))
    }

    @Test("An alert is told no more than once in its time, also after a restart")
    func once() throws {
        let rule = AlertRule(name: "a", metric: .requests, threshold: 1, minutes: 5)
        try storage.add(rule)
        #expect(throws: AlertRefusal.exists) { try storage.add(rule) }
        var told = AlertTelling()
        told.toldAt = Self.noon
        #expect(try storage.note(told, of: rule))
        // Another process had read it before that.
        #expect(try !storage.note(told, of: rule))
        storage.close()
        let again = try folder.open()
        let found = try #require(try again.alerts().first)
        #expect(found.telling == told)
        #expect(!found.mayTell(at: Self.noon + 299_999))
        #expect(found.mayTell(at: Self.noon + 300_000))
        #expect(found.mayTell(at: Self.noon - 1))
        try again.removeAlert("a")
        #expect(throws: AlertRefusal.unknown) { try again.removeAlert("a") }
        #expect(try again.alerts().isEmpty)
    }

    @Test("What is due of an alert stays noted until it was told, by what it was, and for a day")
    func due() throws {
        var rule = AlertRule(name: "a", metric: .requests, threshold: 1, minutes: 5)
        try storage.add(rule)
        var telling = AlertTelling()
        telling.dueAt = Self.noon
        #expect(try storage.note(telling, of: rule))
        rule.telling = telling
        telling.reached = .mail
        #expect(try storage.note(telling, of: rule))
        // Another process had read it before the letter left.
        #expect(try !storage.note(AlertTelling(), of: rule))
        let found = try #require(try storage.alerts().first?.telling)
        #expect(found == telling && found.isDue(at: Self.noon + 86_399_999))
        #expect(!found.isDue(at: Self.noon + 86_400_000))
        #expect(!AlertTelling().isDue(at: Self.noon))
    }

    @Test("There are so many alerts and no more")
    func count() throws {
        for number in 0..<AlertRule.countMax {
            try storage.add(
                AlertRule(name: "a\(number)", metric: .p95, threshold: 1, minutes: 1))
        }
        #expect(throws: AlertRefusal.tooMany) {
            try storage.add(AlertRule(name: "z", metric: .p95, threshold: 1, minutes: 1))
        }
    }

    @Test("An alert comes back as it was added, and its message says what, where and since when")
    func message() throws {
        var rule = AlertRule(name: "slow", metric: .errorRate, threshold: 2.5, minutes: 1)
        rule.filter.container = "icloud.a"
        rule.filter.environment = "production"
        rule.filter.database = "private"
        rule.filter.code = "CONFLICT"
        (rule.mail, rule.url, rule.madeAt) = ("a@b.example", "https://h.example/secret", 5)
        try storage.add(rule)
        #expect(try storage.alerts() == [rule])
        try add(requests: [30], errors: 1)
        let message = AlertMessage(rule, try judge(rule))
        #expect(message.subject == "Alert slow: error-rate is 3.333, above 2.5")
        #expect(message.text.contains("lenticular telemetry show icloud.a production"))
        let json = String(decoding: message.json, as: UTF8.self)
        #expect(json.contains(#""value":3.333"#) && json.contains(#""limit":2.500"#))
        #expect(!json.contains("secret") && !json.contains("a@b"))
    }
}

@Suite("The time of a chart")
struct ChartSpanTests {
    private static let now: Milliseconds = 1_800_014_455_123

    @Test(
        "An hour is drawn by minutes, a day by quarter-hours, a month by six hours, a year by days",
        arguments: [
            (1, 60, 1, TelemetryStep.minute), (24, 96, 15, .quarterHour),
            (168, 84, 120, .quarterHour), (720, 120, 360, .sixHours),
            (8_760, 365, 1_440, .sixHours), (9_600, 400, 1_440, .sixHours),
        ])
    func widths(hours: Int, count: Int, minutes: Int64, step: TelemetryStep) {
        let span = ChartSpan(hours: hours, until: Self.now)
        #expect(span.points.count == count)
        #expect(span.width == minutes * 60_000)
        #expect(span.step == step)
        #expect(span.moments.lowerBound % span.width == 0)
        // What rows still have.
        #expect(Self.now - span.moments.lowerBound <= step.keptMilliseconds)
        #expect(span.moments.upperBound > Self.now - 60_000)
    }

    @Test("A report has a point for each part of the time, and tables with the most requests first")
    func report() {
        let span = ChartSpan(hours: 1, until: Self.now)
        func series(
            _ kind: SeriesName.Kind, _ operation: String, _ minutes: [Int64], version: String = ""
        ) -> SeriesRows {
            SeriesRows(
                name: SeriesName(
                    kind, container: "a", operation: operation, client: "apple", version: version),
                rows: minutes.map { (span.moments.lowerBound + $0 * 60_000, .of(2)) })
        }
        let all = [
            series(.requests, "x", [0, 1]), series(.requests, "y", [1, 2, 59]),
            series(.versions, "", [1], version: "2"),
        ]
        let report = TelemetryReport(span, of: all, operation: nil)
        #expect(report.points.map(\.totals.requests).prefix(4) == [2, 4, 2, 0])
        #expect(report.total.requests == 10)
        #expect(report.operations.map(\.name) == ["y", "x"])
        #expect(report.versions.map(\.name) == ["apple 2"])
        let one = TelemetryReport(span, of: all, operation: "x")
        #expect(one.total.requests == 4 && one.operations.map(\.name) == ["x"])
    }
}
