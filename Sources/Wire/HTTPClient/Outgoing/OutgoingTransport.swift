import Network

/// The user of a transport, which hears what becomes of it; on the loop's thread.
package protocol TransportOwner: AnyObject {
    /// The connection is there, and TLS with a certificate that is believed.
    func transportOpened()
    /// Plain bytes have come.
    func transportReceived(_ bytes: [UInt8])
    /// The peer sends nothing more.
    func transportEnded()
    /// It is over, and closed; told once, and not after `close`.
    func transportFailed(_ failure: ClientFailure)
    /// Whether the peer's last words are waited for when it takes no more bytes.
    var hearsAfterSendFails: Bool { get }
}

/// A connection that an event loop begins to one address, with TLS or without: plain bytes in and out.
///
/// Belongs to the loop's thread.
package final class OutgoingTransport: SocketHandler {
    private enum State {
        case connecting, shakingHands, open, over
    }

    private static let piecesPerTurn = 16

    private weak var owner: (any TransportOwner)?
    private let socket: Socket
    private let tls: TLSSession?
    private let loop: EventLoop
    private let buffers: TransportBuffers
    private var state = State.connecting
    private var interest: Readiness = [.readable, .writable]
    /// Plain bytes that the socket has not taken; with TLS they are in the session instead.
    private var output: [UInt8] = []
    private var sentCount = 0

    /// Begins to connect.
    ///
    /// - Parameter trust: nil to do without TLS.
    /// - Throws: `SystemError`; nothing is open then.
    package init(
        to address: ResolvedAddress, host: String, trust: TLSTrust?, on loop: EventLoop,
        buffers: TransportBuffers
    ) throws(SystemError) {
        tls = trust?.makeSession(toward: host)
        if trust != nil, tls == nil { throw SystemError(call: "SSL_new", code: 0) }
        socket = try Socket.begin(to: address)
        self.loop = loop
        self.buffers = buffers
        do throws(SystemError) {
            try loop.register(socket.descriptor, self, interest: interest)
        } catch {
            socket.close()
            throw error
        }
    }

    /// Sets the user, before the loop gets its thread back.
    package func serve(_ owner: any TransportOwner) { self.owner = owner }

    /// Whether there is anything that the peer has not been sent yet.
    package var hasOutput: Bool { sentCount < output.count || (tls?.outputCount ?? 0) > 0 }

    /// Takes plain bytes, which `flush` sends; false when TLS carries no more.
    package func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if let tls { return tls.write(bytes) }
        if sentCount == output.count {
            output.removeAll(keepingCapacity: true)
            sentCount = 0
        }
        output.append(contentsOf: bytes)
        return true
    }

    package func ready(_ readiness: Readiness) {
        if state == .connecting {
            if let error = socket.connectFailure { return fail(.unreachable("\(error)")) }
            // Called in vain, it would be neither.
            guard readiness.contains(.writable) else { return }
            state = tls == nil ? .open : .shakingHands
            if state == .open { owner?.transportOpened() }
        }
        if state != .over { receive() }
        if state != .over { flush() }
    }

    /// Its owner looks at deadlines.
    package func sweep(now: UInt64) {}

    /// Ends it; the owner is told nothing more.
    package func close() {
        if state == .over { return }
        let wasConnecting = state == .connecting
        state = .over
        if let tls, !wasConnecting {
            tls.end()
            // NB: the peer may have gone, and need not be told then.
            _ = tls.send(to: socket)
        }
        loop.deregister(socket.descriptor)
        socket.close()
    }

    /// Sends what there is; what the socket does not take goes when it does.
    package func flush() {
        while state != .over, state != .connecting {
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
                if state == .open, owner?.hearsAfterSendFails == true {
                    return watch([.readable])
                }
                return fail(.broken("\(error)"))
            }
        }
        if state != .over, state != .connecting { watch([.readable]) }
    }
}

extension OutgoingTransport {
    private func receive() {
        // A limit of pieces at a time, so that one answer does not keep others waiting. What TLS
        // holds is taken to its end: the socket tells of what is in it alone.
        var pieceCount = 0
        while true {
            guard let tls else {
                guard pieceCount < Self.piecesPerTurn else { return }
                pieceCount += 1
                let outcome = buffers.plain.withUnsafeMutableBytes { socket.receive(into: $0) }
                guard take(outcome) else { return }
                continue
            }
            let outcome = buffers.plain.withUnsafeMutableBytes { tls.read(into: $0) }
            if state == .shakingHands, tls.isEstablished {
                flush()
                guard state == .shakingHands else { return }
                state = .open
                owner?.transportOpened()
                if state == .over { return }
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
        let outcome = buffers.encrypted.withUnsafeMutableBytes { socket.receive(into: $0) }
        switch outcome {
        case .done(let count) where count > 0:
            let isTaken = buffers.encrypted.withUnsafeBytes {
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

    /// Hands on what was received; false when there is no more to receive.
    private func take(_ outcome: CallOutcome) -> Bool {
        switch outcome {
        case .wouldBlock: return false
        case .failed(let error):
            fail(.broken("\(error)"))
            return false
        case .done(0):
            owner?.transportEnded()
            return false
        case .done(let count):
            // Copied, because what the owner does may use the buffer again.
            owner?.transportReceived(Array(buffers.plain[..<count]))
            return state != .over
        }
    }

    private func watch(_ wanted: Readiness) {
        if wanted == interest { return }
        do throws(SystemError) {
            try loop.change(socket.descriptor, from: interest, to: wanted)
            interest = wanted
        } catch {
            fail(.broken("\(error)"))
        }
    }

    private func fail(_ failure: ClientFailure) {
        if state == .over { return }
        close()
        owner?.transportFailed(failure)
    }
}

/// Memory that every connection of a loop uses in turn.
package final class TransportBuffers {
    static let pieceBytes = 65_536
    var plain = [UInt8](repeating: 0, count: pieceBytes)
    var encrypted = [UInt8](repeating: 0, count: pieceBytes)

    package init() {}
}
