import CloudModel
import Dispatch
import Synchronization
import Telemetry
import WebServices

/// Sends a collector a span of each request whose caller keeps the trace that it is in.
///
/// Spans wait a moment for others. Those that are too many are lost, and counted with what the collector did not take.
final class TraceSpans: Sendable {
    private struct State {
        var spans: [RequestSpan] = []
        var isScheduled = false
    }

    private static let millisecondsMax = 1_000
    private static let spansMax = 2_048

    private let sender: OTLPSender
    private let clock: Clock
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "lenticular.traces", qos: .utility)

    init(_ sender: OTLPSender, clock: Clock) {
        self.sender = sender
        self.clock = clock
    }

    /// Takes note of a request; from any thread, and never blocks.
    func note(_ request: borrowing RequestObservation) {
        guard let text = request.sender.traceParent, let parent = TraceParent(text),
            parent.isSampled
        else { return }
        let operation = request.operation ?? RequestCounts.unmatched
        let span = RequestSpan(
            parent: parent,
            span: String(request.requestID.filter { $0 != "-" }.suffix(16)), name: operation,
            end: clock.now(), nanoseconds: request.durationNanoseconds,
            attributes: [
                ("http.response.status_code", "\(request.status)"),
                ("lenticular.request", request.requestID), ("lenticular.operation", operation),
                ("lenticular.container", request.container.map(RequestLine.shortened) ?? ""),
                ("lenticular.environment", request.environment?.rawValue ?? ""),
                ("lenticular.database", request.database?.rawValue ?? ""),
                ("lenticular.code", request.code?.rawValue ?? ""),
            ], isServerError: request.status >= 500)
        let isDue = state.withLock { state in
            guard state.spans.count < Self.spansMax else {
                sender.noteLoss()
                return false
            }
            state.spans.append(span)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        guard isDue else { return }
        queue.asyncAfter(deadline: .now() + .milliseconds(Self.millisecondsMax)) { self.send() }
    }

    private func send() {
        let spans = state.withLock { state in
            state.isScheduled = false
            defer { state.spans = [] }
            return state.spans
        }
        sender.send(spans)
    }
}
