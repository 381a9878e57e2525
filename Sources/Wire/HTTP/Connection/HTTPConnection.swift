import Network

/// One connection: the thin shell around the parser that moves bytes and keeps to deadlines.
///
/// One request is with the responder at a time, so pipelined requests are answered in order.
/// Meanwhile, and while the client has not taken an answer, nothing more is read. An idle
/// connection holds no buffer. Everything but `answer` runs on the loop's thread.
final class HTTPConnection: SocketHandler, @unchecked Sendable {
    // Unchecked: `answer` hops to the loop's thread before it touches anything that changes.

    enum Phase: UInt8 {
        /// Between requests or within one.
        case reading
        /// A body goes to its sink while it comes in.
        case streaming
        /// The responder has the request.
        case responding
        /// The client takes the answer more slowly than it was made.
        case writing
        /// An answer that goes on waits for its next piece.
        case telling
        /// All is said; what the client still sends is thrown away until it has read the answer.
        case lingering
        case closed
    }

    struct Flags: OptionSet {
        let rawValue: UInt16
        /// The current request is a HEAD.
        static let isHead = Flags(rawValue: 1)
        static let isVersion10 = Flags(rawValue: 2)
        static let keepsAlive = Flags(rawValue: 4)
        static let mayGzip = Flags(rawValue: 8)
        /// Nothing is served after the answer being written.
        static let closesAfter = Flags(rawValue: 16)
        static let lingersAfter = Flags(rawValue: 32)
        /// Received bytes are being parsed: an answer waits for the end of that to be sent.
        static let isConsuming = Flags(rawValue: 64)
        /// The deadline of a head or body is running.
        static let isTimed = Flags(rawValue: 128)
        /// The client has ended its direction while it waits: it may be gone altogether.
        static let isHalfClosed = Flags(rawValue: 256)
        /// The answer goes on until somebody ends it.
        static let isOpen = Flags(rawValue: 512)
        /// A server that stops has waited for its request once.
        static let isSpared = Flags(rawValue: 1024)
    }

    let shared: ConnectionLoop
    let socket: Socket
    let peer: Peer
    let tls: TLSSession?
    var phase = Phase.reading
    var flags: Flags = []
    var interest = Readiness.readable
    /// Counts the requests, so that a late answer meets no later request.
    var requestNumber: UInt32 = 0
    /// What was moved within the present deadline, in bytes.
    var progressBytes: UInt32 = 0
    var deadline = UInt64.max
    var parser = RequestParser()
    /// Bytes received and not yet taken: part of a head, or pipelined requests.
    var leftover: [UInt8] = []
    var pending: PendingOutput?
    /// How many bytes of an unwanted body were thrown away.
    var drainedBytes: UInt32 = 0
    /// What is kept, as `WaitingBytes` has counted it, and how often that began or ended.
    var waitingBytes: UInt32 = 0
    var waitingNumber: UInt32 = 0
    /// The body that is coming in.
    var incoming: IncomingBody?
    /// Called when the client goes before it has its answer.
    var abandon: (@Sendable () -> Void)?
    /// Called once the present answer has gone, or never will.
    var whenSent: (@Sendable (Bool) -> Void)?

    init(_ accepted: AcceptedSocket, tls: TLSSession?, on shared: ConnectionLoop) {
        self.shared = shared
        socket = accepted.socket
        peer = Peer(
            address: accepted.address, isLoopback: accepted.isLoopback, isTLS: tls != nil,
            isTrustedProxy: shared.isTrustedProxy(accepted.address), block: accepted.block)
        self.tls = tls
        // A handshake must come as soon as a head.
        setDeadline(
            tls == nil ? shared.limits.idleSecondsMax : shared.limits.headerSecondsMax)
    }

    func ready(_ readiness: Readiness) {
        switch phase {
        case .reading: receive()
        case .streaming:
            if incoming?.isPaused ?? false {
                if readiness.contains(.hangup) { close() }
            } else {
                receive()
            }
        case .responding: watchWhileResponding(readiness)
        case .telling: watchWhileTelling(readiness)
        case .writing:
            if readiness.contains(.hangup) {
                close()
            } else if pending?.stream?.isFetching != true {
                flushPending()
            }
        case .lingering: discard()
        case .closed: break
        }
    }

    func setDeadline(_ seconds: Int) {
        let (milliseconds, overflow) = UInt64(max(seconds, 0))
            .multipliedReportingOverflow(by: 1000)
        deadline = overflow ? .max : shared.events.now &+ milliseconds
        progressBytes = 0
    }

    /// Watches the socket for something else; a socket that cannot be watched is closed.
    func watch(_ wanted: Readiness) {
        if wanted == interest { return }
        do {
            try shared.events.change(socket.descriptor, from: interest, to: wanted)
            interest = wanted
        } catch {
            close()
        }
    }

