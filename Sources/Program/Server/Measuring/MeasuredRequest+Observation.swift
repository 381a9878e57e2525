import CloudModel
import Telemetry
import WebServices

extension MeasuredRequest {
    /// What telemetry counts of a request that has been observed.
    init(_ request: RequestObservation) {
        let failures = request.work.failures
        self.init(
            container: request.container ?? "", environment: request.environment,
            database: request.database, operation: request.operation ?? RequestCounts.unmatched,
            softwareHash: request.sender.softwareHash,
            // Whoever has shown credentials that are good, or got an answer, has named a container that is there.
            isKnown: request.container == nil || !request.isAnonymous
                || request.operation != nil && request.status < 400,
            user: request.userRecordName?.text,
            error: request.code?.rawValue
                ?? (request.status < 400 ? nil : "HTTP_\(request.status)"),
            itemFaults: failures.isEmpty ? [] : failures.map { ($0.code.rawValue, $0.count) },
            bytesIn: request.bytesIn, bytesOut: request.bytesOut,
            nanoseconds: request.durationNanoseconds, loop: request.loop)
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
