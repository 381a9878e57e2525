import Accounts
import AssetStorage
import CloudModel
import Dispatch
import Fairness
import HTTP
import Storage
import Synchronization

/// One request and its one answer, with what must be told of them when it goes out.
final class Exchange: @unchecked Sendable {
    // Unchecked: it is handed on with the request, from one thread to the next, never used by two.
    let request: HTTPRequest
    private let reply: HTTPReply
    private let observer: any RequestObserver
    private let start = DispatchTime.now().uptimeNanoseconds
    var address: RequestAddress?
    var operation: String?
    var caller: Caller?
    /// Why credentials were not believed, for the log alone.
    var refusal: CredentialRefusal?
    /// The Origin that the API token allows, to be echoed.
    var allowedOrigin: String?
    /// The web token to send back.
    var webToken: String?
    var contentType = Exchange.json
    /// Told whether the answer that comes has gone to the client.
    var whenSent: (@Sendable (Bool) -> Void)?
    /// Beside those of every answer.
    var moreHeaders: [(name: String, value: String)] = []
    /// Those that pages of other origins get to see.
    var exposedHeaders = Exchange.exposedAlways
    /// Whether the request has been counted to somebody.
    var isCounted = false
    /// Whom it counts to; nil for one that is not held to any rate.
    var counted: Principal?
    /// Whether the memory of the body counts to the caller.
    var isBodyCounted = false
    /// Of a body that streamed.
    var bytesStreamedIn = 0
    /// Whom its use counts to, as far as is known.
    var principal: Principal
    /// Tells whoever is at it that nobody waits for the answer, or that it has to make room.
    let stop = StopSignal()
    private var isWatched = false
    /// Whether workers have taken it on, and will not refuse its further steps.
    var isAdmitted = false
    /// Whether a new web token has been made, or could not be.
    var isRenewalOver = false
    var renewedWebToken: String?
    /// The parameters of its target.
    let query: QueryString
    /// Who it is from, as found when the credentials had been changed so often.
    var identification: (found: Identification, changeCount: Int)?
    /// How often its answer came too early, and when for the first time.
    var held: (count: Int, since: UInt64)?
    /// From before the look of an answer that is being made anew.
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

    /// Says what to do, beside the stop, when the client goes before it has its answer; on any thread.
    ///
    /// Takes the place of what was said before.
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

    /// How long ago the request came.
    var ageNanoseconds: UInt64 { DispatchTime.now().uptimeNanoseconds &- start }

    func succeed(_ body: [UInt8]) {
        send(HTTPResponse(status: 200, headers: headers, body: body), code: nil, failure: nil)
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
        var fields: [(name: String, value: String)] = [
            ("Content-Type", contentType),
            ("X-Apple-Request-UUID", request.id),
        ]
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
                loop: request.loop, failure: failure))
    }
}

/// What is to be done when a client has gone.
private final class Departure: Sendable {
    private let leave = Mutex<(@Sendable () -> Void)?>(nil)

    func set(_ leave: @escaping @Sendable () -> Void) { self.leave.withLock { $0 = leave } }

    func run() { leave.withLock { $0 }?() }
}
