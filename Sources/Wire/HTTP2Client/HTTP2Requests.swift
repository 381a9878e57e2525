#if ApplePush
    import HTTPClient
    import Network

    /// Sends requests over HTTP/2, many at a time on few connections, from one event loop that never waits.
    ///
    /// As `OutgoingRequests` in all else: each origin is a destination of its own, addresses are looked at
    /// before each connection, nobody follows a redirect. Some requests were not looked at, as the server
    /// says: those that it refused, and those above the last stream of its GOAWAY. They are sent again on
    /// another connection.
    package final class HTTP2Requests: @unchecked Sendable {
        // Unchecked: all that changes belongs to the loop's thread, which posted work reaches.

        let limits: HTTP2Limits
        let policy: TargetPolicy
        let trust: TLSTrust
        let loop: EventLoop
        let resolve: OutgoingRequests.Resolve
        let buffers = TransportBuffers()
        private var destinations: [String: HTTP2Destination] = [:]
        private var isStopped = false

        /// Starts the loop's thread, which `stop` has to end before the last reference goes.
        ///
        /// - Parameter trust: made for `http2`.
        package init(
            policy: TargetPolicy, trust: TLSTrust, limits: HTTP2Limits = HTTP2Limits(),
            clock: MonotonicClock = .system, resolve: @escaping OutgoingRequests.Resolve
        ) throws(SystemError) {
            self.policy = policy
            self.trust = trust
            self.limits = limits
            self.resolve = resolve
            loop = try EventLoop(index: 0, name: "http2", clock: clock)
            try loop.start()
            loop.post { [self] in loop.attach(HTTP2Sweep(of: self)) }
        }

        /// Sends a request and tells what came of it, once, on the loop's thread; never blocks.
        ///
        /// - Parameter then: must not block.
        package func send(
            _ request: OutgoingRequest,
            then: @escaping @Sendable (Result<OutgoingAnswer, ClientFailure>) -> Void
        ) {
            loop.post { [self] in
                guard !isStopped else { return then(.failure(.overloaded)) }
                let milliseconds = request.millisecondsMax ?? limits.requestMillisecondsMax
                let name = request.destination
                if destinations[name] == nil {
                    destinations[name] = HTTP2Destination(
                        request.url.origin, namedBy: request.namer, of: self)
                }
                destinations[name]?.take(
                    HTTP2Request(
                        request, deadline: loop.now &+ UInt64(max(milliseconds, 0)), then: then))
            }
        }

        /// Ends every connection and the thread; what waits or is under way fails with `overloaded`.
        ///
        /// Callable from any thread but the loop's.
        package func stop() {
            loop.post { [self] in
                isStopped = true
                let all = destinations.values
                destinations = [:]
                for destination in all { destination.stop() }
            }
            loop.stopAndJoin()
        }

        fileprivate func sweep(now: UInt64) {
            for (name, destination) in destinations {
                destination.sweep(now: now)
                if destination.isUnused { destinations[name] = nil }
            }
        }
    }

    /// The look at deadlines, about once a second.
    private final class HTTP2Sweep: SocketHandler {
        private weak var requests: HTTP2Requests?

        init(of requests: HTTP2Requests) { self.requests = requests }

        func ready(_ readiness: Readiness) {}
        func sweep(now: UInt64) { requests?.sweep(now: now) }
    }

    /// A request that waits or is under way, and who is told what comes of it.
    final class HTTP2Request {
        /// So often a server may say that it has not looked at a request.
        static let attemptsMax = 4

        let request: OutgoingRequest
        /// By the loop's clock.
        let deadline: UInt64
        var attempts = 0
        private let then: @Sendable (Result<OutgoingAnswer, ClientFailure>) -> Void

        init(
            _ request: OutgoingRequest, deadline: UInt64,
            then: @escaping @Sendable (Result<OutgoingAnswer, ClientFailure>) -> Void
        ) {
            self.request = request
            self.deadline = deadline
            self.then = then
        }

        /// As the session sends them: what names the request first (RFC 9113 §8.3.1).
        var fields: [(name: String, value: String)] {
            let origin = request.url.origin
            return [
                (":method", request.method), (":scheme", origin.isSecure ? "https" : "http"),
                (":authority", origin.authority), (":path", request.url.target),
            ] + request.headers.map { ($0.name.lowercased(), $0.value) }
                + [("content-length", "\(request.body.count)")]
        }

        func end(_ result: Result<OutgoingAnswer, ClientFailure>) { then(result) }
    }
#endif
