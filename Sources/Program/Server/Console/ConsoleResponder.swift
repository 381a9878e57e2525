import Accounts
import Administration
import CloudModel
import Configuration
import Cryptography
import Dispatch
import Fairness
import HTTP
import Synchronization

/// Answers at the operators' own address: `/console/api` and what is below it, and the pages that use it.
///
/// Threads of its own do the work. What hashes a password has one, with a short queue.
final class ConsoleResponder: Responder {
    /// Of a request whose sender is not known yet.
    private static let strangersBytesMax = 16_384
    private static let waitingMax = 256
    private static let passwordsWaitingMax = 16
    private static let busySeconds = 5
    /// Of commands that stream at a time.
    private static let streamsMax = 16

    private let access: ConsoleAccess
    private let allowed: [AddressRange]
    private let useCases: AccountUseCases
    private let signIn: ConsoleSignIn
    private let pages: ConsolePages
    private let clock: Clock
    private let acting: ConsoleActing
    private let administrator: @Sendable (Operator, Acting?) -> Administrator
    private let failed: @Sendable (_ requestID: String, any Error) -> Void
    private let workers: WorkPool<String>
    private let passwords: WorkPool<String>
    private let streams: WorkPool<String>
    private let streamCount = Mutex(0)
    private let running = DispatchGroup()
    private let isStopped = Atomic<Bool>(false)

    /// - Parameters:
    ///   - administrator: makes what an operator acts through, as themselves or on somebody's behalf.
    ///   - failed: told of what is the server's own fault; from any thread.
    init(
        _ access: ConsoleAccess, allowing allowed: [AddressRange], _ useCases: AccountUseCases,
        pages: ConsolePages, clock: Clock, random: RandomSource,
        administrator: @escaping @Sendable (Operator, Acting?) -> Administrator,
        failed: @escaping @Sendable (_ requestID: String, any Error) -> Void
    ) {
        self.access = access
        self.allowed = allowed
        self.useCases = useCases
        self.pages = pages
        self.clock = clock
        self.administrator = administrator
        self.failed = failed
        acting = ConsoleActing(sessions: ActingSessions(random: random), useCases: useCases)
        signIn = ConsoleSignIn(
            useCases: useCases, wantsSecondFactor: access.wantsSecondFactor,
            acting: acting.sessions)
        var options = WorkOptions()
        (options.shortThreads, options.longThreads, options.commitThreads) = (8, 1, 1)
        (options.waitingMax, options.waitingPerPrincipalMax) = (Self.waitingMax, Self.waitingMax)
        options.longNanoseconds = .max
        workers = WorkPool(name: "console", options)
        options.shortThreads = Self.streamsMax
        streams = WorkPool(name: "console streams", options)
        options.shortThreads = 1
        options.waitingMax = Self.passwordsWaitingMax
        options.waitingPerPrincipalMax = Self.passwordsWaitingMax / 2
        passwords = WorkPool(name: "console passwords", options)
    }

    /// Receives large bodies of operators alone.
    func decide(on request: HTTPRequest, reply: HTTPReply) -> BodyDecision {
        let asked = ConsoleRequest(request, now: clock.now())
        let length = request.headers["content-length"].flatMap { Int($0) }
        do {
            try admit(asked)
            let isSmall =
                length.map { $0 <= Self.strangersBytesMax } ?? false
                && request.headers["content-encoding"] == nil
            if !isSmall {
                _ = try ConsoleCaller(of: asked, useCases)
            }
            return .receive(BodyOptions(owner: .block(request.client)))
        } catch {
            send(fault(error, of: asked).answer, of: asked, by: reply)
            return .answered
        }
    }

