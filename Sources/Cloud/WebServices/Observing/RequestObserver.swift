import Accounts
import CloudModel
import HTTP

/// What the log and the metrics get of one finished request.
///
/// It shows nothing of a record and no credential. A log that writes it out must escape text that came from
/// the client (`container`).
package struct RequestObservation: Sendable {
    /// The id that the answer carries as `X-Apple-Request-UUID`.
    package var requestID: String
    /// The row of the route table, such as `records/modify`; nil when no row matched.
    ///
    /// Never a piece of the URL itself: it labels metrics.
    package var operation: String?
    package var container: String?
    package var environment: Environment?
    package var database: DatabaseScope?
    package var userRecordName: UserRecordName?
    /// The server key that signed, with `userRecordName` the user it acted for.
    package var keyID: String?
    package var status: Int
    /// The code of the fault that ended the whole request; nil for a success.
    package var code: FaultCode?
    /// Why credentials were not believed, for the operator alone; set only with the two codes of
    /// authentication.
    package var refusal: CredentialRefusal?
    package var bytesIn: Int
    package var bytesOut: Int
    package var durationNanoseconds: UInt64
    /// The event loop that the request came in on.
    package var loop: Int
    /// Where on the network it came from; shown only where the operator wants it.
    package var client: HTTPRequest.Block?
    /// What the machinery reported, for the operator alone; set only with INTERNAL_ERROR and
    /// TRY_AGAIN_LATER.
    package var failure: String?
    /// The app and the device, as they call themselves.
    package var sender = RequestSender()
    /// The session of the web token, by its ID: lets nobody in; nil without a web token.
    package var session: [UInt8]?
    /// What tells the fault from others of its code: a `FaultCause` or a `FaultDetail`.
    package var reason: String?
    /// How far the date of a signed request is from the server's clock; only where it was refused for that.
    package var dateAheadMilliseconds: Milliseconds?
    /// The user that such a request says it acts for; nobody has checked that.
    package var claimedUser: UserRecordName?
    package var work = RequestWork()
    package var stages = RequestStages()

    /// Whether it shows nobody's credentials, so that anybody can cause any number of its kind.
    package var isAnonymous: Bool { userRecordName == nil && keyID == nil }

    package init(
        requestID: String, operation: String? = nil, container: String? = nil,
        environment: Environment? = nil, database: DatabaseScope? = nil,
        userRecordName: UserRecordName? = nil, keyID: String? = nil, status: Int,
        code: FaultCode? = nil, refusal: CredentialRefusal? = nil, bytesIn: Int = 0,
        bytesOut: Int = 0,
        durationNanoseconds: UInt64 = 0, loop: Int = 0, client: HTTPRequest.Block? = nil,
        failure: String? = nil
    ) {
        self.requestID = requestID
        self.operation = operation
        self.container = container
        self.environment = environment
        self.database = database
        self.userRecordName = userRecordName
        self.keyID = keyID
        self.status = status
        self.code = code
        self.refusal = refusal
        self.bytesIn = bytesIn
        self.bytesOut = bytesOut
        self.durationNanoseconds = durationNanoseconds
        self.loop = loop
        self.client = client
        self.failure = failure
    }
}

/// Who is told of each finished request; it counts and logs.
package protocol RequestObserver: Sendable {
    /// Takes note of one request, once, from any thread; never blocks.
    func observe(_ request: RequestObservation)

    /// Takes note of an answer that could not be sent to its end, for the operator alone; from any
    /// thread, never blocks.
    func brokeOff(requestID: String, failure: String)
}
