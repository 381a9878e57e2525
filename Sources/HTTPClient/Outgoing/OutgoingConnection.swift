import Network

/// One connection of a destination, on the loop's thread: one request at a time, and its answer.
final class OutgoingConnection: SocketHandler {
    private enum Phase {
        case connecting, shakingHands, idle, busy, over
    }

    private static let piecesPerTurn = 16

    private unowned let destination: OutgoingDestination
    private unowned let requests: OutgoingRequests
    private let otherAddresses: ArraySlice<ResolvedAddress>
    private let socket: Socket
    private let tls: TLSSession?
    private var phase = Phase.connecting
    private var interest: Readiness = [.readable, .writable]
    /// Plain bytes that the socket has not taken; with TLS they are in the session instead.
    private var output: [UInt8] = []
    private var sentCount = 0
    /// When what goes on now has to be over: connecting, or being idle.
    private var deadline: UInt64
    private var current: PendingRequest?
    private var parser = ResponseParser(method: "GET")
    private var head: ResponseHead?
    private var body: [UInt8] = []
    private var hasReceived = false
    private var isReused = false

    init(
        _ socket: Socket, of destination: OutgoingDestination, in requests: OutgoingRequests,
        otherAddresses: ArraySlice<ResolvedAddress>
    ) throws(SystemError) {
        self.socket = socket
        self.destination = destination
        self.requests = requests
        self.otherAddresses = otherAddresses
        deadline = requests.loop.now &+ UInt64(requests.limits.connectMillisecondsMax)
        if destination.origin.isSecure {
            tls = requests.trust.tls.makeSession(toward: destination.origin.host)
            guard tls != nil else { throw SystemError(call: "SSL_new", code: 0) }
        } else {
            tls = nil
        }
        try requests.loop.register(socket.descriptor, self, interest: interest)
    }

    var isIdle: Bool { phase == .idle }
    var isOpening: Bool { phase == .connecting || phase == .shakingHands }

    /// Sends a request; the connection is idle.
    func begin(_ pending: PendingRequest) {
        phase = .busy
        current = pending
        parser = ResponseParser(
            method: pending.request.method, limits: requests.limits.response)
        head = nil
        body = []
        hasReceived = false
        if let tls {
            let isTaken = pending.bytes.withUnsafeBytes { tls.write($0) }
            guard isTaken else { return fail(.broken("TLS takes no more")) }
        } else {
            output = pending.bytes
            sentCount = 0
        }
        flush()
    }

    func ready(_ readiness: Readiness) {
        if phase == .connecting {
            if let error = socket.connectFailure { return fail(.unreachable("\(error)")) }
            // Called in vain, it would be neither.
            guard readiness.contains(.writable) else { return }
            phase = .shakingHands
        }
        if phase != .over { receive() }
        if phase != .over { flush() }
    }

    /// The destination's own look at deadlines serves all of its connections.
    func sweep(now: UInt64) {}

    /// Ends what takes too long.
    func check(now: UInt64) {
        switch phase {
        case .connecting, .shakingHands:
            if deadline <= now { fail(.timedOut) }
        case .idle: if deadline <= now { close() }
        case .busy: if let current, current.deadline <= now { fail(.timedOut) }
        case .over: break
        }
    }

    /// Ends an idle connection.
    func close() {
        end()
        destination.isOver(self, again: nil)
    }

    /// Ends the connection whatever it does; the destination has forgotten it.
    func abandon() {
        let pending = current
        end()
        pending?.end(.failure(.overloaded))
    }
}

extension OutgoingConnection {
    private func established() {
        phase = .idle
        deadline = requests.loop.now &+ UInt64(requests.limits.idleMillisecondsMax)
        destination.pump()
    }

    private func receive() {
        // So many pieces at a time that one answer keeps no other waiting. What TLS holds is taken to
        // its end: the socket tells of what is in it alone.
        var pieceCount = 0
        while true {
            guard let tls else {
                if phase == .shakingHands { return established() }
                guard pieceCount < Self.piecesPerTurn else { return }
                pieceCount += 1
                let outcome = requests.buffers.plain.withUnsafeMutableBytes {
                    socket.receive(into: $0)
                }
                guard take(outcome) else { return }
                continue
            }
            let outcome = requests.buffers.plain.withUnsafeMutableBytes { tls.read(into: $0) }
            if phase == .shakingHands, tls.isEstablished {
                flush()
                guard phase == .shakingHands else { return }
                established()
                if phase == .over { return }
            }
            switch outcome {
            case .plain(let count): guard take(.done(count)) else { return }
            case .ended: guard take(.done(0)) else { return }
            case .failed:
                return fail(
                    tls.refusedCertificate.map { .untrusted($0) } ?? .broken("TLS failed"))
            case .needsMore:
                guard pieceCount < Self.piecesPerTurn, feed(tls) else { return }
                pieceCount += 1
            }
        }
    }

