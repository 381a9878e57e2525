import Network

/// The body of the current request, while it comes in.
///
/// On its loop's thread only.
final class IncomingBody {
    enum Destination {
        /// Handed on piece by piece.
        case sink(any BodySink)
        /// Kept for the request, which is handed out when it is whole.
        case held(HeldBody, HTTPRequest)
    }

    let destination: Destination
    /// Handed to the sink and not yet dealt with.
    var bytesOut = 0
    /// Bytes received since a server that stops has looked, and when it looks again.
    var recentBytes = 0
    var stallAt: UInt64 = 0
    /// Nothing is received until the sink or the worker has caught up.
    var isPaused = false

    init(_ destination: Destination) { self.destination = destination }

    var isBehind: Bool {
        switch destination {
        case .sink: bytesOut >= BodyStream.windowBytes
        case .held(let held, _): held.isBusy || held.isWaiting
        }
    }

    /// Whether it waits for other bodies of its caller.
    var isWaiting: Bool {
        if case .held(let held, _) = destination { held.isWaiting } else { false }
    }
}

// Bodies that stream to a sink.
extension HTTPConnection {
    /// - Parameter isAwaited: whether nothing of the body has come with its head.
    func beginStream(_ head: RequestHead, isAwaited: Bool) {
        let request = open(head)
        phase = .streaming
        let number = requestNumber
        let sink = shared.responder.receive(
            request, stream: BodyStream(self, request: number),
            reply: HTTPReply(self, request: number))
        guard phase == .streaming, requestNumber == number else {
            // The answer was sent before the body was needed.
            sink?.abort()
            return
        }
        guard let sink else {
            leaveBody()
            return
        }
        incoming = IncomingBody(.sink(sink))
        if head.expectsContinue && !head.isVersion10 && isAwaited { sendContinue() }
    }

    private func sendContinue() {
        shared.output.append("HTTP/1.1 100 Continue\r\n\r\n")
        startDeadline()
    }

    func handOn(_ bytes: UnsafeRawBufferPointer) {
        guard let incoming else { return drop(bytes.count) }
        switch incoming.destination {
        case .sink(let sink):
            incoming.bytesOut += bytes.count
            sink.receive(Array(bytes))
        case .held(let held, _):
            do throws(WireFault) { try held.take(bytes) } catch { encodeFault(error) }
        }
    }

    /// The body is whole: from here on the request is like any other.
    func endStream() {
        flags.remove(.isTimed)
        guard let incoming else { return }
        deadline = .max
        phase = .responding
        switch incoming.destination {
        case .sink(let sink):
            self.incoming = nil
            sink.end()
        case .held(let held, let request):
            held.hasEnded = true
            if held.hasQueued { inflate(held, of: request) } else { finish(held, of: request) }
        }
    }

    /// Leaves the rest of a body unread: the connection ends with the answer.
    func leaveBody() {
        incoming = nil
        parser = RequestParser()
        leftover = []
        flags.subtract([.keepsAlive, .isTimed])
        flags.insert(.lingersAfter)
        deadline = .max
        phase = .responding
    }

    /// Tells the sink, if there is one, that nothing more comes.
    func abortBody() {
        guard let incoming else { return }
        self.incoming = nil
        if case .sink(let sink) = incoming.destination { sink.abort() }
    }

    /// Stops receiving while the sink is behind, goes on when it is not.
    func settleStream() {
        guard let incoming else { return }
        if case .held(let held, let request) = incoming.destination, held.hasQueued, !held.isBusy {
            inflate(held, of: request)
        }
        incoming.isPaused = incoming.isBehind
        if incoming.isPaused {
            // This time does not count against the client.
            flags.remove(.isTimed)
            if !incoming.isWaiting {
                deadline = .max
            } else if deadline == .max {
                setDeadline(shared.limits.bodySecondsMax)
            }
            watch([])
        } else {
            if !flags.contains(.isTimed) { startDeadline() }
            watch(.readable)
        }
    }

    /// From any thread: the sink has dealt with so many bytes.
    func sinkConsumed(_ count: Int, of request: UInt32) {
        if shared.events.isCurrent {
            settleConsumed(count, of: request)
        } else {
            shared.events.post { self.settleConsumed(count, of: request) }
        }
    }

    private func settleConsumed(_ count: Int, of request: UInt32) {
        guard phase == .streaming, request == requestNumber, let incoming else { return }
        incoming.bytesOut -= count
        guard closeIfBroken() else { return }
        if incoming.isPaused && incoming.bytesOut < BodyStream.windowBytes { settleStream() }
    }
}

// Bodies that are held until they are whole.
extension HTTPConnection {
    /// Asks the responder, with the head alone, what becomes of a body.
    ///
    /// - Parameter isAwaited: whether nothing of the body has come with its head.
    func beginHeld(_ head: RequestHead, isAwaited: Bool) {
        let request = open(head)
        let isContinueDue = head.expectsContinue && !head.isVersion10 && isAwaited
        let kept = flags
        // A client that waits for a 100 may or may not send the body after another answer; the
        // server cannot know.
        if isContinueDue || !mayDrain(head) {
            flags.remove(.keepsAlive)
            flags.insert(.lingersAfter)
        }
        drainedBytes = 0
        let reply = HTTPReply(self, request: requestNumber)
        guard case .receive(let bodyOptions) = shared.responder.decide(on: request, reply: reply)
        else { return }
        flags = kept
        phase = .streaming
        do throws(WireFault) {
            let number = requestNumber
            let held = try HeldBody(
                head, bodyOptions, budget: shared.bodies, limits: shared.limits
            ) { self.shared.events.post { self.turnCame(of: number) } }
            incoming = IncomingBody(.held(held, request))
            if isContinueDue { sendContinue() }
        } catch {
            encodeFault(error)
        }
    }

    /// The other bodies of the caller have been dealt with: the rest of this one is received.
    private func turnCame(of number: UInt32) {
        guard phase == .streaming, number == requestNumber, incoming?.isPaused == true,
            closeIfBroken()
        else { return }
        settleStream()
    }

    private func mayDrain(_ head: RequestHead) -> Bool {
        guard case .length(let length) = head.framing else { return true }
        return length <= shared.limits.drainedBodyBytesMax
    }

    /// Throws away bytes of a body whose request has its answer.
    private func drop(_ count: Int) {
        drainedBytes += UInt32(clamping: count)
        guard Int(drainedBytes) > shared.limits.drainedBodyBytesMax else { return }
        flags.insert([.closesAfter, .lingersAfter])
    }

    /// Lets a worker undo the gzip of what has come, while nothing more is received.
    private func inflate(_ held: HeldBody, of request: HTTPRequest) {
        held.isBusy = true
        let number = requestNumber
        shared.responder.runLong(for: request) {
            let fault = held.inflateQueued()
            self.shared.events.post { self.inflated(held, fault, of: number, request) }
        }
    }

    private func inflated(
        _ held: HeldBody, _ fault: WireFault?, of number: UInt32, _ request: HTTPRequest
    ) {
        held.isBusy = false
        guard number == requestNumber, incoming != nil else { return }
        if let fault { return refuse(fault) }
        guard held.hasEnded else { return settleStream() }
        let outerStart = beginOutput()
        finish(held, of: request)
        settle()
        endOutput(outerStart)
    }

    private func finish(_ held: HeldBody, of request: HTTPRequest) {
        incoming = nil
        do throws(WireFault) {
            respond(to: try held.finish(request))
        } catch {
            encodeFault(error)
        }
    }
}
