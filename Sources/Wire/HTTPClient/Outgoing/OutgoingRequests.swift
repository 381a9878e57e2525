import Network

/// Sends requests to many servers at a time from one event loop, and never waits.
///
/// For what the server sends by itself: webhooks, pushes, text messages, look-ups of identity providers.
/// Each origin is a destination of its own, with its own connections and its own queue. So one that is
/// slow or dead delays no other. Where connections run out, destinations take turns.
///
/// Addresses are looked at by the policy before each connection is made (`TargetPolicy`).
package final class OutgoingRequests: @unchecked Sendable {
    // Unchecked: all that changes belongs to the loop's thread, which posted work reaches.

    /// Looks names up; tests put their own answers here.
    package typealias Resolve =
        @Sendable (_ host: String, _ port: UInt16, _ then: @escaping Told)
        -> Void
    /// Gets what was found, on any thread.
    package typealias Told = @Sendable (NameResolver.Outcome) -> Void

    /// Begins a connection to one of a name's addresses; told the others, to be tried if it comes to nothing.
    package typealias Connect = (
        _ address: ResolvedAddress, _ destination: OutgoingDestination,
        _ requests: OutgoingRequests, _ others: ArraySlice<ResolvedAddress>
    ) throws(SystemError) -> any OutgoingConnection

    package let limits: OutgoingLimits
    let policy: TargetPolicy
    package let trust: TLSTrust
    package let loop: EventLoop
    let resolve: Resolve
    package let buffers = TransportBuffers()
    private let makeConnection: Connect
    /// How many connections there are, of all destinations.
    var connectionCount = 0
    private var destinations: [String: OutgoingDestination] = [:]
    /// The destinations that wait for room to open a connection, in order.
    private var starving: [OutgoingDestination] = []
    private var isStopped = false

    /// Speaks HTTP/1.1.
    ///
    /// Starts the loop's thread, which `stop` has to end before the last reference goes.
    package convenience init(
        policy: TargetPolicy, trust: ServerTrust, limits: OutgoingLimits = OutgoingLimits(),
        clock: MonotonicClock = .system, resolve: @escaping Resolve
    ) throws(SystemError) {
        try self.init(
            "outgoing", policy: policy, trust: trust.tls, limits: limits, clock: clock,
            resolve: resolve
        ) { (address, destination, requests, others) throws(SystemError) in
            try HTTP1Connection(
                to: address, of: destination, in: requests, otherAddresses: others)
        }
    }

    /// Speaks whatever its connections speak.
    ///
    /// - Parameter name: the thread's.
    package init(
        _ name: String, policy: TargetPolicy, trust: TLSTrust, limits: OutgoingLimits,
        clock: MonotonicClock, resolve: @escaping Resolve, connect: @escaping Connect
    ) throws(SystemError) {
        self.policy = policy
        self.trust = trust
        self.limits = limits
        self.resolve = resolve
        makeConnection = connect
        loop = try EventLoop(index: 0, name: name, clock: clock)
        try loop.start()
        loop.post { [self] in loop.attach(OutgoingSweep(of: self)) }
    }

    /// Sends a request and tells what came of it, once, on the loop's thread; never blocks.
    ///
    /// Failures are `ClientFailure`; what the server has done by then is not known, but for `refused`,
    /// `overloaded` and `unreachable`, after which nothing was sent.
    /// - Parameter then: must not block.
    package func send(
        _ request: OutgoingRequest,
        then: @escaping @Sendable (Result<OutgoingAnswer, ClientFailure>) -> Void
    ) {
        guard let head = request.head() else {
            return then(.failure(.malformed("the request has a control character")))
        }
        loop.post { [self] in
            guard !isStopped else { return then(.failure(.overloaded)) }
            let milliseconds = request.millisecondsMax ?? limits.requestMillisecondsMax
            let pending = PendingRequest(
                request, head: head, deadline: loop.now &+ UInt64(max(milliseconds, 0)),
                then: then)
            destination(of: request).take(pending)
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
            starving = []
            for destination in all { destination.stop() }
        }
        loop.stopAndJoin()
    }

    private func destination(of request: OutgoingRequest) -> OutgoingDestination {
        if let known = destinations[request.destination] { return known }
        let fresh = OutgoingDestination(request.url.origin, namedBy: request.namer, of: self)
        destinations[request.destination] = fresh
        return fresh
    }

    func connect(
        _ address: ResolvedAddress, _ destination: OutgoingDestination,
        _ others: ArraySlice<ResolvedAddress>
    ) throws(SystemError) -> any OutgoingConnection {
        try makeConnection(address, destination, self, others)
    }

    /// Whether one more connection may be opened; if not, the destination is told when it may.
    func mayOpen(_ destination: OutgoingDestination) -> Bool {
        if connectionCount < limits.connectionsMax { return true }
        // An idle connection of another destination makes room at once.
        for other in destinations.values where other !== destination && other.closeIdle() {
            if connectionCount < limits.connectionsMax { return true }
        }
        if !starving.contains(where: { $0 === destination }) { starving.append(destination) }
        return false
    }

    /// Whether a connection that has become free should go, since another destination has none.
    var isShort: Bool { !starving.isEmpty }

    /// A connection has gone: the next destination that waits for room has its turn.
    func wasClosed() {
        connectionCount -= 1
        assert(connectionCount >= 0, "a connection that goes has been counted, once")
        while !isStopped, !starving.isEmpty, connectionCount < limits.connectionsMax {
            starving.removeFirst().pump()
        }
    }

    fileprivate func sweep(now: UInt64) {
        for (name, destination) in destinations {
            destination.sweep(now: now)
            if destination.isUnused(now: now) { destinations[name] = nil }
        }
    }
}

/// The look at deadlines, about once a second.
private final class OutgoingSweep: SocketHandler {
    private weak var requests: OutgoingRequests?

    init(of requests: OutgoingRequests) { self.requests = requests }

    func ready(_ readiness: Readiness) {}
    func sweep(now: UInt64) { requests?.sweep(now: now) }
}
