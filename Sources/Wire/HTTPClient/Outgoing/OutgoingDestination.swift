import Network

/// One origin: what waits for it, its connections, and the addresses of its name.
///
/// Belongs to the loop's thread.
package final class OutgoingDestination: @unchecked Sendable {
    // Unchecked: used on the loop's thread alone, to which the answer of a look-up is posted.

    package let origin: HTTPOrigin
    private unowned let requests: OutgoingRequests
    private var waiting: ArraySlice<PendingRequest> = []
    /// With those that take nothing new and only finish what they have.
    private var connections: [any OutgoingConnection] = []
    private let addresses: TargetAddresses
    private var usedAt: UInt64

    init(_ origin: HTTPOrigin, namedBy namer: TargetNamer, of requests: OutgoingRequests) {
        self.origin = origin
        self.requests = requests
        addresses = TargetAddresses(
            of: origin, namedBy: namer, policy: requests.policy, on: requests.loop,
            millisecondsMax: requests.limits.addressMillisecondsMax, resolve: requests.resolve)
        usedAt = requests.loop.now
    }

    private var limits: OutgoingLimits { requests.limits }

    func take(_ pending: PendingRequest) {
        guard waiting.count < limits.waitingPerDestinationMax else {
            return pending.end(.failure(.overloaded))
        }
        usedAt = requests.loop.now
        waiting.append(pending)
        pump()
    }

    /// Puts what waits on connections that have room, and opens as many more as are needed and may be.
    package func pump() {
        for connection in connections {
            let begins = !waiting.isEmpty && connection.room > 0
            while !waiting.isEmpty, connection.room > 0 {
                connection.begin(waiting.removeFirst())
            }
            if begins { connection.flush() }
        }
        let perConnection = limits.requestsPerConnectionMax
        let needed = (waiting.count + perConnection - 1) / perConnection
        var wanted = min(
            needed - connections.count(where: \.isOpening),
            limits.connectionsPerDestinationMax - connections.count(where: \.takesMore))
        guard wanted > 0 else { return }
        guard let current = addresses.current else { return look() }
        while wanted > 0, !waiting.isEmpty, requests.mayOpen(self) {
            open(at: current[...])
            wanted -= 1
        }
    }

    private func look() {
        // Held by what waits for the answer: a destination in use is not forgotten.
        addresses.look { [self] failure in
            if waiting.isEmpty { return }
            if let failure { fail(failure) } else { pump() }
        }
    }

    /// Begins a connection to the first address that one can be begun to.
    private func open(at addresses: ArraySlice<ResolvedAddress>) {
        var rest = addresses
        var reason = "no address answers"
        while let address = rest.popFirst() {
            do throws(SystemError) {
                connections.append(try requests.connect(address, self, rest))
                requests.connectionCount += 1
                return
            } catch {
                reason = "\(error)"
            }
        }
        didNotOpen(.unreachable(reason))
    }

    /// A connection did not come about at one address: it is tried at the others.
    package func failed(
        _ connection: any OutgoingConnection, _ failure: ClientFailure,
        others: ArraySlice<ResolvedAddress>
    ) {
        remove(connection)
        // A destination without room got its turn when the connection closed.
        if case .untrusted = failure { return didNotOpen(failure) }
        guard !others.isEmpty, !waiting.isEmpty, requests.mayOpen(self) else {
            return didNotOpen(failure)
        }
        open(at: others)
    }

    /// Without any connection nobody needs to wait longer; where there is one, it serves them all.
    private func didNotOpen(_ failure: ClientFailure) {
        guard !connections.contains(where: \.takesMore) else { return }
        addresses.forget()
        fail(failure)
    }

    private func fail(_ failure: ClientFailure) {
        let all = waiting
        waiting = []
        for pending in all { pending.end(.failure(failure)) }
    }

    /// A connection has room again.
    package func isFree(_ connection: any OutgoingConnection) {
        usedAt = requests.loop.now
        if requests.isShort, connection.isIdle { connection.close() } else { pump() }
    }

    /// A request that its server has not looked at goes first on another connection.
    package func again(_ pending: PendingRequest) { waiting = [pending] + waiting }

    package func isOver(_ connection: any OutgoingConnection) {
        remove(connection)
        pump()
    }

    private func remove(_ connection: any OutgoingConnection) {
        guard let index = connections.firstIndex(where: { $0 === connection }) else { return }
        connections.remove(at: index)
        requests.wasClosed()
    }

    /// Closes a connection that nobody uses; false when there is none.
    func closeIdle() -> Bool {
        guard let idle = connections.first(where: \.isIdle) else { return false }
        idle.close()
        return true
    }

    func sweep(now: UInt64) {
        let late = waiting.filter { $0.deadline <= now }
        if !late.isEmpty {
            waiting.removeAll { $0.deadline <= now }
            for pending in late { pending.end(.failure(.timedOut)) }
        }
        for connection in connections { connection.check(now: now) }
        pump()
    }

    /// Whether it can be forgotten.
    func isUnused(now: UInt64) -> Bool {
        waiting.isEmpty && connections.isEmpty && !addresses.isLooking
            && now &- usedAt > UInt64(limits.addressMillisecondsMax)
    }

    func stop() {
        fail(.overloaded)
        let all = connections
        connections = []
        for connection in all { connection.abandon() }
    }
}
