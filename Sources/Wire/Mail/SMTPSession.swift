import Cryptography

/// How a mail server is spoken to.
package enum MailSecurity: String, Sendable, CaseIterable {
    /// TLS begins with `STARTTLS`; a server that does not offer it gets nothing.
    case startTLS = "starttls"
    /// TLS from the first byte on.
    case implicit
    /// No TLS: only to a server on this machine, and never with a password.
    case none
}

/// The sender's credentials at a mail server.
package struct MailLogin: Sendable, Equatable {
    let user: String
    let password: String

    package init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

/// What became of a message.
package enum MailOutcome: Sendable, Equatable, CustomStringConvertible {
    /// The server has it and answers for it.
    case accepted
    /// Not now: it may be accepted later.
    case deferred(String)
    /// Never: this message to this address will not be accepted.
    case refused(String)

    package var description: String {
        switch self {
        case .accepted: "accepted"
        case .deferred(let reason): "not taken for now: \(reason)"
        case .refused(let reason): "refused: \(reason)"
        }
    }
}

/// The client's side of SMTP (RFC 5321) for one message: bytes in, actions out.
///
/// It knows no socket. Credentials go out over TLS alone, whatever the server offers, and nothing that
/// came before TLS counts after it.
package struct SMTPSession {
    package enum Action: Sendable, Equatable {
        case send([UInt8])
        /// Begin TLS on the connection, then call `tlsDidBegin`.
        case beginTLS
        /// Close the connection; nothing else follows.
        case end(MailOutcome)
    }

    private enum Stage {
        case greeting, hello, startTLS, tls, plain, loginUser, loginPassword, sender, recipient
        case data, content, quit, over
    }

    private let name: String
    private let security: MailSecurity
    private let login: MailLogin?
    private let from: MailAddress
    private let to: MailAddress
    private let content: [UInt8]
    private var isSecure: Bool
    private var stage = Stage.greeting
    private var reader = SMTPReplyReader()

    /// - Parameters:
    ///   - name: what the client calls itself: a host's name, or an address in brackets.
    ///   - message: made to bytes at once.
    package init(
        name: String, security: MailSecurity, login: MailLogin?, message: MailMessage
    ) {
        self.name = name.filter {
            $0.isASCII && ($0.isLetter || $0.isNumber || ".-[]:".contains($0))
        }
        self.security = security
        self.login = login
        from = message.from
        to = message.to
        content = message.bytes
        isSecure = security == .implicit
    }

    /// Takes bytes that have come.
    package mutating func receive(_ bytes: [UInt8]) -> [Action] {
        var actions: [Action] = []
        reader.append(bytes)
        while stage != .over {
            // Whatever comes before TLS is there could be anybody's.
            if stage == .tls { return actions + end(.deferred("answers came before TLS")) }
            switch reader.next() {
            case .needsMore: return actions
            case .malformed: return actions + end(.deferred("what came is not SMTP"))
            case .reply(let reply): actions += take(reply)
            }
            if stage == .tls {
                return reader.hasMore
                    ? end(.deferred("answers came before TLS")) : actions
            }
        }
        return actions
    }

    /// TLS has begun, with a certificate that is believed.
    package mutating func tlsDidBegin() -> [Action] {
        guard stage == .tls else { return end(.deferred("TLS began unasked")) }
        isSecure = true
        return say("EHLO \(name)", then: .hello)
    }

    /// The connection ended, broke or was silent for too long.
    package mutating func didClose(_ reason: String) -> MailOutcome {
        defer { stage = .over }
        return stage == .quit ? .accepted : .deferred(reason)
    }

    private mutating func take(_ reply: SMTPReply) -> [Action] {
        switch stage {
        case .greeting:
            guard reply.code == 220 else { return refuse(reply) }
            return say("EHLO \(name)", then: .hello)
        case .hello:
            guard reply.code == 250 else { return refuse(reply) }
            return greeted(SMTPOffers(reply))
        case .startTLS:
            guard reply.code == 220 else { return refuse(reply) }
            stage = .tls
            return [.beginTLS]
        case .plain, .loginPassword:
            guard reply.code == 235 else { return refuse(reply, as: "the login") }
            return sendSender()
        case .loginUser:
            guard reply.code == 334, let login else { return refuse(reply, as: "the login") }
            if let user = unsentUser {
                unsentUser = nil
                return say(user, then: .loginUser)
            }
            return say(Base64.encode(Array(login.password.utf8)), then: .loginPassword)
        case .sender:
            guard reply.code == 250 else { return refuse(reply) }
            return say("RCPT TO:<\(to)>", then: .recipient)
        case .recipient:
            guard reply.isPositive else { return refuse(reply) }
            return say("DATA", then: .data)
        case .data:
            guard reply.code == 354 else { return refuse(reply) }
            stage = .content
            return [.send(Self.stuffed(content))]
        case .content:
            guard reply.isPositive else { return refuse(reply) }
            return say("QUIT", then: .quit)
        case .quit:
            stage = .over
            return [.end(.accepted)]
        case .tls, .over: return []
        }
    }

    /// What the server asks for first in LOGIN; nil once it was told.
    private var unsentUser: String?

    private mutating func greeted(_ offers: SMTPOffers) -> [Action] {
        if security == .startTLS, !isSecure {
            guard offers.hasStartTLS else { return give(up: "the server offers no STARTTLS") }
            return say("STARTTLS", then: .startTLS)
        }
        guard let login else { return sendSender() }
        guard isSecure else { return give(up: "a login needs TLS") }
        if offers.logins.contains("PLAIN") {
            let secret = [0] + Array(login.user.utf8) + [0] + Array(login.password.utf8)
            return say("AUTH PLAIN \(Base64.encode(secret))", then: .plain)
        }
        if offers.logins.contains("LOGIN") {
            unsentUser = Base64.encode(Array(login.user.utf8))
            return say("AUTH LOGIN", then: .loginUser)
        }
        return give(up: "the server offers no login of a kind that is spoken")
    }

    private mutating func sendSender() -> [Action] {
        say("MAIL FROM:<\(from)>", then: .sender)
    }

    private mutating func say(_ line: String, then next: Stage) -> [Action] {
        stage = next
        return [.send(Array("\(line)\r\n".utf8))]
    }

    /// 5xx is for good, but for the login and the greeting: the message is not what is wrong then.
    private mutating func refuse(_ reply: SMTPReply, as what: String = "it") -> [Action] {
        let isOfMessage =
            switch stage {
            case .sender, .recipient, .data, .content: true
            default: false
            }
        let reason = "\(what) was answered with \(reply.status)"
        let outcome: MailOutcome =
            isOfMessage && reply.code >= 500 ? .refused(reason) : .deferred(reason)
        return [.send(Array("QUIT\r\n".utf8))] + end(outcome)
    }

    private mutating func give(up reason: String) -> [Action] {
        [.send(Array("QUIT\r\n".utf8))] + end(.deferred(reason))
    }

    private mutating func end(_ outcome: MailOutcome) -> [Action] {
        stage = .over
        return [.end(outcome)]
    }

    /// The content as `DATA` takes it: a point before each that begins a line, and the end (§4.5.2).
    package static func stuffed(_ content: [UInt8]) -> [UInt8] {
        var stuffed: [UInt8] = []
        stuffed.reserveCapacity(content.count + 8)
        var isLineStart = true
        for byte in content {
            if isLineStart, byte == UInt8(ascii: ".") { stuffed.append(byte) }
            stuffed.append(byte)
            isLineStart = byte == 0x0A
        }
        if !stuffed.suffix(2).elementsEqual([0x0D, 0x0A]) { stuffed += [0x0D, 0x0A] }
        return stuffed + Array(".\r\n".utf8)
    }
}

/// What a server can do, by its answer to `EHLO`.
private struct SMTPOffers {
    private(set) var hasStartTLS = false
    private(set) var logins: Set<String> = []

    init(_ reply: SMTPReply) {
        for line in reply.lines.dropFirst() {
            let words = line.uppercased().split { $0 == " " || $0 == "=" }
            if words.first == "STARTTLS" { hasStartTLS = true }
            if words.first == "AUTH" { logins.formUnion(words.dropFirst().map(String.init)) }
        }
    }
}
