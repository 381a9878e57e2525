import CloudModel
import WebServices

extension LogEvent {
    /// The event of a finished request; `RequestLine` makes the same as JSON.
    init(_ request: RequestObservation, showsClient: Bool = false) {
        self.init(.info, "request")
        fields.reserveCapacity(14)
        fields.append(("request", .text(request.requestID)))
        fields.append(
            ("operation", .text(request.operation ?? RequestCounts.unmatched)))
        if let container = request.container {
            fields.append(("container", .text(RequestLine.shortened(container))))
        }
        if let environment = request.environment {
            fields.append(("environment", .text(environment.rawValue)))
        }
        if let database = request.database {
            fields.append(("database", .text(database.rawValue)))
        }
        if let user = request.userRecordName { fields.append(("user", .text(user.text))) }
        if let keyID = request.keyID { fields.append(("keyID", .text(keyID))) }
        if showsClient, let client = request.client {
            fields.append(("client", .text("\(client)")))
        }
        fields.append(("status", .number(Int64(request.status))))
        if let code = request.code { fields.append(("code", .text(code.rawValue))) }
        if let refusal = request.refusal {
            fields.append(("refusal", .text(refusal.rawValue)))
        }
        fields.append(("bytesIn", .number(Int64(request.bytesIn))))
        fields.append(("bytesOut", .number(Int64(request.bytesOut))))
        fields.append(
            (
                "milliseconds",
                .microseconds(Int64(clamping: request.durationNanoseconds / 1_000))
            ))
    }
}
