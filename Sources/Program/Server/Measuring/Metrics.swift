import CloudModel
import Storage
import Synchronization
import WebServices

/// What the server counts of itself, for Prometheus.
///
/// Every method may be called from any thread and takes well under a microsecond.
package final class Metrics: Sendable {
    private struct Reading: Sendable {
        let name: String
        let kind: MetricKind
        let help: String
        let read: @Sendable () -> Double
    }

    /// Samples of one metric, with their labels.
    typealias Samples = [(labels: [(name: String, value: String)], value: Double)]

    private struct Family: Sendable {
        let name: String
        let kind: MetricKind
        let help: String
        let read: @Sendable () -> Samples
    }

    private let version: String
    private let commit: String
    private let startedAt: Milliseconds
    private let requests = RequestCounts()
    private let engine = Mutex<@Sendable () -> [EngineFigure]>({ [] })
    private let readings = Mutex<[Reading]>([])
    private let families = Mutex<[Family]>([])
    private let callers = Mutex<@Sendable () -> [CallerKind: RateBudgets.Counts]>({ [:] })
    private let refusals = Mutex<@Sendable () -> [Int: UInt64]>({ [:] })

    /// - Parameters:
    ///   - commit: what the program was built from; empty where that is not known.
    ///   - startedAt: when the process started.
    package init(version: String, commit: String = "", startedAt: Milliseconds) {
        self.version = version
        self.commit = commit
        self.startedAt = startedAt
    }

    static func ofThisProgram(startedAt: Milliseconds) -> Metrics {
        Metrics(
            version: ProgramVersion.text, commit: ProgramVersion.commit, startedAt: startedAt)
    }

    /// Counts one finished request.
    package func record(_ request: RequestObservation) { requests.record(request) }

    /// Says how to ask the engine for its figures, whenever the page is asked for.
    package func observeEngine(_ read: @escaping @Sendable () -> [EngineFigure]) {
        engine.withLock { $0 = read }
    }

    /// Says how to ask the wire what it refused by itself, by status.
    package func observeRefusals(_ read: @escaping @Sendable () -> [Int: UInt64]) {
        refusals.withLock { $0 = read }
    }

    /// Says how to ask what callers' budgets have let pass and held back.
    package func observeCallers(_ read: @escaping @Sendable () -> [CallerKind: RateBudgets.Counts])
    {
        callers.withLock { $0 = read }
    }

    /// Adds a value that is read whenever the page is asked for, such as open connections.
    package func gauge(
        _ name: String, _ help: String, read: @escaping @Sendable () -> Double
    ) {
        readings.withLock { $0.append(Reading(name: name, kind: .gauge, help: help, read: read)) }
    }

    /// As `gauge`, for a value that only grows.
    package func counter(
        _ name: String, _ help: String, read: @escaping @Sendable () -> Double
    ) {
        readings.withLock { $0.append(Reading(name: name, kind: .counter, help: help, read: read)) }
    }

    /// As `gauge` and `counter`, for several samples that labels tell apart: few, and always few.
    func family(
        _ name: String, _ kind: MetricKind, _ help: String,
        read: @escaping @Sendable () -> Samples
    ) {
        families.withLock { $0.append(Family(name: name, kind: kind, help: help, read: read)) }
    }

    /// Lets go of everything that is asked: what is asked leads back here, and would be kept for ever.
    package func endObserving() {
        engine.withLock { $0 = { [] } }
        readings.withLock { $0 = [] }
        families.withLock { $0 = [] }
        callers.withLock { $0 = { [:] } }
        refusals.withLock { $0 = { [:] } }
    }

    /// The page, in Prometheus' text format.
    package func page() -> [UInt8] { page(as: MetricsText.self) }

    /// The page in a form of its reader's choice.
    func page(as format: (some MetricsFormat).Type) -> [UInt8] {
        var text = format.init()
        text.metric("lenticular_build_info", .gauge, "The server's version.")
        text.sample(
            "lenticular_build_info",
            labels: [("version", version), ("commit", commit)], 1)
        writeRequests(to: &text)
        writeRefusals(to: &text)
        writeCallers(to: &text)
        for figure in engine.withLock({ $0 })() { text.write(figure) }
        for reading in readings.withLock({ $0 }) {
            text.single(reading.name, reading.kind, reading.help, reading.read())
        }
        for family in families.withLock({ $0 }) {
            text.metric(family.name, family.kind, family.help)
            for sample in family.read() {
                text.sample(family.name, labels: sample.labels, sample.value)
            }
        }
        ProcessReadings.write(to: &text, startedAt: startedAt)
        return text.page
    }

    private func writeRequests(to text: inout some MetricsFormat) {
        let totals = requests.totals()
        text.metric(
            "lenticular_requests_total", .counter,
            "Finished requests by operation, database, HTTP status and error code.")
        let rows = totals.requests.map { key, count in
            (
                labels: [
                    ("operation", key.operation), ("database", key.database?.rawValue ?? ""),
                    ("status", String(key.status)), ("code", key.code?.rawValue ?? ""),
                ], count: count
            )
        }
        for row in rows.sorted(by: { order($0.labels, $1.labels) }) {
            text.sample("lenticular_requests_total", labels: row.labels, Double(row.count))
        }
        text.metric(
            "lenticular_request_duration_seconds", .histogram,
            "Time from a request's last byte to its answer, by operation.")
        for (operation, seconds) in totals.seconds.sorted(by: { $0.key < $1.key }) {
            text.histogram(
                "lenticular_request_duration_seconds", labels: [("operation", operation)],
                seconds.classic, native: seconds.native)
        }
        write(
            totals.itemFaults.map {
                ([("operation", $0.key.operation), ("code", $0.key.code.rawValue)], $0.value)
            }, as: "lenticular_item_faults_total",
            "Items of requests that failed, by operation and code.", to: &text)
        write(
            totals.refusals.map { ([("reason", "\($0.key)")], $0.value) },
            as: "lenticular_authentication_failures_total",
            "Requests whose credentials were not believed, by reason.", to: &text)
        text.single(
            "lenticular_request_body_bytes_total", .counter, "Bytes of request bodies.",
            Double(totals.bytesIn))
        text.single(
            "lenticular_response_body_bytes_total", .counter, "Bytes of answers' bodies.",
            Double(totals.bytesOut))
    }

    private func write(
        _ counts: some Sequence<(labels: [(String, String)], count: UInt64)>, as name: String,
        _ help: String, to text: inout some MetricsFormat
    ) {
        text.metric(name, .counter, help)
        for row in counts.sorted(by: { order($0.labels, $1.labels) }) {
            text.sample(name, labels: row.labels, Double(row.count))
        }
    }

    private func writeRefusals(to text: inout some MetricsFormat) {
        text.metric(
            "lenticular_wire_refusals_total", .counter,
            "Requests refused before the protocol saw them, by HTTP status.")
        for (status, count) in refusals.withLock({ $0 })().sorted(by: { $0.key < $1.key }) {
            text.sample(
                "lenticular_wire_refusals_total", labels: [("status", String(status))],
                Double(count))
        }
    }

    private func writeCallers(to text: inout some MetricsFormat) {
        text.metric(
            "lenticular_caller_requests_total", .counter,
            "Requests by kind of caller, let pass or held back by its rates.")
        let counts = callers.withLock { $0 }()
        for kind in CallerKind.allCases {
            guard let count = counts[kind] else { continue }
            for (outcome, number) in [("admitted", count.admitted), ("throttled", count.throttled)]
            {
                text.sample(
                    "lenticular_caller_requests_total",
                    labels: [("caller", kind.rawValue), ("outcome", outcome)], Double(number))
            }
        }
    }
}

extension MetricsFormat {
    fileprivate mutating func write(_ figure: EngineFigure) {
        switch figure.value {
        case .gauge(let value): single(figure.name, .gauge, figure.help, value)
        case .counter(let value): single(figure.name, .counter, figure.help, value)
        case .distribution(let distribution):
            metric(figure.name, .histogram, figure.help)
            histogram(figure.name, labels: [], Distribution(distribution), native: nil)
        }
    }
}

private func order(_ left: [(String, String)], _ right: [(String, String)]) -> Bool {
    left.lexicographicallyPrecedes(right) { $0.1 < $1.1 }
}
