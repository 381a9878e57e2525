import Network

/// What is left of an answer that the client did not take at once.
struct PendingOutput {
    /// The head and whatever went before it.
    var head: [UInt8]
    /// The body as the responder made it; never copied.
    var body: [UInt8]
    /// How much of both has gone out.
    var sentCount: Int
    /// What is to be compressed after both.
    var rest: GzipBody?
    /// What is to be sent piece by piece after both.
    var stream: StreamCursor?

    /// Whether head and body have gone.
    var isAtEnd: Bool { sentCount == head.count + body.count }
}

// Answering.
extension HTTPConnection {
    /// Bodies up to here are copied behind their head, which is cheaper than a second piece.
    private static let copiedBodyBytesMax = 8 * 1024
    /// Answers to pipelined requests are sent together up to here.
    private static let gatheredBytesMax = 48 * 1024

    /// Answers a request, from any thread; dropped when the request has its answer or has gone.
    func answer(
        _ response: HTTPResponse, to request: UInt32, whenSent: (@Sendable (Bool) -> Void)? = nil
    ) {
        if shared.events.isCurrent {
            deliver(response, to: request, whenSent)
        } else {
            shared.events.post { self.deliver(response, to: request, whenSent) }
        }
    }

    private func deliver(
        _ response: HTTPResponse, to request: UInt32, _ whenSent: (@Sendable (Bool) -> Void)?
    ) {
        guard phase == .responding || phase == .streaming, request == requestNumber else {
            response.open?.refuse()
            whenSent?(false)
            return
        }
        if response.open == nil { abandon = nil }
        noteWhenSent(whenSent)
        if phase == .streaming { leaveBody() }
        if flags.contains(.isConsuming) {
            encode(response)
            return
        }
        let outerStart = beginOutput()
        encode(response)
        // A large answer has gone already, or what is left of it is pending.
        if shared.output.count > shared.outputStart { flush() }
        if phase == .reading && !leftover.isEmpty {
            // Not at once: a chain of answers must not become a chain of calls.
            shared.events.post { self.resume() }
        } else {
            settle()
        }
        endOutput(outerStart)
        noteWaiting()
    }

    /// Refuses what the client sent, outside of parsing.
    func refuse(_ fault: WireFault) {
        let outerStart = beginOutput()
        leftover = []
        flags.remove(.isHead)
        encodeFault(fault)
        settle()
        endOutput(outerStart)
        noteWaiting()
    }

    /// Puts the answer to what cannot be served into the output; the connection ends with it.
    func encodeFault(_ fault: WireFault) {
        abortBody()
        let id = shared.nextID()
        flags.subtract([.keepsAlive, .mayGzip])
        flags.insert(.lingersAfter)
        shared.counters.countFault(fault.status)
        shared.observer.rejected(
            WireRejection(
                requestID: id, status: fault.status, reason: fault.reason, peer: peer))
        encode(fault.response(id: id))
    }

    /// Puts an answer into the output, and sends it at once where it is large.
    private func encode(_ response: HTTPResponse) {
        var body = response.body
        var pieces: GzipBody?
        var fields = connectionFields(response)
        if fields.variesByEncoding && !flags.contains(.isHead) {
            switch shared.compressor.compress(body) {
            case .plain: break
            case .whole(let compressed):
                body = compressed
                fields.isGzipped = true
                fields.framing = .length(body.count)
            case .pieces(let stream):
                pieces = stream
                fields.isGzipped = true
                fields.framing = .chunked
            }
        }
        let start = shared.output.count
        guard
            ResponseSerializer.append(
                response, fields, date: shared.currentDate(), to: shared.output)
        else {
            shared.output.truncate(to: start)
            response.open?.refuse()
            encodeFault(.malformedAnswer)
            return
        }
        if fields.closes { flags.insert(.closesAfter) }
        phase = .reading
        if let open = response.open {
            if flags.contains(.isHead) { open.refuse() } else { beginOpen(open, body) }
            return
        }
        if fields.framing == .none || flags.contains(.isHead) { return }
        if let stream = response.stream {
            flush(body, stream: StreamCursor(stream, for: stream.client ?? peer.block))
        } else if let pieces {
            flush(rest: pieces)
        } else if body.count <= Self.copiedBodyBytesMax {
            shared.output.append(body)
            if shared.output.count - shared.outputStart > Self.gatheredBytesMax { flush() }
        } else {
            flush(body)
        }
    }

    /// What the connection has to say in the head of an answer, before any compression.
    private func connectionFields(
        _ response: HTTPResponse
    ) -> ResponseSerializer.ConnectionFields {
        let hasNoBody = response.status == 204 || response.status == 304
        var fields = ResponseSerializer.ConnectionFields(
            framing: hasNoBody ? .none : .length(response.bodyBytes),
            closes: response.closesConnection || !flags.contains(.keepsAlive) || shared.isDraining,
            saysKeepAlive: flags.contains(.isVersion10))
        if response.open != nil {
            let endsByClosing = flags.contains(.isVersion10)
            fields.framing = endsByClosing ? .none : .chunked
            if endsByClosing { fields.closes = true }
            return fields
        }
        if flags.contains(.mayGzip), !hasNoBody, response.stream == nil,
            Compressor.isWorthIt(response, bodyBytesMin: shared.limits.gzipBodyBytesMin)
        {
            fields.variesByEncoding = true
            // RFC 9110 §8.6: the length in the answer to a HEAD is that of the GET, or is left out.
            if flags.contains(.isHead) { fields.framing = .none }
        }
        return fields
    }
}

