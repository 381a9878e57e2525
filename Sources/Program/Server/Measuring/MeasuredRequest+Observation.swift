import CloudModel
import Telemetry
import WebServices

extension MeasuredRequest {
    /// What telemetry counts of a request that has been observed.
    init(_ request: borrowing RequestObservation) {
        let isFailure = request.code != nil || request.status >= 400
        // Anyone who has shown credentials that are good, or got an answer, has named a container that is there.
        let isKnown =
            request.container == nil || request.userRecordName != nil || request.keyID != nil
            || request.operation != nil && request.status < 400
        self.init(
            container: request.container ?? "", environment: request.environment,
            database: request.database, operation: request.operation ?? RequestCounts.unmatched,
            softwareHash: request.sender.softwareHash, isKnown: isKnown,
            bytesIn: request.bytesIn, bytesOut: request.bytesOut,
            nanoseconds: request.durationNanoseconds, loop: request.loop)
        guard isFailure || !request.work.failures.isEmpty else { return }
        failure = MeasuredFailure(
            user: request.userRecordName?.text,
            error: request.code?.rawValue ?? (isFailure ? "HTTP_\(request.status)" : nil),
            itemFaults: request.work.failures.map { ($0.code.rawValue, $0.count) })
    }
}

extension MeasuredClient {
    init(_ sender: RequestSender) {
        let software = sender.software
        self.init(
            kind: software.kind.rawValue,
            version: software.version.isEmpty
                ? software.name : "\(software.name) \(software.version)")
    }
}
