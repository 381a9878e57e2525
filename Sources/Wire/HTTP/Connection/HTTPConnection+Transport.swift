import Network

// Bytes in and out, through TLS where the connection has it.
extension HTTPConnection {
    /// Plain bytes encrypted at a time, which is what a slow reader of TLS holds beside the answer.
    private static let encryptedBytesMax = 64 * 1024
    /// Plain bytes that one turn encrypts, so that no turn of the loop takes long.
    private static let turnBytesMax = 256 * 1024
    /// Bytes that one turn sends as they are, which takes about 0.2 ms.
    private static let plainTurnBytesMax = 1_024 * 1024
    /// Answers within TLS itself that a peer may leave untaken.
    private static let controlBytesMax = 16 * 1024

    /// Receives what is there and takes it.
    func receive() {
        switch socket.receive(into: shared.readBuffer) {
        case .wouldBlock: break
        case .done(0), .failed: close()
        case .done(let count):
            WireCounters.add(count, to: shared.counters.bytesIn)
            let bytes = UnsafeRawBufferPointer(rebasing: shared.readBuffer[..<count])
            if let tls { decrypt(bytes, tls) } else { take(bytes) }
        }
    }

    private func decrypt(_ bytes: UnsafeRawBufferPointer, _ tls: TLSSession) {
        let wasEstablished = tls.isEstablished
        guard tls.receive(bytes) else {
            close()
            return
        }
        var plainCount = 0
        var outcome = TLSSession.ReadOutcome.needsMore
        repeat {
            outcome = tls.read(
                into: UnsafeMutableRawBufferPointer(rebasing: shared.plainBuffer[plainCount...]))
            if case .plain(let count) = outcome { plainCount += count }
        } while outcome.isPlain && plainCount < shared.plainBuffer.count
        sendControl(tls)
        if !wasEstablished && tls.isEstablished {
            setDeadline(shared.limits.idleSecondsMax)
            // The end of a handshake is not answered: a client with Nagle's algorithm on would keep
            // its request back until TCP's own delayed acknowledgement, for 40 ms.
            if plainCount == 0 { socket.acknowledge() }
        }
        if plainCount > 0 && phase != .closed {
            take(UnsafeRawBufferPointer(rebasing: shared.plainBuffer[..<plainCount]))
        }
        if outcome == .failed || (outcome == .ended && (phase == .reading || phase == .streaming)) {
            close()
        }
    }

    /// Sends what TLS itself has to say: the handshake, alerts, key updates.
    private func sendControl(_ tls: TLSSession) {
        guard tls.outputCount > 0 else { return }
        let outcome = tls.send(to: socket)
        if case .done(let count) = outcome { WireCounters.add(count, to: shared.counters.bytesOut) }
        if case .failed = outcome { close() }
        if tls.outputCount > Self.controlBytesMax { close() }
    }

    /// True when the socket has taken all that was accepted for it.
    var hasSentAll: Bool { tls.map { $0.outputCount == 0 } ?? true }

    /// Sends two pieces, or as much of them as goes.
    ///
    /// - Returns: how many plain bytes are done with; with TLS, some of them may wait encrypted.
    ///
    /// - Parameter hasMore: whether more is sent right after.
    func transmit(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, hasMore: Bool = false
    ) -> CallOutcome {
        if let tls { return encrypt(first, second, tls) }
        let first = UnsafeRawBufferPointer(rebasing: first.prefix(Self.plainTurnBytesMax))
        let second = UnsafeRawBufferPointer(
            rebasing: second.prefix(Self.plainTurnBytesMax - first.count))
        let outcome =
            hasMore ? socket.sendBeforeMore(first, second) : socket.send(first, second)
        if case .done(let count) = outcome { WireCounters.add(count, to: shared.counters.bytesOut) }
        return outcome
    }

    private func encrypt(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, _ tls: TLSSession
    ) -> CallOutcome {
        var acceptedCount = 0
        let total = first.count + second.count
        while true {
            if tls.outputCount > 0 {
                let outcome = tls.send(to: socket)
                guard case .done(let count) = outcome else {
                    return outcome == .wouldBlock && acceptedCount > 0
                        ? .done(acceptedCount) : outcome
                }
                WireCounters.add(count, to: shared.counters.bytesOut)
                if tls.outputCount > 0 { return .done(acceptedCount) }
            }
            if acceptedCount >= min(total, Self.turnBytesMax) { return .done(acceptedCount) }
            let fromFirst = acceptedCount < first.count
            let rest =
                fromFirst ? first[acceptedCount...] : second[(acceptedCount - first.count)...]
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.encryptedBytesMax))
            guard tls.write(piece) else {
                return .failed(SystemError(call: "SSL_write", code: 0))
            }
            acceptedCount += piece.count
        }
    }

    /// Tells a peer of TLS that the session ends in order, if it can be told at once.
    func endTLS() {
        guard let tls else { return }
        tls.end()
        // NB: a peer that does not read learns it from the end of the connection.
        _ = tls.send(to: socket)
    }

    /// Throws away what still comes in.
    func discard() {
        switch socket.receive(into: shared.readBuffer) {
        case .wouldBlock: break
        case .done(0), .failed: close()
        case .done(let count): WireCounters.add(count, to: shared.counters.bytesIn)
        }
    }
}

extension TLSSession.ReadOutcome {
    fileprivate var isPlain: Bool {
        if case .plain = self { true } else { false }
    }
}