    func respond(to request: HTTPRequest, reply: HTTPReply) {
        let asked = ConsoleRequest(request, now: clock.now())
        do {
            try requireAllowed(asked)
            if asked.words == nil, request.method == .get,
                let response = pages.response(at: asked.path, takesGzip: Self.takesGzip(request))
            {
                return reply.send(response)
            }
            try admit(asked)
        } catch {
            return send(error.answer, of: asked, by: reply)
        }
        if let words = asked.words, access.streams(words) == .answer {
            let exchange = self.exchange(asked, reply)
            runStream(asked, exchange, reply)
            return
        }
        let isSignIn = asked.words == ["session"] && request.method == .post
        do throws(WorkRefusal) {
            try (isSignIn ? passwords : workers).submit(
                .short, for: asked.client?.widest ?? "a proxy"
            ) { [self] in
                if isSignIn { beginSession(asked, reply) } else { answer(asked, reply) }
            }
        } catch {
            send(Self.busy.answer, of: asked, by: reply)
        }
    }

    /// Whether the request names gzip without a weight, as browsers do.
    private static func takesGzip(_ request: HTTPRequest) -> Bool {
        request.headers["accept-encoding"]?.split(separator: ",").contains {
            $0.trimmingPrefix { $0 == " " } == "gzip"
        } ?? false
    }

    private static let busy = ConsoleFault(
        .unavailable, "too much at a time", seconds: busySeconds)

    // MARK: - Streams

    func streamsBody(of target: [UInt8]) -> Bool {
        ConsoleRequest.words(of: target).flatMap { access.streams($0) } == .body
    }

    func receive(
        _ request: HTTPRequest, stream: BodyStream, reply: HTTPReply
    ) -> (any BodySink)? {
        let asked = ConsoleRequest(request, now: clock.now())
        do {
            try admit(asked)
            try ConsoleCaller(of: asked, useCases).requireOwnPage(asked)
            guard request.headers["content-encoding"] == nil else {
                throw ConsoleFault(.usage, "the body is read as it is: send it uncompressed")
            }
        } catch {
            send(fault(error, of: asked).answer, of: asked, by: reply)
            return nil
        }
        let exchange = exchange(asked, reply, incoming: stream)
        return runStream(asked, exchange, reply) ? exchange : nil
    }

    /// Ends the commands that stream, each where it can.
    func stopStreams() { isStopped.store(true, ordering: .relaxed) }

    private func exchange(
        _ request: ConsoleRequest, _ reply: HTTPReply, incoming: BodyStream? = nil
    ) -> ConsoleExchange {
        ConsoleExchange(reply, headers: Self.headers(of: request), incoming: incoming) {
            [weak self] in self?.isStopped.load(ordering: .relaxed) ?? true
        }
    }

    /// - Returns: false when there are too many, and the request was answered so.
    @discardableResult
    private func runStream(
        _ request: ConsoleRequest, _ exchange: ConsoleExchange, _ reply: HTTPReply
    ) -> Bool {
        let isOne = streamCount.withLock { count in
            guard count < Self.streamsMax else { return false }
            count += 1
            return true
        }
        do {
            guard isOne else { throw WorkRefusal.poolIsFull }
            running.enter()
            // Each is a caller of its own, as one caller never gets all threads of a pool.
            try streams.submit(.short, for: request.http.id) { [self] in
                defer { endStream() }
                answer(request, reply, exchange)
            }
            return true
        } catch {
            if isOne { endStream() }
            send(Self.busy.answer, of: request, by: reply)
            return false
        }
    }

    private func endStream() {
        streamCount.withLock { $0 -= 1 }
        running.leave()
    }

    /// Waits until no command streams any more.
    func awaitStreams(withinSeconds seconds: Int) {
        _ = running.wait(timeout: .now() + .seconds(seconds))
    }

    // MARK: - Answers

    /// Refuses who may not be here at all, before anything is looked up.
    private func admit(_ request: ConsoleRequest) throws(ConsoleFault) {
        try requireAllowed(request)
        guard request.words != nil else { throw ConsoleFault(.noCommand, "see /console/api") }
    }

    private func requireAllowed(_ request: ConsoleRequest) throws(ConsoleFault) {
        let peer = request.http.peer
        guard peer.block == nil || allowed.contains(where: { $0.contains(peer.address) }) else {
            throw ConsoleFault(.addressRefused, "console.allow does not name this address")
        }
    }