    func close() {
        if phase == .closed { return }
        let abandon = phase == .responding || flags.contains(.isOpen) ? abandon : nil
        self.abandon = nil
        phase = .closed
        leftover = []
        dropPending()
        noteWaiting()
        abortBody()
        parser = RequestParser()
        shared.events.deregister(socket.descriptor)
        socket.close()
        shared.connectionClosed(from: peer.block)
        abandon?()
        tellSent(false)
    }
}

// Receiving.
extension HTTPConnection {
    /// Bodies up to here that come with their head are not counted: that would cost more than it
    /// guards.
    private static let freeBodyBytesMax = 4 * 1024

    /// Takes plain bytes as they came.
    func take(_ bytes: UnsafeRawBufferPointer) {
        noteProgress(bytes.count)
        let outerStart = beginOutput()
        if leftover.isEmpty {
            let usedCount = consume(bytes)
            if usedCount < bytes.count && phase != .closed {
                leftover = Array(UnsafeRawBufferPointer(rebasing: bytes[usedCount...]))
            }
        } else {
            leftover.append(contentsOf: bytes)
            consumeLeftover()
        }
        settle()
        endOutput(outerStart)
        noteWaiting()
    }

    /// Goes on with what was received before, after an answer has gone out.
    func resume() {
        guard phase == .reading else { return }
        let outerStart = beginOutput()
        if !leftover.isEmpty { consumeLeftover() }
        settle()
        endOutput(outerStart)
        noteWaiting()
    }

    private func consumeLeftover() {
        let bytes = leftover
        leftover = []
        let usedCount = bytes.withUnsafeBytes { consume($0) }
        if phase == .closed { return }
        if usedCount == 0 {
            leftover = bytes
        } else if usedCount < bytes.count {
            leftover = Array(bytes[usedCount...])
        }
    }

    /// Parses and hands out requests until one is not answered at once.
    private func consume(_ bytes: UnsafeRawBufferPointer) -> Int {
        var position = 0
        flags.insert(.isConsuming)
        while phase == .reading || phase == .streaming, !flags.contains(.closesAfter),
            position < bytes.count || parser.isStreamWhole
        {
            let wasInBody = parser.isInBody
            let event = parser.next(bytes, at: &position, limits: shared.limits) {
                shared.responder.streamsBody(of: $0.target)
            }
            switch event {
            case .needsMore:
                flags.remove(.isConsuming)
                if !flags.contains(.isTimed) || (parser.isInBody && !wasInBody) {
                    startDeadline()
                }
                return position
            case .request(let request):
                flags.remove(.isTimed)
                handOut(request)
            case .rejected(let fault):
                flags.remove(.isHead)
                encodeFault(fault)
            case .began(let head, let isHeld):
                flags.remove(.isTimed)
                if isHeld {
                    beginHeld(head, isAwaited: position == bytes.count)
                } else {
                    beginStream(head, isAwaited: position == bytes.count)
                }
            case .piece(let range):
                handOn(UnsafeRawBufferPointer(rebasing: bytes[range]))
            case .ended: endStream()
            }
        }
        flags.remove(.isConsuming)
        // What follows the last request of a connection is not looked at.
        return flags.contains(.closesAfter) ? bytes.count : position
    }

    private func handOut(_ incoming: IncomingRequest) {
        var request = open(incoming.head)
        request.body = incoming.body
        if request.body.count > Self.freeBodyBytesMax {
            let charge = BodyCharge(shared.bodies, for: .block(request.client))
            guard charge.grow(by: request.body.count) else { return encodeFault(.noBodyMemory) }
            request.bodyMemory = charge
        }
        respond(to: request)
    }

    /// Hands out a request whose body is whole.
    func respond(to request: HTTPRequest) {
        shared.responder.respond(to: request, reply: HTTPReply(self, request: requestNumber))
    }

    /// Begins a request, whose answer is then awaited; its body comes later.
    func open(_ head: RequestHead) -> HTTPRequest {
        flags.subtract([.isHead, .isVersion10, .keepsAlive, .mayGzip, .isOpen])
        if head.method == .head { flags.insert(.isHead) }
        if head.isVersion10 { flags.insert(.isVersion10) }
        if head.keepsAlive { flags.insert(.keepsAlive) }
        if head.acceptsGzip && !head.isVersion10 && isWorthCompressing(head) {
            flags.insert(.mayGzip)
        }
        phase = .responding
        deadline = .max
        abandon = nil
        requestNumber &+= 1
        WireCounters.add(1, to: shared.counters.requests)
        return HTTPRequest(
            id: shared.nextID(), method: head.method, target: head.target, headers: head.headers,
            body: [], peer: peer, client: client(of: head), loop: shared.events.index)
    }

    private func client(of head: RequestHead) -> AddressBlock? {
        guard peer.isTrustedProxy else { return peer.block }
        return ForwardedFor.client(
            of: head.headers, from: peer.block, isTrusted: shared.isTrustedProxy)
    }

    private func isWorthCompressing(_ head: RequestHead) -> Bool {
        switch shared.gzip {
        case .off: false
        case .remote: !peer.isLoopback || head.isForwarded
        case .on: true
        }
    }
}
