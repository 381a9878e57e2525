import Network

/// What is left of an answer that the client did not take at once.
struct PendingOutput {
    /// The head and whatever went before it.
    var head: [UInt8]
    /// The body as the responder made it; never copied.
    var body: [UInt8]
    /// How much of both has gone out.
    var sentCount: Int
}

// Answering.
extension HTTPConnection {
    /// Bodies up to here are copied behind their head, which is cheaper than a second piece.
    private static let copiedBodyBytesMax = 8 * 1024
    /// Answers to pipelined requests are sent together up to here.
    private static let gatheredBytesMax = 48 * 1024

    /// Answers a request, from any thread; dropped when the request has its answer or has gone.
    func answer(_ response: HTTPResponse, to request: UInt32) {
        if shared.events.isCurrent {
            deliver(response, to: request)
        } else {
            shared.events.post { self.deliver(response, to: request) }
        }
    }

    private func deliver(_ response: HTTPResponse, to request: UInt32) {
        guard phase == .responding, request == requestNumber else { return }
        if flags.contains(.isConsuming) {
            encode(response)
            return
        }
        let outerStart = beginOutput()
        encode(response)
        flush()
        if phase == .reading && !leftover.isEmpty {
            // Not at once: a chain of answers must not become a chain of calls.
            shared.events.post { self.resume() }
        } else {
            settle()
        }
        endOutput(outerStart)
    }

    /// Refuses what the client sent, outside of parsing.
    func refuse(_ fault: WireFault) {
        let outerStart = beginOutput()
        leftover = []
        flags.remove(.isHead)
        encodeFault(fault)
        settle()
        endOutput(outerStart)
    }

    /// Puts the answer to what cannot be served into the output; the connection ends with it.
    func encodeFault(_ fault: WireFault) {
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
        let hasNoBody = response.status == 204 || response.status == 304
        let closes =
            response.closesConnection || !flags.contains(.keepsAlive) || shared.isDraining
        let fields = ResponseSerializer.ConnectionFields(
            framing: hasNoBody ? .none : .length(response.body.count), closes: closes,
            saysKeepAlive: flags.contains(.isVersion10))
        let start = shared.output.count
        guard
            ResponseSerializer.append(
                response, fields, date: shared.currentDate(), to: shared.output)
        else {
            shared.output.truncate(to: start)
            encodeFault(.malformedAnswer)
            return
        }
        if closes { flags.insert(.closesAfter) }
        phase = .reading
        if hasNoBody || flags.contains(.isHead) { return }
        if response.body.count <= Self.copiedBodyBytesMax {
            shared.output.append(response.body)
            if shared.output.count - shared.outputStart > Self.gatheredBytesMax { flush() }
        } else {
            flush(response.body)
        }
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
        switch phase {
        case .reading:
            if flags.contains(.closesAfter) {
                finish()
                return
            }
            watch(.readable)
            if !flags.contains(.isTimed) { setDeadline(shared.limits.idleSecondsMax) }
        case .writing: watch(.writable)
        case .responding, .lingering, .closed: break
        }
    }

    /// Sends the gathered output and a body; keeps what the client does not take.
    private func flush(_ body: [UInt8] = []) {
        guard phase != .closed else { return }
        let head = shared.output.bytes(from: shared.outputStart)
        let outcome = body.withUnsafeBytes { socket.send(head, $0) }
        var sentCount = 0
        switch outcome {
        case .done(let count): sentCount = count
        case .wouldBlock: break
        case .failed:
            close()
            return
        }
        WireCounters.add(sentCount, to: shared.counters.bytesOut)
        if sentCount < head.count + body.count {
            let rest = head[min(sentCount, head.count)...]
            pending = PendingOutput(
                head: Array(UnsafeRawBufferPointer(rebasing: rest)), body: body,
                sentCount: max(0, sentCount - head.count))
            phase = .writing
            setDeadline(shared.limits.answerSecondsMax)
        }
        shared.output.truncate(to: shared.outputStart)
    }

    /// Sends more of what the client did not take.
    func flushPending() {
        guard let rest = pending else { return }
        let outcome = rest.head.withUnsafeBytes { head in
            rest.body.withUnsafeBytes { body in
                let fromHead = min(rest.sentCount, head.count)
                return socket.send(
                    UnsafeRawBufferPointer(rebasing: head[fromHead...]),
                    UnsafeRawBufferPointer(rebasing: body[(rest.sentCount - fromHead)...]))
            }
        }
        switch outcome {
        case .wouldBlock: return
        case .failed:
            close()
        case .done(let count):
            WireCounters.add(count, to: shared.counters.bytesOut)
            noteProgress(count)
            pending?.sentCount += count
            if rest.sentCount + count == rest.head.count + rest.body.count {
                pending = nil
                phase = .reading
                resume()
            }
        }
    }

    /// Ends the connection after its last answer.
    private func finish() {
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
