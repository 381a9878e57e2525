import Administration
import CloudModel
import Telemetry

extension Command {
    static let telemetry: [Command] = [
        Command(
            "telemetry show", "draw what happened in a container environment, and how fast",
            reach: [.looks, .own], positionals: CommandPositional.containerAndEnvironment,
            options: [
                CommandOption(
                    "hours", value: "N",
                    "so far back, up to \(ChartSpan.hoursMax); 1 when left out (24: a day, 720: a month)"
                ),
                CommandOption(
                    "until", value: "TIME",
                    "up to a day such as 2026-11-21, or with T08:00:00Z; now when left out"),
                CommandOption(
                    "operation", value: "O", "of one operation alone, such as records/modify"),
            ],
            action: .data { invocation, administrator in
                let hours = try invocation.value("hours").map { text in
                    guard let number = Int(text), (1...ChartSpan.hoursMax).contains(number) else {
                        throw invocation.misuse(
                            "--hours takes a whole number from 1 to \(ChartSpan.hoursMax)")
                    }
                    return number
                }
                let target = try invocation.containerAndEnvironment()
                let operation = invocation.value("operation")
                let outcome = try administrator.perform(
                    ShowTelemetry(
                        of: target, hours: hours ?? 1,
                        until: invocation.value("until").map {
                            try moment($0, of: "telemetry show: --until")
                        }, operation: operation))
                let drawing = TelemetryDrawing(outcome, target.environment, operation)
                return CommandOutput(
                    drawing.text,
                    values: [
                        ("container", .text(outcome.container.name)),
                        ("environment", .text(target.environment.rawValue)),
                    ] + outcome.report.members + [
                        ("figures", .objects(outcome.figures.map(\.members))),
                        ("starts", .objects(outcome.starts.map { [("minute", .number($0))] })),
                    ])
            })
    ]
}

private typealias Members = [(key: String, value: CommandOutput.Value)]

extension TelemetryReport {
    /// What `--json` tells; times in milliseconds since 1970, latencies in microseconds.
    fileprivate var members: Members {
        [
            ("from", .number(span.moments.lowerBound)), ("to", .number(span.moments.upperBound)),
            ("stepSeconds", .number(span.width / 1_000)),
            ("total", .object(total.members)),
            ("points", .objects(points.map { [("start", .number($0.start))] + $0.totals.members })),
            ("operations", .objects(operations.map(\.members))),
            ("databases", .objects(databases.map(\.members))),
            ("clients", .objects(clients.map(\.members))),
            ("versions", .objects(versions.map(\.members))),
            ("carriers", .objects(carriers.map(\.members))),
        ]
    }
}

extension TelemetryReport.Row {
    fileprivate var members: Members { [("name", .text(name))] + totals.members }
}

extension TelemetryTotals {
    fileprivate var members: Members {
        func number(_ value: UInt64) -> CommandOutput.Value { .number(Int64(clamping: value)) }
        func counts(_ counts: [String: UInt64]) -> CommandOutput.Value {
            .objects(
                counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
                    .map { [("code", .text($0.key)), ("count", number($0.value))] })
        }
        var members: Members = [
            ("requests", number(requests)), ("errors", number(errorCount)),
            ("usersAffected", .number(Int64(affected.count))),
            ("bytesIn", number(bytesIn)), ("bytesOut", number(bytesOut)),
            ("noticesSent", number(noticesSent)), ("noticesFailed", number(noticesFailed)),
        ]
        for (key, part) in [
            ("p50Microseconds", 0.5), ("p95Microseconds", 0.95), ("p99Microseconds", 0.99),
        ] {
            if let seconds = latency.seconds(atQuantile: part) {
                members.append((key, .number(Int64(seconds * 1e6))))
            }
        }
        if !errors.isEmpty { members.append(("errorCodes", counts(errors))) }
        if !itemFaults.isEmpty { members.append(("itemFaults", counts(itemFaults))) }
        return members
    }
}

extension ContainerFigures {
    fileprivate var members: Members {
        [
            ("day", .text(String(Timestamp(day * 86_400_000).text.prefix(10)))),
            ("records", .number(records)), ("recordBytes", .number(recordBytes)),
            ("assets", .number(assets)), ("assetBytes", .number(assetBytes)),
            ("tombstones", .number(tombstones)), ("users", .number(users)),
        ]
    }
}