    /// Hands encrypted bytes to TLS; false when none are there yet, or the connection is over.
    private func feed(_ tls: TLSSession) -> Bool {
        let outcome = requests.buffers.encrypted.withUnsafeMutableBytes {
            socket.receive(into: $0)
        }
        switch outcome {
        case .done(let count) where count > 0:
            let isTaken = requests.buffers.encrypted.withUnsafeBytes {
                tls.receive(UnsafeRawBufferPointer(rebasing: $0[..<count]))
            }
            if !isTaken { fail(.broken("TLS takes no more")) }
            return isTaken
        case .done:
            // Without TLS's own end an answer that lasts until the end may have been cut.
            fail(.broken("ended without TLS's end"))
            return false
        case .wouldBlock: return false
        case .failed(let error):
            fail(.broken("\(error)"))
            return false
        }
    }

    /// Takes what was received; false when there is no more to receive.
    private func take(_ outcome: CallOutcome) -> Bool {
        switch outcome {
        case .wouldBlock: return false
        case .failed(let error):
            fail(.broken("\(error)"))
            return false
        case .done(0):
            guard phase == .busy else {
                close()
                return false
            }
            do throws(ClientFailure) {
                try parser.finish()
                finish(keeps: false)
            } catch {
                fail(error)
            }
            return false
        case .done(let count):
            guard phase == .busy else {
                // Nothing was asked: whatever it is, the connection cannot be trusted any more.
                close()
                return false
            }
            hasReceived = true
            do throws(ClientFailure) { try parse(count) } catch { fail(error) }
            return phase == .busy || phase == .idle
        }
    }

    private func parse(_ count: Int) throws(ClientFailure) {
        // Copied, because what follows on an answer may use the buffer again.
        let bytes = Array(requests.buffers.plain[..<count])
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
        let isSent = sentCount == output.count && (tls?.outputCount ?? 0) == 0
        output = []
        sentCount = 0
        if keeps, isSent {
            phase = .idle
            isReused = true
            deadline = requests.loop.now &+ UInt64(requests.limits.idleMillisecondsMax)
            pending.end(.success(answer))
            destination.isFree(self)
        } else {
            end()
            pending.end(.success(answer))
            destination.isOver(self, again: nil)
        }
    }

    private func flush() {
        while phase != .over, phase != .connecting {
            let outcome: CallOutcome
            if let tls {
                if tls.outputCount == 0 { break }
                outcome = tls.send(to: socket)
            } else {
                if sentCount == output.count { break }
                outcome = output[sentCount...].withUnsafeBytes { socket.send($0) }
            }
            switch outcome {
            case .done(let count): if tls == nil { sentCount += count }
            case .wouldBlock: return watch([.readable, .writable])
            case .failed(let error):
                // The server may have answered before it closed: what comes tells.
                if phase == .busy, !hasReceived, !isReused { return watch([.readable]) }
                return fail(.broken("\(error)"))
            }
        }
        if phase != .over, phase != .connecting { watch([.readable]) }
    }

    private func watch(_ wanted: Readiness) {
        if wanted == interest { return }
        do throws(SystemError) {
            try requests.loop.change(socket.descriptor, from: interest, to: wanted)
            interest = wanted
        } catch {
            fail(.broken("\(error)"))
        }
    }

    private func fail(_ failure: ClientFailure) {
        let (former, pending) = (phase, current)
        end()
        switch former {
        case .connecting, .shakingHands:
            destination.failed(self, failure, others: otherAddresses)
        case .idle: destination.isOver(self, again: nil)
        case .busy:
            let isStale = isReused && !hasReceived && failure != .timedOut
            if let pending, isStale, pending.request.isRepeatable, !pending.isSecondTry {
                destination.isOver(self, again: pending)
            } else {
                pending?.end(.failure(failure))
                destination.isOver(self, again: nil)
            }
        case .over: break
        }
    }

    private func end() {
        if phase == .over { return }
        let wasConnecting = phase == .connecting
        phase = .over
        current = nil
        if let tls, !wasConnecting {
            tls.end()
            // NB: the peer may have gone, and need not be told then.
            _ = tls.send(to: socket)
        }
        requests.loop.deregister(socket.descriptor)
        socket.close()
    }
}
