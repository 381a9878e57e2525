import Accounts
import AssetStorage
import CloudModel
import Dispatch
import Fairness
import HTTP
import Storage
import Synchronization

/// One request and its only answer, with what must be noted when the answer is sent.
final class Exchange: @unchecked Sendable {
    // Unchecked: it goes with the request from one thread to the next, and two never use it at once.
    let request: HTTPRequest
    private let reply: HTTPReply
    private let observer: any RequestObserver
    private let start = DispatchTime.now().uptimeNanoseconds
    var address: RequestAddress?
    var operation: String?
    var caller: Caller?
    /// Why credentials were refused; only for the log.
    var refusal: CredentialRefusal?
    /// The Origin that the API token allows, to be echoed.
    var allowedOrigin: String?
    /// The web token to send back.
    var webToken: String?
    var contentType = Exchange.json
    /// Called with whether the answer has reached the client.
    var whenSent: (@Sendable (Bool) -> Void)?
    /// Headers besides those that every answer has.
    var moreHeaders: [(name: String, value: String)] = []
    /// The headers that pages of other origins may read.
    var exposedHeaders = Exchange.exposedAlways
    /// Whether the request was counted towards a caller.
    var isCounted = false
    /// The caller whom it counts towards; nil when no rate limits it.
    var counted: Principal?
    /// Whether the memory of the body counts towards the caller.
    var isBodyCounted = false
    /// Of a body that streamed.
    var bytesStreamedIn = 0
    /// The caller whom its use counts towards, as far as is known.
    var principal: Principal
    /// Signals those who work on it that nobody waits for the answer, or that it must make room.
    let stop = StopSignal()
    private var isWatched = false
    /// Whether workers have taken it on, and will not refuse its further steps.
    var isAdmitted = false
    /// Whether a new web token has been made, or could not be.
    var isRenewalOver = false
    var renewedWebToken: String?
    /// The parameters of its target.
    let query: QueryString
    /// Who sent it, as found when the count of changes to credentials was `changeCount`.
    var identification: (found: Identification, changeCount: Int)?
    /// How often its answer came too early, and when that first happened.
    var held: (count: Int, since: UInt64)?
    /// A watch from before the look of an answer that is being made anew.
    private var watch: CommitWatch?
    private let departure = Departure()

    static let json = "application/json; charset=UTF-8"
    static let exposedAlways =
        "X-Apple-Request-UUID,X-Apple-CloudKit-Web-Auth-Token,X-Apple-CloudKit-Session"

    init(_ request: HTTPRequest, _ reply: HTTPReply, observer: any RequestObserver) {
        self.request = request
        query = QueryString(target: request.target)
        self.reply = reply
        self.observer = observer
        principal = .address(request.client)
    }

    /// Has the work for it end when the client goes; first on the event loop that it came from.
    func stopWhenAbandoned() {
        guard !isWatched else { return }
        isWatched = true
        reply.whenAbandoned { [stop, departure] in
            stop.stop(.abandoned)
            departure.run()
        }
    }

    /// Sets what to do, besides the stop, when the client goes before it has its answer; on any thread.
    ///
    /// Replaces what was set before.
    func whenGone(_ leave: @escaping @Sendable () -> Void) { departure.set(leave) }

    /// Keeps a watch for the case that the answer comes too early once more.
    func keepWatch(_ watch: CommitWatch) { self.watch = watch }

    /// The kept watch, if it is of these places; any other ends.
    func takeWatch(of places: Set<StorePlace>) -> CommitWatch? {
        defer { watch = nil }
        guard let watch, watch.places != places else { return watch }
        watch.end()
        return nil
    }

    /// Goes on with the answer on the event loop that the request came from; from any thread.
    func wake(_ work: @escaping @Sendable () -> Void) { reply.wake(work) }

    /// Goes on with the answer on the event loop that the request came from, unless its client has gone.
    ///
    /// - Returns: false where there is no such loop.
    func resumeOnLoop(_ work: @escaping @Sendable () -> Void) -> Bool {
        reply.resumeOnLoop { [stop] in
            if !stop.isAbandoned { work() }
        }
    }

    /// How long ago the request came.
    var ageNanoseconds: UInt64 { DispatchTime.now().uptimeNanoseconds &- start }

    /// - Parameter open: what follows the body as it is made; nil for an answer that is whole.
    func succeed(_ body: [UInt8], open: OpenBody? = nil) {
        var response = HTTPResponse(status: 200, headers: headers, body: body)
        response.open = open
        send(response, code: nil, failure: nil)
    }

    /// Answers with something else than JSON.
    func answer(_ response: HTTPResponse) { send(response, code: nil, failure: nil) }

