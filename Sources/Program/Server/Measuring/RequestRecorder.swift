import CloudModel
import Configuration
import Telemetry
import WebServices

/// Counts and logs each finished request.
package struct RequestRecorder: RequestObserver {
    private let metrics: Metrics
    private let log: Log
    private let keeper: RequestKeeper?
    private let telemetry: TelemetryRecorder?
    private let slowNanoseconds: UInt64
    /// Nil where spans go nowhere.
    private var traces: TraceSpans?

    /// - Parameters:
    ///   - keeper: nil where nothing is kept of requests.
    ///   - telemetry: nil where nothing is counted for charts.
    ///   - slowMilliseconds: from what on a request is slow; 0 where none is.
    package init(
        metrics: Metrics, log: Log, keeper: RequestKeeper? = nil,
        telemetry: TelemetryRecorder? = nil, slowMilliseconds: Int = 0
    ) {
        self.telemetry = telemetry
        slowNanoseconds = slowMilliseconds > 0 ? UInt64(slowMilliseconds) * 1_000_000 : .max
        self.metrics = metrics
        self.log = log
        self.keeper = keeper
    }

    init(
        _ configuration: ServerConfiguration, _ metrics: Metrics, _ log: Log,
        keeper: RequestKeeper?, _ telemetry: TelemetryRounds?
    ) {
        self.init(
            metrics: metrics, log: log, keeper: keeper, telemetry: telemetry?.recorder,
            slowMilliseconds: configuration.telemetry.slowMilliseconds)
        traces = telemetry?.traces
    }

    package func observe(_ request: RequestObservation) {
        // Last: what the metrics count is found everywhere else.
        defer { metrics.record(request) }
        keeper?.keep(request)
        if let telemetry {
            telemetry.record(MeasuredRequest(request)) { MeasuredClient(request.sender) }
        }
        traces?.note(request)
        if request.code == .internalError || request.failure != nil {
            log.report(
                LogEvent(
                    .error, "request failed inside",
                    [
                        ("request", .text(request.requestID)),
                        ("failure", .text(request.failure ?? "")),
                    ]))
        }
        log.report(request)
        // What waits for something to tell is not slow.
        if request.durationNanoseconds &- request.stages.waiting >= slowNanoseconds,
            request.durationNanoseconds > request.stages.waiting
        {
            tellSlow(request)
        }
    }

    private func tellSlow(_ request: RequestObservation) {
        func time(_ nanoseconds: UInt64) -> LogValue {
            .microseconds(Int64(clamping: nanoseconds / 1_000))
        }
        let stages = request.stages
        log.sampled(
            "slow request",
            [
                ("request", .text(request.requestID)),
                ("operation", .text(request.operation ?? RequestCounts.unmatched)),
                ("milliseconds", time(request.durationNanoseconds)),
                ("waiting", time(stages.waiting)), ("reading", time(stages.reading)),
                ("deciding", time(stages.deciding)), ("committing", time(stages.committing)),
                ("items", .number(Int64(request.work.items))),
                ("records", .number(Int64(request.work.records))),
                ("bytesOut", .number(Int64(request.bytesOut))),
            ])
    }

    package func brokeOff(requestID: String, failure: String) {
        log.report(
            LogEvent(
                .error, "answer not sent to its end",
                [("request", .text(requestID)), ("failure", .text(failure))]))
    }
}
