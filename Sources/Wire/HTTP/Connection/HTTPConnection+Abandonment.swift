import Network

// Clients that go while their request is with the responder.
extension HTTPConnection {
    /// On the loop's thread.
    func watchForAbandonment(of request: UInt32, _ abandon: @escaping @Sendable () -> Void) {
        // The client may have gone while the request waited for its turn.
        guard phase != .closed else { return abandon() }
        guard phase == .responding, request == requestNumber else { return }
        self.abandon = abandon
    }

    /// Finds out whether a client that has ended its direction still waits for its answer.
    ///
    /// A client that has closed the connection looks like one that only sends no more. Only when
    /// something is sent to them, the first answers that there is no connection any more. An
    /// interim response is skipped by the second (RFC 9110 §15.2); clients of HTTP/1.0 know none.
    func probe() {
        guard phase == .responding, flags.contains(.isHalfClosed), !flags.contains(.isVersion10),
            hasSentAll
        else { return }
        let interim: StaticString = "HTTP/1.1 100 Continue\r\n\r\n"
        let bytes = UnsafeRawBufferPointer(
            start: interim.utf8Start, count: interim.utf8CodeUnitCount)
        let outcome = transmit(bytes, UnsafeRawBufferPointer(start: nil, count: 0))
        switch outcome {
        case .done(bytes.count): break
        // With room for nothing it has not read what it was sent before.
        case .wouldBlock: break
        case .done, .failed: close()
        }
    }

    /// Finds out whether the client has gone, and lets further requests wait in the kernel.
    func watchWhileResponding(_ readiness: Readiness) {
        if readiness.contains(.hangup) {
            close()
            return
        }
        switch socket.peek() {
        case .failed: close()
        case .done(0):
            // Perhaps only its direction has ended: then it still gets its answer.
            flags.insert(.isHalfClosed)
            watch([])
            probe()
        case .done, .wouldBlock: watch([])
        }
    }
}