// Sending.
extension HTTPConnection {
    /// Makes the end of the shared output this connection's own; gives what to end it with.
    func beginOutput() -> Int {
        let outerStart = shared.outputStart
        shared.outputStart = shared.output.count
        return outerStart
    }

    func endOutput(_ outerStart: Int) {
        shared.output.truncate(to: shared.outputStart)
        shared.outputStart = outerStart
    }

    /// Sends what was gathered, and watches for what comes next.
    func settle() {
        if shared.output.count > shared.outputStart { flush() }
        if phase == .writing, pending?.stream?.isFresh == true { sendFreshStream() }
        if phase != .writing { tellSent(phase != .closed) }
        guard closeIfBroken() else { return }
        switch phase {
        case .reading:
            if flags.contains(.closesAfter) {
                finish()
                return
            }
            watch(.readable)
            if !flags.contains(.isTimed) { setDeadline(shared.limits.idleSecondsMax) }
        case .writing: watch(pending?.stream?.isFetching == true ? [] : .writable)
        case .streaming: settleStream()
        case .telling:
            watch(.readable)
            deadline = .max
        case .responding, .lingering, .closed: break
        }
    }

    /// Sends the gathered output and a body; keeps what the client does not take.
    func flush(
        _ body: [UInt8] = [], rest: GzipBody? = nil, stream: StreamCursor? = nil
    ) {
        guard phase != .closed else { return }
        guard pending == nil else {
            return breakOff("one answer has gone before the next is sent")
        }
        let head = shared.output.bytes(from: shared.outputStart)
        let outcome = body.withUnsafeBytes { transmit(head, $0, hasMore: stream != nil) }
        var sentCount = 0
        switch outcome {
        case .done(let count): sentCount = count
        case .wouldBlock: break
        case .failed:
            close()
            return
        }
        if sentCount < head.count + body.count || rest != nil || stream != nil || !hasSentAll {
            let unsent = head[min(sentCount, head.count)...]
            pending = PendingOutput(
                head: Array(UnsafeRawBufferPointer(rebasing: unsent)), body: body,
                sentCount: max(0, sentCount - head.count), rest: rest, stream: stream)
            if rest != nil { shared.compressor.streamCount += 1 }
            phase = .writing
            setDeadline(shared.limits.answerSecondsMax)
        }
        shared.output.truncate(to: shared.outputStart)
    }

    /// Sends more of what the client did not take.
    func flushPending() {
        guard sendPending() else { return }
        dropPending()
        guard !flags.contains(.isOpen) else {
            phase = .telling
            return settle()
        }
        phase = .reading
        tellSent(true)
        resume()
    }

    /// Sends what goes now of what is pending; true once all of it has gone.
    func sendPending() -> Bool {
        guard let output = nextPending() else { return false }
        if !output.isAtEnd || output.stream == nil {
            let outcome = output.head.withUnsafeBytes { head in
                output.body.withUnsafeBytes { body in
                    let fromHead = min(output.sentCount, head.count)
                    return transmit(
                        UnsafeRawBufferPointer(rebasing: head[fromHead...]),
                        UnsafeRawBufferPointer(rebasing: body[(output.sentCount - fromHead)...]))
                }
            }
            switch outcome {
            case .wouldBlock: return false
            case .failed:
                close()
                return false
            case .done(let count):
                noteProgress(count)
                pending?.sentCount += count
            }
        }
        guard let pending, pending.isAtEnd else { return false }
        if let stream = pending.stream { return sendStream(stream) }
        return hasSentAll && pending.rest?.isAtEnd ?? true
    }

    /// What is to be sent next, compressed anew when all before has gone.
    private func nextPending() -> PendingOutput? {
        guard let output = pending, let rest = output.rest,
            output.isAtEnd, !rest.isAtEnd
        else { return pending }
        guard let piece = rest.nextPiece() else {
            // The answer has begun and cannot be ended: the client learns it from the missing end.
            close()
            return nil
        }
        pending = PendingOutput(head: piece, body: [], sentCount: 0, rest: rest)
        return pending
    }

    /// Pipelined answers may be sent together.
    private func noteWhenSent(_ tell: (@Sendable (Bool) -> Void)?) {
        guard let tell else { return }
        guard let previous = whenSent else {
            whenSent = tell
            return
        }
        whenSent = { isSent in
            previous(isSent)
            tell(isSent)
        }
    }

    /// Tells those who ask whether the answer has gone.
    func tellSent(_ isSent: Bool) {
        guard let tell = whenSent else { return }
        whenSent = nil
        tell(isSent)
    }

    func dropPending() {
        if pending?.rest != nil { shared.compressor.streamCount -= 1 }
        pending = nil
    }

    /// Ends the connection after its last answer.
    private func finish() {
        endTLS()
        if flags.contains(.lingersAfter) {
            socket.shutdownWrite()
            phase = .lingering
            setDeadline(shared.limits.lingerSecondsMax)
            watch(.readable)
        } else {
            close()
        }
    }
}
