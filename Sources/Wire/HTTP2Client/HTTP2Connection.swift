#if ApplePush
    import HTTP
    import HTTPClient
    import Network

    /// One connection over HTTP/2: as many requests at a time as the server takes.
    final class HTTP2Connection: OutgoingConnection, TransportOwner {
        /// So often a server may say that it has not looked at a request.
        private static let attemptsMax = 4

        private enum Phase {
            /// Until the server has said what it takes.
            case opening
            case open
            case over
        }

        private unowned let destination: OutgoingDestination
        private unowned let requests: OutgoingRequests
        private let otherAddresses: ArraySlice<ResolvedAddress>
        private let transport: OutgoingTransport
        private let session: HTTP2Session
        private var phase = Phase.opening
        private var underWay: [Int32: PendingRequest] = [:]
        /// No stream has a number left.
        private var isSpent = false
        /// When it has to be open, or is idle for too long.
        private var deadline: UInt64
        private var receivedAt: UInt64

        init(
            to address: ResolvedAddress, of destination: OutgoingDestination,
            in requests: OutgoingRequests, otherAddresses: ArraySlice<ResolvedAddress>
        ) throws(SystemError) {
            guard let session = HTTP2Session(answerBytesMax: requests.limits.answerBytesMax) else {
                throw SystemError(call: "nghttp2_session_client_new", code: 0)
            }
            let origin = destination.origin
            transport = try OutgoingTransport(
                to: address, host: origin.host, trust: origin.isSecure ? requests.trust : nil,
                on: requests.loop, buffers: requests.buffers)
            self.session = session
            self.destination = destination
            self.requests = requests
            self.otherAddresses = otherAddresses
            deadline = requests.loop.now &+ UInt64(requests.limits.connectMillisecondsMax)
            receivedAt = requests.loop.now
            transport.serve(self)
        }

        var isOpening: Bool { phase == .opening }
        var isIdle: Bool { phase == .open && underWay.isEmpty && takesMore }
        var takesMore: Bool { phase != .over && !session.isLeaving && !isSpent }
        var room: Int {
            guard phase == .open, takesMore else { return 0 }
            return min(session.streamsMax, requests.limits.requestsPerConnectionMax)
                - underWay.count
        }
        var hearsAfterSendFails: Bool { false }

        func begin(_ request: PendingRequest) {
            let outgoing = request.request
            guard let stream = session.submit(Self.fields(of: outgoing), body: outgoing.body)
            else {
                isSpent = true
                return destination.again(request)
            }
            request.countAttempt()
            underWay[stream] = request
        }

        /// Sends what the session has to say.
        func flush() {
            guard phase != .over else { return }
            guard session.output({ transport.write($0) }) else {
                return fail(.broken("the connection takes no more"))
            }
            // Refusing the answer has already ended the request.
            tellOutcomes()
            transport.flush()
        }

        func check(now: UInt64) {
            switch phase {
            case .opening: if deadline <= now { fail(.timedOut) }
            case .open:
                let late = underWay.filter { $0.value.deadline <= now }
                // The connection said nothing while these requests waited: it is dead for the others,
                // too.
                let isSilent = late.values.contains { request in
                    let milliseconds =
                        request.request.millisecondsMax ?? requests.limits.requestMillisecondsMax
                    return receivedAt &+ UInt64(max(milliseconds, 0)) <= now
                }
                for (stream, request) in late {
                    underWay[stream] = nil
                    session.cancel(stream)
                    request.end(.failure(.timedOut))
                }
                if isSilent { return fail(.timedOut) }
                if !late.isEmpty { flush() }
                if underWay.isEmpty, deadline <= now { close() }
            case .over: break
            }
        }

        func abandon() {
            let all = underWay.values
            end()
            for request in all { request.end(.failure(.overloaded)) }
        }

        func close() {
            end()
            destination.isOver(self)
        }

        func transportOpened() { flush() }

        func transportReceived(_ bytes: [UInt8]) {
            receivedAt = requests.loop.now
            let isHTTP2 = session.receive(bytes)
            tellOutcomes()
            guard phase != .over else { return }
            guard isHTTP2 else { return fail(.malformed("it is not HTTP/2")) }
            if phase == .opening, session.isReady {
                phase = .open
                stayIdle()
            }
            flush()
            guard phase != .over else { return }
            if underWay.isEmpty, session.isOver || !takesMore { return close() }
            if session.isOver { return fail(.broken("the server has broken HTTP/2")) }
            destination.isFree(self)
        }

        func transportEnded() { fail(.broken("ended without an answer")) }

        func transportFailed(_ failure: ClientFailure) { fail(failure) }
    }

    extension HTTP2Connection {
        private func stayIdle() {
            deadline = requests.loop.now &+ UInt64(requests.limits.idleMillisecondsMax)
        }

        private func tellOutcomes() {
            // What is sent again goes first, in the order in which it was asked for.
            let outcomes = session.takeOutcomes().sorted { $0.stream > $1.stream }
            for (stream, outcome) in outcomes where outcome == .notProcessed {
                if let request = underWay.removeValue(forKey: stream) { again(request) }
            }
            for (stream, outcome) in outcomes.reversed() {
                guard let request = underWay.removeValue(forKey: stream) else { continue }
                switch outcome {
                case .notProcessed: break
                case .failed(let reason): request.end(.failure(.broken(reason)))
                case .answered(let answer):
                    request.end(
                        .success(
                            OutgoingAnswer(
                                head: ResponseHead(
                                    status: answer.status, headers: HTTPHeaders(answer.fields),
                                    framing: .length(answer.body.count), keepsAlive: true),
                                body: answer.body)))
                }
            }
            if !outcomes.isEmpty, underWay.isEmpty { stayIdle() }
        }

        private func again(_ request: PendingRequest) {
            guard request.attempts < Self.attemptsMax else {
                return request.end(.failure(.broken("refused \(request.attempts) times")))
            }
            destination.again(request)
        }

        /// As the session sends them: what names the request first (RFC 9113 §8.3.1).
        private static func fields(
            of request: OutgoingRequest
        ) -> [(name: String, value: String)] {
            let origin = request.url.origin
            return [
                (":method", request.method), (":scheme", origin.isSecure ? "https" : "http"),
                (":authority", origin.authority), (":path", request.url.target),
            ] + request.headers.map { ($0.name.lowercased(), $0.value) }
                + [("content-length", "\(request.body.count)")]
        }

        private func fail(_ failure: ClientFailure) {
            let (previous, all) = (phase, underWay)
            end()
            switch previous {
            case .opening: destination.failed(self, failure, others: otherAddresses)
            case .open:
                for request in all.values { request.end(.failure(failure)) }
                destination.isOver(self)
            case .over: break
            }
        }

        private func end() {
            if phase == .over { return }
            phase = .over
            underWay = [:]
            session.end()
            // NB: the server may have gone; then there is nobody to tell.
            _ = session.output { transport.write($0) }
            transport.flush()
            transport.close()
        }
    }
#endif
