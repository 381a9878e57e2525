import Network

/// A mail server that takes messages for others, and how it is spoken to.
///
/// Sending blocks, for as long as the server takes within the limits: it belongs on worker threads.
package struct MailServer: Sendable {
    private let host: String
    private let port: UInt16
    private let security: MailSecurity
    private let login: MailLogin?
    private let name: String
    private let trust: TLSTrust
    private let millisecondsMax: Int

    /// - Parameters:
    ///   - name: what this server calls itself towards the other.
    ///   - trust: made for what has no name (`TLSTrust.Spoken.unnamed`).
    ///   - millisecondsMax: to connect, and then in which nothing comes; for all of it four times so long.
    package init(
        host: String, port: UInt16, security: MailSecurity, login: MailLogin?, name: String,
        trust: TLSTrust, millisecondsMax: Int = 30_000
    ) {
        self.host = host
        self.port = port
        self.security = security
        self.login = login
        self.name = name
        self.trust = trust
        self.millisecondsMax = millisecondsMax
    }

    /// Hands a message over; what cannot be reached or breaks is `deferred`.
    package func send(_ message: MailMessage) -> MailOutcome {
        let socket: Socket
        do throws(SystemError) {
            socket = try Socket.connect(host: host, port: port, milliseconds: millisecondsMax)
        } catch {
            return .deferred("\(error)")
        }
        defer { socket.close() }
        var wire = MailWire(socket, millisecondsMax: millisecondsMax)
        var session = SMTPSession(name: name, security: security, login: login, message: message)
        do throws(MailWire.Failure) {
            if security == .implicit { try wire.beginTLS(trust, host: host) }
            while true {
                var actions = session.receive(try wire.receive())[...]
                while let action = actions.popFirst() {
                    switch action {
                    case .send(let bytes): try wire.send(bytes)
                    case .beginTLS:
                        try wire.beginTLS(trust, host: host)
                        actions += session.tlsDidBegin()
                    case .end(let outcome): return outcome
                    }
                }
            }
        } catch {
            return session.didClose(error.reason)
        }
    }
}

/// The bytes of one connection, with TLS or before it; blocks, and gives up after a silence.
private struct MailWire {
    struct Failure: Error {
        let reason: String
    }

    private let socket: Socket
    private let millisecondsMax: Int
    private let clock = MonotonicClock.system
    private let deadline: UInt64
    private var tls: TLSSession?

    init(_ socket: Socket, millisecondsMax: Int) {
        self.socket = socket
        self.millisecondsMax = millisecondsMax
        deadline = clock.milliseconds() &+ 4 * UInt64(max(millisecondsMax, 0))
    }

    mutating func beginTLS(_ trust: TLSTrust, host: String) throws(Failure) {
        guard let session = trust.makeSession(toward: host) else {
            throw Failure(reason: "TLS cannot be set up")
        }
        tls = session
        var scrap = [UInt8](repeating: 0, count: 16)
        while !session.isEstablished {
            let outcome = scrap.withUnsafeMutableBytes { session.read(into: $0) }
            try flush(session)
            switch outcome {
            case .needsMore: if !session.isEstablished { try feed(session) }
            case .plain, .ended, .failed:
                throw Failure(
                    reason: session.refusedCertificate.map { "the certificate: \($0)" }
                        ?? "the TLS handshake failed")
            }
        }
        try flush(session)
    }

    mutating func send(_ bytes: [UInt8]) throws(Failure) {
        if let tls {
            guard bytes.withUnsafeBytes({ tls.write($0) }) else {
                throw Failure(reason: "TLS takes no more")
            }
            return try flush(tls)
        }
        var sent = 0
        while sent < bytes.count {
            switch bytes[sent...].withUnsafeBytes({ socket.send($0) }) {
            case .done(let count): sent += count
            case .wouldBlock: try wait(for: .writable)
            case .failed(let error): throw Failure(reason: "\(error)")
            }
        }
    }

    /// Some bytes, at least one.
    mutating func receive() throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while true {
            guard let tls else {
                let count = try receive(into: &bytes)
                return Array(bytes[..<count])
            }
            switch bytes.withUnsafeMutableBytes({ tls.read(into: $0) }) {
            case .plain(let count): return Array(bytes[..<count])
            case .needsMore:
                try flush(tls)
                try feed(tls)
            case .ended: throw Failure(reason: "the server ended the connection")
            case .failed: throw Failure(reason: "TLS failed")
            }
        }
    }

    private func receive(into bytes: inout [UInt8]) throws(Failure) -> Int {
        while true {
            switch bytes.withUnsafeMutableBytes({ socket.receive(into: $0) }) {
            case .done(0): throw Failure(reason: "the server ended the connection")
            case .done(let count): return count
            case .wouldBlock: try wait(for: .readable)
            case .failed(let error): throw Failure(reason: "\(error)")
            }
        }
    }

    private func feed(_ tls: TLSSession) throws(Failure) {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = try receive(into: &bytes)
        let isTaken = bytes.withUnsafeBytes {
            tls.receive(UnsafeRawBufferPointer(rebasing: $0[..<count]))
        }
        if !isTaken { throw Failure(reason: "TLS takes no more") }
    }

    private func flush(_ tls: TLSSession) throws(Failure) {
        while tls.outputCount > 0 {
            switch tls.send(to: socket) {
            case .done: continue
            case .wouldBlock: try wait(for: .writable)
            case .failed(let error): throw Failure(reason: "\(error)")
            }
        }
    }

    private func wait(for readiness: Socket.Readiness) throws(Failure) {
        let isReady: Bool
        let now = clock.milliseconds()
        do throws(SystemError) {
            isReady =
                now < deadline
                ? try socket.wait(
                    for: readiness, milliseconds: min(millisecondsMax, Int(deadline - now)))
                : false
        } catch {
            throw Failure(reason: "\(error)")
        }
        if !isReady { throw Failure(reason: "no answer in time") }
    }
}
