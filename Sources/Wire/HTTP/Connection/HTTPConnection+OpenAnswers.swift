import Network

// Answers that go on until one side ends them.
extension HTTPConnection {
    /// Puts the beginning of the body into the output, behind its head.
    func beginOpen(_ open: OpenBody, _ bytes: [UInt8]) {
        flags.insert(.isOpen)
        phase = .telling
        appendPiece(bytes)
        let number = requestNumber
        // Not at once: a chain of pieces must not become a chain of calls.
        open.begin { piece in self.shared.events.post { self.deliver(piece, of: number) } }
    }

    private func appendPiece(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        guard !flags.contains(.isVersion10) else { return shared.output.append(bytes) }
        shared.output.append(hexadecimal: bytes.count)
        shared.output.append("\r\n")
        shared.output.append(bytes)
        shared.output.append("\r\n")
    }

    private func deliver(_ piece: OpenBody.Piece, of request: UInt32) {
        guard phase == .telling, request == requestNumber else { return piece.whenSent(false) }
        guard !piece.isCut else { return close() }
        whenSent = piece.whenSent
        let outerStart = beginOutput()
        appendPiece(piece.bytes)
        if piece.isLast { endOpen() }
        if shared.output.count > shared.outputStart { flush() }
        if phase == .reading && !leftover.isEmpty {
            shared.events.post { self.resume() }
        } else {
            settle()
        }
        endOutput(outerStart)
        noteWaiting()
    }

    private func endOpen() {
        if !flags.contains(.isVersion10) { shared.output.append("0\r\n\r\n") }
        if shared.isDraining { flags.insert(.closesAfter) }
        flags.remove(.isOpen)
        abandon = nil
        phase = .reading
    }

    /// Finds out whether the client has gone, and lets further requests wait in the kernel.
    func watchWhileTelling(_ readiness: Readiness) {
        if readiness.contains(.hangup) { return close() }
        switch socket.peek() {
        // A client that still waits for more does not end its connection.
        case .failed, .done(0): close()
        case .done: watch([])
        case .wouldBlock: break
        }
    }
}
