#if ApplePush
    import HTTPClient
    import Network

    /// One origin over HTTP/2: what waits for it, and its connections.
    ///
    /// Belongs to the loop's thread.
    final class HTTP2Destination: @unchecked Sendable {
        // Unchecked: used on the loop's thread alone, to which the answer of a look-up is posted.

        let origin: HTTPOrigin
        private unowned let requests: HTTP2Requests
        private let addresses: TargetAddresses
        private var waiting: ArraySlice<HTTP2Request> = []
        /// With those that take nothing new and only finish what they have.
        private var connections: [HTTP2Connection] = []

        init(_ origin: HTTPOrigin, namedBy namer: TargetNamer, of requests: HTTP2Requests) {
            self.origin = origin
            self.requests = requests
            addresses = TargetAddresses(
                of: origin, namedBy: namer, policy: requests.policy, on: requests.loop,
                millisecondsMax: requests.limits.addressMillisecondsMax, resolve: requests.resolve)
        }

        func take(_ request: HTTP2Request) {
            guard waiting.count < requests.limits.waitingPerDestinationMax else {
                return request.end(.failure(.overloaded))
            }
            waiting.append(request)
            pump()
        }

        /// Puts what waits on connections that have room, and opens more where they may be.
        func pump() {
            for connection in connections {
                let begins = !waiting.isEmpty && connection.room > 0
                while !waiting.isEmpty, connection.room > 0 {
                    connection.begin(waiting.removeFirst())
                }
                if begins { connection.flush() }
            }
            guard !waiting.isEmpty, !connections.contains(where: \.isOpening),
                connections.count(where: \.takesMore) < requests.limits.connectionsPerDestinationMax
            else { return }
            guard let current = addresses.current else { return look() }
            open(at: current[...])
        }

        private func look() {
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
                    connections.append(
                        try HTTP2Connection(
                            to: address, of: self, in: requests, otherAddresses: rest))
                    return
                } catch {
                    reason = "\(error)"
                }
            }
            didNotOpen(.unreachable(reason))
        }

        /// A connection did not come about at one address: it is tried at the others.
        func failed(
            _ connection: HTTP2Connection, _ failure: ClientFailure,
            others: ArraySlice<ResolvedAddress>
        ) {
            remove(connection)
            if case .untrusted = failure { return didNotOpen(failure) }
            guard !others.isEmpty, !waiting.isEmpty else { return didNotOpen(failure) }
            open(at: others)
        }

        private func didNotOpen(_ failure: ClientFailure) {
            guard !connections.contains(where: \.takesMore) else { return }
            addresses.forget()
            fail(failure)
        }

        private func fail(_ failure: ClientFailure) {
            let all = waiting
            waiting = []
            for request in all { request.end(.failure(failure)) }
        }

        /// A server has not looked at a request: it goes first on another connection.
        func again(_ request: HTTP2Request) {
            guard request.attempts < HTTP2Request.attemptsMax else {
                return request.end(.failure(.broken("refused \(request.attempts) times")))
            }
            waiting = [request] + waiting
        }

        func isOver(_ connection: HTTP2Connection) {
            remove(connection)
            pump()
        }

        private func remove(_ connection: HTTP2Connection) {
            connections.removeAll { $0 === connection }
        }

        func sweep(now: UInt64) {
            let late = waiting.filter { $0.deadline <= now }
            if !late.isEmpty {
                waiting.removeAll { $0.deadline <= now }
                for request in late { request.end(.failure(.timedOut)) }
            }
            for connection in connections { connection.check(now: now) }
            pump()
        }

        /// Whether it can be forgotten.
        var isUnused: Bool { waiting.isEmpty && connections.isEmpty && !addresses.isLooking }

        func stop() {
            fail(.overloaded)
            let all = connections
            connections = []
            for connection in all { connection.abandon() }
        }
    }
#endif
