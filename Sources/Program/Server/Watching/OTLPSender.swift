import CloudModel
import Configuration
import Control
import HTTPClient
import Synchronization
import Telemetry

/// Posts each minute of telemetry, and spans of requests, to a collector, beside what is kept here.
///
/// What the collector does not take is tried again with what comes next, up to so many posts. Spans give way to minutes.
final class OTLPSender: Sendable {
    private struct State {
        var waiting: [(url: TargetURL, body: [UInt8])] = []
        var isSending = false
        var failures = 0
        var isTold = false
    }

    private static let waitingMax = 10

    private let metricsURL: TargetURL
    private let tracesURL: TargetURL
    private let source: OTLPMetrics.Source
    private let traffic: OutgoingTraffic
    private let log: Log
    private let state = Mutex(State())

    /// Nil where the settings name no collector.
    ///
    /// - Throws: `CommandFailure` for a URL that is none.
    init?(_ configuration: ServerConfiguration, log: Log, in metrics: Metrics) throws {
        let endpoint = configuration.telemetry.otlpEndpoint
        guard !endpoint.isEmpty else { return nil }
        guard let metricsURL = TargetURL(endpoint + "/v1/metrics"),
            let tracesURL = TargetURL(endpoint + "/v1/traces")
        else { throw CommandFailure("telemetry.otlpEndpoint: expected a URL") }
        (self.metricsURL, self.tracesURL) = (metricsURL, tracesURL)
        source = OTLPMetrics.Source(
            version: ProgramVersion.text, instance: configuration.baseURL)
        self.log = log
        traffic = try OutgoingTraffic(configuration)
        metrics.counter(
            "lenticular_otlp_failures_total",
            "Posts that the collector did not take, and spans that were too many."
        ) { [weak self] in Double(self?.state.withLock { $0.failures } ?? 0) }
    }

    /// Sends a minute, and what waits; does not block.
    func send(_ minute: TelemetryMinute, until end: Milliseconds) {
        let body = OTLPMetrics.body(of: minute, until: end, from: source)
        state.withLock { state in
            state.waiting.append((metricsURL, body))
            guard state.waiting.count > Self.waitingMax else { return }
            // The first may be on its way.
            state.waiting.remove(at: state.isSending ? 1 : 0)
        }
        sendNext()
    }

    /// Sends spans, and what waits; does not block.
    func send(_ spans: [RequestSpan]) {
        let body = OTLPTraces.body(of: spans, from: source)
        state.withLock { state in
            guard state.waiting.count < Self.waitingMax else { return state.failures += 1 }
            state.waiting.append((tracesURL, body))
        }
        sendNext()
    }

    /// Counts a span that was not taken.
    func noteLoss() { state.withLock { $0.failures += 1 } }

    /// Ends it; what waits is lost.
    func stop() { traffic.stop() }

    private func sendNext() {
        let next: (url: TargetURL, body: [UInt8])? = state.withLock { state in
            guard !state.isSending, let first = state.waiting.first else { return nil }
            state.isSending = true
            return first
        }
        guard let next else { return }
        traffic.requests.send(
            OutgoingRequest(
                method: "POST", url: next.url, namedBy: .operators,
                headers: [
                    ("Content-Type", "application/json"),
                    ("User-Agent", "lenticular/\(ProgramVersion.text)"),
                ], body: next.body, isRepeatable: false)
        ) { [weak self] in self?.took($0) }
    }

    private func took(_ result: Result<OutgoingAnswer, ClientFailure>) {
        let failure: String? =
            switch result {
            case .success(let answer) where (200..<300).contains(answer.status): nil
            case .success(let answer): "answered with \(answer.status)"
            case .failure(let failure): "\(failure)"
            }
        // Others than these never become better by trying again.
        let isFinal: Bool =
            switch result {
            case .success(let answer): ![429, 502, 503, 504].contains(answer.status)
            case .failure: false
            }
        let (tells, goesOn) = state.withLock { state in
            state.isSending = false
            if failure == nil || isFinal, !state.waiting.isEmpty { state.waiting.removeFirst() }
            let tells = failure != nil && !state.isTold
            state.isTold = failure != nil
            if failure != nil { state.failures += 1 }
            return (tells, failure == nil)
        }
        if tells {
            log.warning(
                "the collector of telemetry takes nothing", [("failure", .text(failure ?? ""))])
        }
        if goesOn { sendNext() }
    }
}
