import Network

/// One connection to a server, with TLS or without; blocks, and gives up after a silence.
final class ClientConnection: @unchecked Sendable {
    // Unchecked: whoever took it from the client uses it alone until it is given back.
    private static let receiveBytes = 64 * 1024

    private let socket: Socket
    private let tls: TLSSession?
    private let silenceMilliseconds: Int
    private var encrypted = [UInt8](repeating: 0, count: 0)
    /// When it was last used, by the client's clock.
    var usedAt: UInt64 = 0

    init(
        to origin: HTTPOrigin, trust: ServerTrust?, options: BlockingHTTPClient.Options
    ) throws(ClientFailure) {
        silenceMilliseconds = options.silenceMillisecondsMax
        do throws(SystemError) {
            socket = try Socket.connect(
                host: origin.host, port: origin.port,
                milliseconds: options.connectMillisecondsMax)
        } catch {
            throw .unreachable("\(error)")
        }
        guard origin.isSecure else {
            tls = nil
            return
        }
        tls = trust?.tls.makeSession(toward: origin.host)
        guard let tls else {
            throw .unreachable("TLS cannot be set up")
        }
        encrypted = [UInt8](repeating: 0, count: Self.receiveBytes)
        try shakeHands(tls)
    }

    deinit {
        tls?.end()
        // NB: the peer may have gone, and need not be told then.
        _ = tls?.send(to: socket)
        socket.close()
    }

    /// Whether nothing has come since the last answer, not even the end.
    var isQuiet: Bool { socket.peek() == .wouldBlock }

    func send(_ bytes: UnsafeRawBufferPointer) throws(ClientFailure) {
        if let tls {
            guard tls.write(bytes) else { throw .broken("TLS takes no more") }
            return try flush(tls)
        }
        var rest = bytes
        while !rest.isEmpty {
            switch socket.send(rest) {
            case .done(let count): rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            case .wouldBlock: try wait(for: .writable)
            case .failed(let error): throw .broken("\(error)")
            }
        }
    }

    /// Some bytes, as soon as there are any; zero at the end.
    func receive(into bytes: UnsafeMutableRawBufferPointer) throws(ClientFailure) -> Int {
        while true {
            if let count = try receiveAtOnce(into: bytes) { return count }
            try wait(for: .readable)
        }
    }

    /// As `receive`, but nil when there are none yet.
    func receiveAtOnce(
        into bytes: UnsafeMutableRawBufferPointer
    ) throws(ClientFailure) -> Int? {
        guard let tls else {
            switch socket.receive(into: bytes) {
            case .done(let count): return count
            case .wouldBlock: return nil
            case .failed(let error): throw .broken("\(error)")
            }
        }
        while true {
            let outcome = tls.read(into: bytes)
            try flush(tls)
            switch outcome {
            case .plain(let count): return count
            case .ended: return 0
            case .failed: throw .broken("TLS failed")
            case .needsMore:
                guard try feed(tls) else { return nil }
            }
        }
    }

    private func shakeHands(_ tls: TLSSession) throws(ClientFailure) {
        var scrap = [UInt8](repeating: 0, count: 16)
        while !tls.isEstablished {
            let outcome = scrap.withUnsafeMutableBytes { tls.read(into: $0) }
            // The alert of a refusal is among it.
            do throws(ClientFailure) { try flush(tls) } catch {
                if let reason = tls.refusedCertificate { throw .untrusted(reason) }
                throw error
            }
            switch outcome {
            case .needsMore:
                if tls.isEstablished { break }
                while try !feed(tls) { try wait(for: .readable) }
            case .plain, .ended: throw .broken("the TLS handshake ended")
            case .failed:
                throw tls.refusedCertificate.map { .untrusted($0) }
                    ?? .broken("the TLS handshake failed")
            }
        }
        try flush(tls)
    }

    /// Hands encrypted bytes to TLS; false when none are there yet.
    private func feed(_ tls: TLSSession) throws(ClientFailure) -> Bool {
        let outcome = encrypted.withUnsafeMutableBytes { socket.receive(into: $0) }
        switch outcome {
        case .done(0): throw .broken("ended without TLS's end")
        case .done(let count):
            let isTaken = encrypted.withUnsafeBytes {
                tls.receive(UnsafeRawBufferPointer(rebasing: $0[..<count]))
            }
            guard isTaken else { throw .broken("TLS takes no more") }
            return true
        case .wouldBlock: return false
        case .failed(let error): throw .broken("\(error)")
        }
    }

    private func flush(_ tls: TLSSession) throws(ClientFailure) {
        while tls.outputCount > 0 {
            switch tls.send(to: socket) {
            case .done: continue
            case .wouldBlock: try wait(for: .writable)
            case .failed(let error): throw .broken("\(error)")
            }
        }
    }

    private func wait(for readiness: Socket.Readiness) throws(ClientFailure) {
        let isReady: Bool
        do throws(SystemError) {
            isReady = try socket.wait(for: readiness, milliseconds: silenceMilliseconds)
        } catch {
            throw .broken("\(error)")
        }
        if !isReady { throw .timedOut }
    }
}
