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

    /// Why nothing could be handed over now; nil where the server greets.
    ///
    /// Tries neither STARTTLS nor the login.
    package func obstacle() -> String? {
        do throws(BlockingConnection.Failure) {
            let wire = try connection()
            if security == .implicit { try wire.beginTLS(trust) }
            let greeting = String(decoding: try Self.received(on: wire), as: UTF8.self)
            return greeting.hasPrefix("220") ? nil : "it greets with \(greeting.prefix(64))"
        } catch {
            return error.reason
        }
    }

    private func connection() throws(BlockingConnection.Failure) -> BlockingConnection {
        try BlockingConnection(
            to: host, port: port,
            BlockingConnection.TimeLimits(
                connectMillisecondsMax: millisecondsMax, silenceMillisecondsMax: millisecondsMax,
                wholeMillisecondsMax: 4 * max(millisecondsMax, 0)))
    }

    /// Hands a message over; what cannot be reached or breaks is `deferred`.
    package func send(_ message: MailMessage) -> MailOutcome {
        let wire: BlockingConnection
        do throws(BlockingConnection.Failure) {
            wire = try connection()
        } catch {
            return .deferred(error.reason)
        }
        var session = SMTPSession(name: name, security: security, login: login, message: message)
        do throws(BlockingConnection.Failure) {
            if security == .implicit { try wire.beginTLS(trust) }
            while true {
                var actions = session.receive(try Self.received(on: wire))[...]
                while let action = actions.popFirst() {
                    switch action {
                    case .send(let bytes): try Self.send(bytes, on: wire)
                    case .beginTLS:
                        try wire.beginTLS(trust)
                        actions += session.tlsDidBegin()
                    case .end(let outcome): return outcome
                    }
                }
            }
        } catch {
            return session.didClose(error.reason)
        }
    }

    // NB: typed errors do not pass through the standard library's closures.
    private static func send(
        _ bytes: [UInt8], on wire: BlockingConnection
    ) throws(BlockingConnection.Failure) {
        var failure: BlockingConnection.Failure?
        bytes.withUnsafeBytes { bytes in
            do throws(BlockingConnection.Failure) { try wire.send(bytes) } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Some bytes, at least one.
    private static func received(
        on wire: BlockingConnection
    ) throws(BlockingConnection.Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        var count = 0
        var failure: BlockingConnection.Failure?
        bytes.withUnsafeMutableBytes { bytes in
            do throws(BlockingConnection.Failure) { count = try wire.receive(into: bytes) } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        guard count > 0 else { throw .broken("the server ended the connection") }
        return Array(bytes[..<count])
    }
}

extension BlockingConnection.Failure {
    /// Why a message waits, for the log.
    fileprivate var reason: String {
        switch self {
        case .unreachable(let reason), .broken(let reason): reason
        case .untrusted(let reason): "the certificate: \(reason)"
        case .timedOut: "no answer in time"
        }
    }
}