    /// Answers with the fault that an error is, or stands for.
    func fail(_ error: any Error) {
        switch error {
        case let fault as Fault: fail(fault, failure: nil)
        case let refusal as StatusFault: fail(refusal.fault, status: refusal.status)
        case let refusal as WorkRefusal: fail(.throttled(refusal))
        case StorageFailure.full:
            fail(.tryAgainLater("the server's disk is full"), failure: "disk full")
        case StorageFailure.indeterminate:
            fail(
                .tryAgainLater(
                    "it is not known whether the change was saved; look, then try again"),
                failure: "commit indeterminate")
        case StorageFailure.interrupted:
            fail(.tryAgainLater("reading took too long; ask for less"), failure: "read interrupted")
        case AssetFailure.full:
            fail(.tryAgainLater("the server's disk is full"), failure: "no room for assets")
        case let failure as AssetFailure where failure.mayPass:
            fail(
                .tryAgainLater("where the assets are does not answer"), failure: "\(failure)")
        case StorageFailure.conflict:
            fail(
                .tryAgainLater("somebody else changed it at the same time", seconds: 1),
                failure: "write conflict")
        case StorageFailure.unavailable(.missing):
            fail(
                .tryAgainLater("the container's data is not there at present"),
                failure: "the store's file is missing or another's")
        case StorageFailure.unavailable(.beginning):
            fail(
                .tryAgainLater("the container's data is being reset", seconds: 1), failure: nil)
        case StorageFailure.unavailable(.tooManyFiles):
            fail(
                .tryAgainLater("the server has too many files open", seconds: 1),
                failure: "no descriptor left for a database (ulimit -n)")
        case StorageFailure.unavailable(.busy):
            fail(.tryAgainLater("too many writes wait", seconds: 1), failure: "writes wait")
        case StorageFailure.unavailable(.callerBusy): fail(.tooManyWrites, failure: nil)
        case StorageFailure.unavailable(.unreachable(let words)):
            fail(.tryAgainLater("the container's data cannot be reached"), failure: words)
        // The store has told of it.
        case is DamagedVersion: fail(.recordUnreadable, failure: nil)
        default: fail(Fault(.internalError, "internal error"), failure: "\(error)")
        }
    }

    /// Tells the operator that an answer under way ends here, and why.
    func breakOff(_ failure: any Error) {
        observer.brokeOff(requestID: request.id, failure: "\(failure)")
    }

    /// - Parameter status: takes the place of the code's own.
    func fail(_ fault: Fault, failure: String? = nil, status: Int? = nil) {
        contentType = Self.json
        var fields = headers
        if let seconds = fault.retryAfterSeconds { fields.append(("Retry-After", "\(seconds)")) }
        send(
            HTTPResponse(
                status: status ?? fault.code.httpStatus, headers: fields,
                body: FaultResponse.body(fault, requestID: request.id)),
            code: fault.code, failure: failure)
    }

    /// Answers OPTIONS on every path: what may be sent is decided when it is sent (rulings.md 9).
    func sendPreflight(methods: String = "GET, POST, PUT, DELETE, OPTIONS") {
        var fields: [(name: String, value: String)] =
            [("Allow", methods), ("X-Apple-Request-UUID", request.id)] + moreHeaders
        if let origin = request.headers["origin"] {
            fields += [
                ("Access-Control-Allow-Origin", origin),
                ("Access-Control-Allow-Methods", methods),
                (
                    "Access-Control-Allow-Headers",
                    request.headers["access-control-request-headers"] ?? "Content-Type"
                ),
                ("Access-Control-Max-Age", "600"), ("Vary", "Origin"),
            ]
        }
        send(HTTPResponse(status: 200, headers: fields), code: nil, failure: nil)
    }

    var headers: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        fields.reserveCapacity(8)
        fields.append(("Content-Type", contentType))
        fields.append(("X-Apple-Request-UUID", request.id))
        if let webToken {
            fields.append(("X-Apple-CloudKit-Web-Auth-Token", webToken))
            fields.append(("X-Apple-CloudKit-Session", webToken))
        }
        fields += moreHeaders
        if let allowedOrigin {
            fields.append(("Access-Control-Allow-Origin", allowedOrigin))
            fields.append(("Access-Control-Expose-Headers", exposedHeaders))
            fields.append(("Vary", "Origin"))
        }
        return fields
    }

    private func send(_ response: HTTPResponse, code: FaultCode?, failure: String?) {
        watch?.end()
        watch = nil
        let bytesOut = response.bodyBytes
        reply.send(response, whenSent: whenSent)
        whenSent = nil
        observer.observe(
            RequestObservation(
                requestID: request.id, operation: operation, container: address?.container.name,
                environment: address?.environment, database: address?.database,
                userRecordName: caller?.userRecordName, keyID: caller?.keyID,
                status: response.status, code: code, refusal: refusal,
                bytesIn: request.body.count + bytesStreamedIn,
                bytesOut: bytesOut,
                durationNanoseconds: DispatchTime.now().uptimeNanoseconds &- start,
                loop: request.loop, client: request.client, failure: failure))
    }
}

/// What is to be done when a client has gone.
private final class Departure: Sendable {
    private let leave = Mutex<(@Sendable () -> Void)?>(nil)

    func set(_ leave: @escaping @Sendable () -> Void) { self.leave.withLock { $0 = leave } }

    func run() { leave.withLock { $0 }?() }
}
