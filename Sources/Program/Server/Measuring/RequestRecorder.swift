import CloudModel
import WebServices

/// Counts and logs each finished request.
package struct RequestRecorder: RequestObserver {
    private let metrics: Metrics
    private let log: Log
    private let keeper: RequestKeeper?

    /// - Parameter keeper: nil where nothing is kept of requests.
    package init(metrics: Metrics, log: Log, keeper: RequestKeeper? = nil) {
        self.metrics = metrics
        self.log = log
        self.keeper = keeper
    }

    package func observe(_ request: RequestObservation) {
        metrics.record(request)
        keeper?.keep(request)
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
    }
    package func brokeOff(requestID: String, failure: String) {
        log.report(
            LogEvent(
                .error, "answer not sent to its end",
                [("request", .text(requestID)), ("failure", .text(failure))]))
    }
}
