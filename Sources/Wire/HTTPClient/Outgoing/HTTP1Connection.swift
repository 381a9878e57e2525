import Network

/// A connection over HTTP/1.1: one request at a time, and its answer.
final class HTTP1Connection: OutgoingConnection, TransportOwner {
    private enum Phase {
        case opening, idle, busy, over
    }

    private unowned let destination: OutgoingDestination
    private unowned let requests: OutgoingRequests
    private let otherAddresses: ArraySlice<ResolvedAddress>
    private let transport: OutgoingTransport
    private var phase = Phase.opening
    /// When what goes on now has to be over: connecting, or being idle.
    private var deadline: UInt64
    private var current: PendingRequest?
    private var parser = ResponseParser(method: "GET")
    private var head: ResponseHead?
    private var body: [UInt8] = []
    private var hasReceived = false
    private var isReused = false

    init(
        to address: ResolvedAddress, of destination: OutgoingDestination,
        in requests: OutgoingRequests, otherAddresses: ArraySlice<ResolvedAddress>
    ) throws(SystemError) {
        let origin = destination.origin
        transport = try OutgoingTransport(
            to: address, host: origin.host, trust: origin.isSecure ? requests.trust : nil,
            on: requests.loop, buffers: requests.buffers)
        self.destination = destination
        self.requests = requests
        self.otherAddresses = otherAddresses
        deadline = requests.loop.now &+ UInt64(requests.limits.connectMillisecondsMax)
        transport.serve(self)
    }

    var isIdle: Bool { phase == .idle }
    var isOpening: Bool { phase == .opening }
    var takesMore: Bool { phase != .over }
    var room: Int { isIdle ? 1 : 0 }
    var hearsAfterSendFails: Bool { phase == .busy && !hasReceived && !isReused }

    func begin(_ pending: PendingRequest) {
        phase = .busy
        pending.countAttempt()
        current = pending
        parser = ResponseParser(method: pending.request.method)
        head = nil
        body = []
        hasReceived = false
        let bytes = pending.head + pending.request.body
        guard bytes.withUnsafeBytes({ transport.write($0) }) else {
            return fail(.broken("TLS takes no more"))
        }
    }

    func flush() { if phase == .busy { transport.flush() } }

    func check(now: UInt64) {
        switch phase {
        case .opening: if deadline <= now { fail(.timedOut) }
        case .idle: if deadline <= now { close() }
        case .busy: if let current, current.deadline <= now { fail(.timedOut) }
        case .over: break
        }
    }

    func close() {
        end()
        destination.isOver(self)
    }

    func abandon() {
        let pending = current
        end()
        pending?.end(.failure(.overloaded))
    }

    func transportOpened() {
        becomeIdle()
        destination.pump()
    }

    func transportReceived(_ bytes: [UInt8]) {
        // Nothing was asked: whatever it is, the connection cannot be trusted any more.
        guard phase == .busy else { return close() }
        hasReceived = true
        do throws(ClientFailure) { try parse(bytes) } catch { fail(error) }
    }

    func transportEnded() {
        guard phase == .busy else { return close() }
        do throws(ClientFailure) {
            try parser.finish()
            finish(keeps: false)
        } catch {
            fail(error)
        }
    }

    func transportFailed(_ failure: ClientFailure) { fail(failure) }
}

extension HTTP1Connection {
    private func becomeIdle() {
        phase = .idle
        deadline = requests.loop.now &+ UInt64(requests.limits.idleMillisecondsMax)
    }

    private func parse(_ bytes: [UInt8]) throws(ClientFailure) {
        var position = 0
        while true {
            let event = try Self.next(&parser, bytes, &position)
            switch event {
            case .needsMore: return
            case .head(let found): head = found
            case .data(let range):
                guard body.count + range.count <= requests.limits.answerBytesMax else {
                    throw .malformed(
                        "the body is over \(requests.limits.answerBytesMax) bytes")
                }
                body += bytes[range]
            case .end:
                // Bytes behind the answer belong to no request.
                return finish(keeps: head?.keepsAlive == true && position == bytes.count)
            }
        }
    }

    private static func next(
        _ parser: inout ResponseParser, _ bytes: [UInt8], _ position: inout Int
    ) throws(ClientFailure) -> ResponseParser.Event {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(ClientFailure) in try parser.next(bytes, at: &position) }
        }
        return try result.get()
    }

    private func finish(keeps: Bool) {
        guard let pending = current, let head else { return fail(.broken("no answer")) }
        let answer = OutgoingAnswer(head: head, body: body)
        current = nil
        body = []
        // An answer that came before the request was sent leaves the rest of it in the way.
        if keeps, !transport.hasOutput {
            becomeIdle()
            isReused = true
            pending.end(.success(answer))
            destination.isFree(self)
        } else {
            end()
            pending.end(.success(answer))
            destination.isOver(self)
        }
    }

    private func fail(_ failure: ClientFailure) {
        let (previous, pending) = (phase, current)
        end()
        switch previous {
        case .opening: destination.failed(self, failure, others: otherAddresses)
        case .idle: destination.isOver(self)
        case .busy:
            let isStale = isReused && !hasReceived && failure != .timedOut
            if let pending, isStale, pending.request.isRepeatable, pending.attempts < 2 {
                destination.again(pending)
            } else {
                pending?.end(.failure(failure))
            }
            destination.isOver(self)
        case .over: break
        }
    }

    private func end() {
        phase = .over
        current = nil
        transport.close()
    }
}
