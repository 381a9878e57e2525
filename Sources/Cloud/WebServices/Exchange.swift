import Accounts
import AssetStorage
import CloudModel
import Dispatch
import Fairness
import HTTP
import Storage
import Synchronization

/// One request as it was received, and its only answer.
///
/// It goes through stages, each of which knows more: an `AddressedRequest` knows where it goes, an `AdmittedRequest`
/// who sent it and that they may call the endpoint, a `RequestContext` the store. Here is only what the answer and
/// the line in the log take from all of them.
final class Exchange: Sendable {
    let request: HTTPRequest
    /// The parameters of its target.
    let query: QueryString
    /// Signals those who work on it that nobody waits for the answer, or that it must make room.
    let stop = StopSignal()
    private let reply: HTTPReply
    private let observer: any RequestObserver
    private let start = DispatchTime.now().uptimeNanoseconds
    private let notes: Mutex<AnswerNotes>
    private let disconnection = DisconnectHandler()

    init(_ request: HTTPRequest, _ reply: HTTPReply, observer: any RequestObserver) {
        self.request = request
        query = QueryString(target: request.target)
        self.reply = reply
        self.observer = observer
        notes = Mutex(AnswerNotes(stages: RequestStages(start: start)))
    }

    /// Notes something for the answer and the line in the log, or looks at what was noted.
    @discardableResult
    func note<Value: Sendable>(_ change: (inout AnswerNotes) -> Value) -> Value {
        notes.withLock { change(&$0) }
    }

    /// Notes that a stage of its way has ended.
    func end(_ stage: RequestStages.Stage) {
        let now = DispatchTime.now().uptimeNanoseconds
        note { $0.stages.end(stage, at: now) }
    }

    /// Notes what came of it, in place of what was noted when its answer was made before.
    func keep(_ work: RequestWork) { note { $0.work = work } }

    /// Has the work for it end when the client goes; first on the event loop that it came from.
    func stopWhenAbandoned() {
        guard disconnection.isUnwatched() else { return }
        reply.whenAbandoned { [stop, disconnection] in
            stop.stop(.abandoned)
            disconnection.run()
        }
    }

    /// Sets what to do, besides the stop, when the client goes before it has its answer; on any thread.
    ///
    /// Replaces what was set before.
    func whenGone(_ leave: @escaping @Sendable () -> Void) { disconnection.set(leave) }

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

    /// - Parameter open: what follows the body as it is made; nil for an answer that is whole.
    func succeed(_ body: [UInt8], open: OpenBody? = nil) {
        var response = HTTPResponse(status: 200, headers: headers, body: body)
        response.open = open
        send(response)
    }

    /// Answers with something else than JSON.
    func answer(_ response: HTTPResponse) { send(response) }

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
        case StorageFailure.unavailable(.moved):
            fail(.tryAgainLater("the container is being moved to another server"), failure: nil)
        case StorageFailure.unavailable(.tooManyOpen):
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
        var fields = note {
            $0.contentType = AnswerNotes.json
            return $0.headers(of: request.id)
        }
        if let seconds = fault.retryAfterSeconds { fields.append(("Retry-After", "\(seconds)")) }
        send(
            HTTPResponse(
                status: status ?? fault.code.httpStatus, headers: fields,
                body: FaultResponse.body(fault, requestID: request.id)),
            fault: fault, failure: failure)
    }

    /// Answers OPTIONS on every path: what may be sent is decided when it is sent (rulings.md 9).
    func sendPreflight(methods: String = "GET, POST, PUT, DELETE, OPTIONS") {
        var fields: [(name: String, value: String)] =
            [("Allow", methods), ("X-Apple-Request-UUID", request.id)] + note { $0.moreHeaders }
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
        send(HTTPResponse(status: 200, headers: fields))
    }

    var headers: [(name: String, value: String)] { note { $0.headers(of: request.id) } }

    private func send(
        _ response: HTTPResponse, fault: Fault? = nil, failure: String? = nil
    ) {
        let bytesOut = response.bodyBytes
        let whenSent = note { notes in
            defer { notes.whenSent = nil }
            return notes.whenSent
        }
        reply.send(response, whenSent: whenSent)
        let now = DispatchTime.now().uptimeNanoseconds
        // Made where the notes are: they are not copied.
        let observation = note { notes in
            var observation = RequestObservation(
                requestID: request.id, operation: notes.operation,
                container: notes.address?.container.name,
                environment: notes.address?.environment, database: notes.address?.database,
                userRecordName: notes.caller?.userRecordName, keyID: notes.caller?.keyID,
                status: response.status, code: fault?.code, refusal: notes.refusal,
                bytesIn: request.body.count + notes.bytesStreamedIn,
                bytesOut: bytesOut,
                durationNanoseconds: now &- start,
                loop: request.loop, client: request.client, failure: failure)
            observation.sender = RequestSender(request, query)
            observation.session = notes.session
            observation.reason = fault?.reasonCode
            observation.dateAheadMilliseconds = notes.dateAheadMilliseconds
            observation.claimedUser = notes.claimedUser
            // Handed on, and not copied: nothing comes after the answer.
            swap(&observation.work, &notes.work)
            observation.stages = notes.stages
            observation.stages.endSending(at: now)
            return observation
        }
        observer.observe(observation)
    }
}

/// What is to be done when a client has gone.
private final class DisconnectHandler: Sendable {
    private struct State {
        var isWatched = false
        var leave: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// Whether this is the first who asks.
    func isUnwatched() -> Bool {
        state.withLock { state in
            defer { state.isWatched = true }
            return !state.isWatched
        }
    }

    func set(_ leave: @escaping @Sendable () -> Void) { state.withLock { $0.leave = leave } }

    func run() { state.withLock { $0.leave }?() }
}
