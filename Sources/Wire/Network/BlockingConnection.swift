/// One connection to another server for a thread that waits for it; plain at first, and with TLS if wanted.
///
/// Every call blocks until it is done, and gives up after a silence. Confined to one thread at a time.
package final class BlockingConnection {
    package enum Failure: Error {
        /// Nothing answers at the address.
        case unreachable(String)
        /// The certificate is not one for that host that is believed.
        case untrusted(String)
        /// The connection ended, or broke.
        case broken(String)
        /// Nothing moved for the time that was given, or the time for everything is over.
        case timedOut
    }

    /// How long a connection may take.
    package struct TimeLimits: Sendable {
        /// For each address of the host.
        package var connectMillisecondsMax: Int
        /// In which not a byte moves, in either direction.
        package var silenceMillisecondsMax: Int
        /// For everything after the connection is there; nil for no limit.
        package var wholeMillisecondsMax: Int?

        package init(
            connectMillisecondsMax: Int, silenceMillisecondsMax: Int,
            wholeMillisecondsMax: Int? = nil
        ) {
            self.connectMillisecondsMax = connectMillisecondsMax
            self.silenceMillisecondsMax = silenceMillisecondsMax
            self.wholeMillisecondsMax = wholeMillisecondsMax
        }
    }

    private static let receiveBytes = 64 * 1024

    private let host: String
    private let socket: Socket
    private let timeLimits: TimeLimits
    private let clock = MonotonicClock.system
    private let deadline: UInt64
    private var tls: TLSSession?
    private var encrypted: [UInt8] = []

    /// Connects to a host, by its name or address.
    ///
    /// - Parameter addresses: those of the host that may be connected to; nil to look it up.
    package init(
        to host: String, port: UInt16, at addresses: [ResolvedAddress]? = nil,
        _ timeLimits: TimeLimits
    ) throws(Failure) {
        self.host = host
        self.timeLimits = timeLimits
        let milliseconds = timeLimits.connectMillisecondsMax
        do throws(SystemError) {
            socket =
                if let addresses {
                    try Socket.connect(to: addresses, milliseconds: milliseconds)
                } else {
                    try Socket.connect(host: host, port: port, milliseconds: milliseconds)
                }
        } catch {
            throw .unreachable("\(error)")
        }
        let now = clock.milliseconds()
        deadline = timeLimits.wholeMillisecondsMax.map { now &+ UInt64(max($0, 0)) } ?? .max
    }

    deinit {
        if let tls {
            tls.end()
            // NB: the peer may have gone, and need not be told then.
            _ = tls.send(to: socket)
        }
        socket.close()
    }

    /// Goes on with TLS; the certificate must be one for the host.
    package func beginTLS(_ trust: TLSTrust) throws(Failure) {
        guard let session = trust.makeSession(toward: host) else {
            throw .unreachable("TLS cannot be set up")
        }
        tls = session
        encrypted = [UInt8](repeating: 0, count: Self.receiveBytes)
        var scrap = [UInt8](repeating: 0, count: 16)
        while !session.isEstablished {
            let outcome = scrap.withUnsafeMutableBytes { session.read(into: $0) }
            // The alert of a refusal is among it.
            do throws(Failure) { try flush(session) } catch {
                if let reason = session.refusedCertificate { throw .untrusted(reason) }
                throw error
            }
            switch outcome {
            case .needsMore:
                if session.isEstablished { break }
                while try !feed(session) { try wait(for: .readable) }
            case .plain, .ended: throw .broken("the TLS handshake ended")
            case .failed:
                throw session.refusedCertificate.map { .untrusted($0) }
                    ?? .broken("the TLS handshake failed")
            }
        }
        try flush(session)
    }

    /// Whether nothing has come that was not received yet, not even the end.
    package var isQuiet: Bool { socket.peek() == .wouldBlock }

    package func send(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
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
    package func receive(into bytes: UnsafeMutableRawBufferPointer) throws(Failure) -> Int {
        while true {
            if let count = try receiveAtOnce(into: bytes) { return count }
            try wait(for: .readable)
        }
    }

    /// As `receive`, but nil when there are none yet.
    package func receiveAtOnce(
        into bytes: UnsafeMutableRawBufferPointer
    ) throws(Failure) -> Int? {
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

    /// Hands encrypted bytes to TLS; false when none are there yet.
    private func feed(_ tls: TLSSession) throws(Failure) -> Bool {
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

    private func flush(_ tls: TLSSession) throws(Failure) {
        while tls.outputCount > 0 {
            switch tls.send(to: socket) {
            case .done: continue
            case .wouldBlock: try wait(for: .writable)
            case .failed(let error): throw .broken("\(error)")
            }
        }
    }

    private func wait(for readiness: Socket.Readiness) throws(Failure) {
        let now = clock.milliseconds()
        guard now < deadline else { throw .timedOut }
        let isReady: Bool
        do throws(SystemError) {
            isReady = try socket.wait(
                for: readiness,
                milliseconds: Int(
                    clamping: min(
                        UInt64(max(timeLimits.silenceMillisecondsMax, 0)), deadline - now)))
        } catch {
            throw .broken("\(error)")
        }
        if !isReady { throw .timedOut }
    }
}
