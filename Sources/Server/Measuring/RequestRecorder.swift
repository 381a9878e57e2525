import CloudModel
import WebServices

/// Counts and logs each finished request.
package struct RequestRecorder: RequestObserver {
    private let metrics: Metrics
    private let log: Log

    package init(metrics: Metrics, log: Log) {
        self.metrics = metrics
        self.log = log
    }

    package func observe(_ request: RequestObservation) {
        metrics.record(request)
        if request.code == .internalError || request.failure != nil {
            log.report(
                LogEvent(
                    .error, "request failed inside",
                    [
                        ("request", .text(request.requestID)),
                        ("failure", .text(request.failure ?? "")),
                    ]))
        }
        if log.isWritten(.info) { log.report(event(for: request)) }
    }

    private func event(for request: RequestObservation) -> LogEvent {
        var event = LogEvent(.info, "request")
        event.fields.reserveCapacity(13)
        event.fields.append(("request", .text(request.requestID)))
        event.fields.append(
            ("operation", .text(request.operation ?? RequestCounts.unmatched)))
        if let container = request.container {
            // The client's own word until a container of that name is found: no longer than a name.
            event.fields.append(("container", .text(String(container.prefix(128)))))
        }
        if let environment = request.environment {
            event.fields.append(("environment", .text(environment.rawValue)))
        }
        if let database = request.database {
            event.fields.append(("database", .text(database.rawValue)))
        }
        if let user = request.userRecordName { event.fields.append(("user", .text(user.text))) }
        if let keyID = request.keyID { event.fields.append(("keyID", .text(keyID))) }
        event.fields.append(("status", .number(Int64(request.status))))
        if let code = request.code { event.fields.append(("code", .text(code.rawValue))) }
        event.fields.append(("bytesIn", .number(Int64(request.bytesIn))))
        event.fields.append(("bytesOut", .number(Int64(request.bytesOut))))
        event.fields.append(
            (
                "milliseconds",
                .microseconds(Int64(clamping: request.durationNanoseconds / 1_000))
            ))
        return event
    }
}