    private func beginSession(_ request: ConsoleRequest, _ reply: HTTPReply) {
        do {
            let begun = try signIn.begin(request)
            send(begun.answer, [begun.cookie], of: request, by: reply)
        } catch {
            send(fault(error, of: request).answer, of: request, by: reply)
        }
    }

    private func answer(
        _ request: ConsoleRequest, _ reply: HTTPReply, _ exchange: ConsoleExchange? = nil
    ) {
        do {
            let caller = try ConsoleCaller(of: request, useCases)
            if request.words?.first == "session" {
                return try answerSession(request, caller, reply)
            }
            var entry = try acting.entry(of: caller, now: request.now)
            let ask: ConsoleAsk
            switch (request.http.method, request.words ?? []) {
            case (.get, []): ask = .list
            case (.post, let words) where !words.isEmpty:
                try caller.requireOwnPage(request)
                entry = try acting.use(by: caller, request)
                let isStreamed = access.streams(words) == .body
                ask = .run(
                    words: words, body: isStreamed ? request.queryArguments : request.http.body)
            default:
                throw ConsoleFault(
                    .methodRefused, "GET /console/api lists the commands; POST runs one")
            }
            let stream: any ConsoleStream = exchange ?? NoConsoleStream()
            if let entry {
                exchange?.hold(
                    while: acting.validity(entry, of: caller, request, now: clock.now))
            }
            let answer = access.answer(
                ask, administrator(caller.actor, entry?.acting), stream)
            if let exchange, exchange.hasBegun {
                return exchange.finish(isWhole: answer.status == 200 && !exchange.isGone)
            }
            send(answer, of: request, by: reply)
        } catch {
            send(fault(error, of: request).answer, of: request, by: reply)
        }
    }

    private func answerSession(
        _ request: ConsoleRequest, _ caller: ConsoleCaller, _ reply: HTTPReply
    ) throws {
        guard let signedIn = caller.signedIn else {
            throw ConsoleFault(.forbidden, "a token has no session")
        }
        func sendState() throws {
            let entry = try acting.entry(of: caller, now: request.now)
            send(try signIn.state(of: signedIn, entry), of: request, by: reply)
        }
        if request.http.method != .get { try caller.requireOwnPage(request) }
        switch (request.http.method, request.words ?? []) {
        case (.post, ConsoleActing.words):
            try acting.begin(request, caller, by: administrator(caller.actor, nil))
            try sendState()
        case (.delete, ConsoleActing.words):
            acting.sessions.end(in: signedIn.session)
            try sendState()
        case (.get, ["session"]): try sendState()
        case (.delete, ["session"]):
            try useCases.operatorSessions.end(signedIn.session)
            acting.sessions.end(in: signedIn.session)
            send(
                ConsoleAnswer(body: Array("{}".utf8)), [request.setting(cookie: "", seconds: 0)],
                of: request, by: reply)
        default:
            throw ConsoleFault(
                .methodRefused, "a session takes POST, GET and DELETE; its acting POST and DELETE")
        }
    }

    /// What is told of an error; the server's own are logged, and told without their words.
    private func fault(_ error: any Error, of request: ConsoleRequest) -> ConsoleFault {
        if let fault = error as? ConsoleFault { return fault }
        failed(request.http.id, error)
        return ConsoleFault(.failed, "the server failed; its log says why (\(request.http.id))")
    }

    private func send(
        _ answer: ConsoleAnswer, _ further: [(name: String, value: String)] = [],
        of request: ConsoleRequest, by reply: HTTPReply
    ) {
        var headers =
            [("Content-Type", "application/json; charset=utf-8")] + Self.headers(of: request)
        if answer.isBadNews { headers.append(("X-Exit-Status", "1")) }
        reply.send(
            HTTPResponse(status: answer.status, headers: headers + further, body: answer.body))
    }

    /// Of every answer.
    private static func headers(of request: ConsoleRequest) -> [(name: String, value: String)] {
        [
            ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
            ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
            ("X-Request-ID", request.http.id),
        ]
    }
}
