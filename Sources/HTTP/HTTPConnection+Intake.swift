import Network

/// The body that a connection hands on while it comes in.
///
/// On its loop's thread only.
final class IncomingBody {
    let sink: any BodySink
    /// Handed to the sink and not yet dealt with.
    var bytesOut = 0
    /// Nothing is received until the sink has caught up.
    var isPaused = false

    init(_ sink: any BodySink) { self.sink = sink }
}

// Bodies that stream to a sink.
extension HTTPConnection {
    /// - Parameter isAwaited: whether nothing of the body has come with its head.
    func beginStream(_ head: RequestHead, isAwaited: Bool) {
        let request = open(head, body: [])
        phase = .streaming
        let number = requestNumber
        let sink = shared.responder.receive(
            request, stream: BodyStream(self, request: number),
            reply: HTTPReply(self, request: number))
        guard phase == .streaming, requestNumber == number else {
            // The answer was there before the body was wanted.
            sink?.abort()
            return
        }
        guard let sink else {
            leaveBody()
            return
        }
        incoming = IncomingBody(sink)
        if head.expectsContinue && !head.isVersion10 && isAwaited {
            shared.output.append("HTTP/1.1 100 Continue\r\n\r\n")
            startDeadline()
        }
    }

    func handOn(_ bytes: UnsafeRawBufferPointer) {
        guard let incoming else { return }
        incoming.bytesOut += bytes.count
        incoming.sink.receive(Array(bytes))
    }

    /// The body is whole: from here on the request is like any other.
    func endStream() {
        flags.remove(.isTimed)
        deadline = .max
        phase = .responding
        let sink = incoming?.sink
        incoming = nil
        sink?.end()
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
        let sink = incoming?.sink
        incoming = nil
        sink?.abort()
    }

    /// Stops receiving while the sink is behind, goes on when it is not.
    func settleStream() {
        guard let incoming else { return }
        incoming.isPaused = incoming.bytesOut >= BodyStream.windowBytes
        if incoming.isPaused {
            // The client is not to blame for this time.
            flags.remove(.isTimed)
            deadline = .max
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
        if incoming.isPaused && incoming.bytesOut < BodyStream.windowBytes { settleStream() }
    }
}
