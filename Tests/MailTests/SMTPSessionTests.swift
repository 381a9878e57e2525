import Cryptography
import Mail
import Seeding
import Testing

@Suite("The client's side of SMTP")
struct SMTPSessionTests {
    private static let login = MailLogin(user: "user", password: "pass word")

    /// A session, what it said line by line, and how it ended.
    private struct Talk {
        var session: SMTPSession
        var said: [String] = []
        var outcome: MailOutcome?
        var didAskForTLS = false

        init(_ security: MailSecurity, _ login: MailLogin? = nil) throws {
            session = SMTPSession(
                name: "client.example", security: security, login: login,
                message: try MailMessageTests.message())
        }

        mutating func hear(_ line: String) {
            take(session.receive(Array("\(line)\r\n".utf8)))
        }

        mutating func beginTLS() { take(session.tlsDidBegin()) }

        private mutating func take(_ actions: [SMTPSession.Action]) {
            for action in actions {
                switch action {
                case .send(let bytes):
                    said.append(String(decoding: bytes.prefix { $0 != 0x0D }, as: UTF8.self))
                case .beginTLS: didAskForTLS = true
                case .end(let outcome): self.outcome = outcome
                }
            }
        }
    }

    private static let offers = "250-server\r\n250-STARTTLS\r\n250 AUTH PLAIN LOGIN"

    @Test("Over STARTTLS: greeting, TLS, login, message, end")
    func startTLS() throws {
        var talk = try Talk(.startTLS, Self.login)
        talk.hear("220 server")
        talk.hear(Self.offers)
        talk.hear("220 go")
        #expect(talk.didAskForTLS)
        #expect(talk.said == ["EHLO client.example", "STARTTLS"])
        talk.beginTLS()
        talk.hear("250-server\r\n250 AUTH PLAIN LOGIN")
        #expect(talk.said.last == "AUTH PLAIN AHVzZXIAcGFzcyB3b3Jk")
        talk.hear("235 welcome")
        talk.hear("250 ok")
        talk.hear("250 ok")
        talk.hear("354 go on")
        talk.hear("250 taken")
        talk.hear("221 bye")
        #expect(
            talk.said == [
                "EHLO client.example", "STARTTLS", "EHLO client.example",
                "AUTH PLAIN AHVzZXIAcGFzcyB3b3Jk", "MAIL FROM:<server@example.com>",
                "RCPT TO:<reader@example.org>", "DATA", "Date: Tue, 14 Nov 2023 22:13:20 +0000",
                "QUIT",
            ])
        #expect(talk.outcome == .accepted)
    }

    @Test("Where only LOGIN is offered, user and password go one after the other")
    func loginInTwo() throws {
        var talk = try Talk(.implicit, Self.login)
        talk.hear("220 server")
        talk.hear("250-server\r\n250 AUTH=LOGIN CRAM-MD5")
        talk.hear("334 VXNlcm5hbWU6")
        talk.hear("334 UGFzc3dvcmQ6")
        #expect(
            talk.said.dropFirst() == [
                "AUTH LOGIN", Base64.encode(Array("user".utf8)),
                Base64.encode(Array("pass word".utf8)),
            ])
        talk.hear("535 5.7.8 wrong")
        #expect(talk.outcome == .deferred("the login was answered with 535 5.7.8"))
        #expect(talk.said.last == "QUIT")
    }

    @Test("No login goes out without TLS, whatever the server offers")
    func noLoginInTheClear() throws {
        var plain = try Talk(.none, Self.login)
        plain.hear("220 server")
        plain.hear(Self.offers)
        #expect(plain.outcome == .deferred("a login needs TLS"))
        #expect(plain.said == ["EHLO client.example", "QUIT"])
        var stripped = try Talk(.startTLS, Self.login)
        stripped.hear("220 server")
        stripped.hear("250-server\r\n250 AUTH PLAIN LOGIN")
        #expect(stripped.outcome == .deferred("the server offers no STARTTLS"))
        var refused = try Talk(.startTLS, Self.login)
        refused.hear("220 server")
        refused.hear(Self.offers)
        refused.hear("454 not now")
        #expect(refused.outcome == .deferred("it was answered with 454"))
        for talk in [plain, stripped, refused] {
            #expect(!talk.said.contains { $0.hasPrefix("AUTH") || $0.hasPrefix("MAIL") })
        }
    }

    @Test("What came in the clear behind the answer to STARTTLS counts for nothing")
    func injection() throws {
        var talk = try Talk(.startTLS, Self.login)
        talk.hear("220 server")
        talk.hear(Self.offers)
        talk.hear("220 go\r\n250-server\r\n250 AUTH PLAIN")
        #expect(talk.outcome == .deferred("answers came before TLS"))
        #expect(!talk.didAskForTLS)
        var late = try Talk(.startTLS, Self.login)
        late.hear("220 server")
        late.hear(Self.offers)
        late.hear("220 go")
        late.hear("250 AUTH PLAIN")
        #expect(late.outcome == .deferred("answers came before TLS"))
    }

    @Test(
        "What is refused for good is told from what may be taken later",
        arguments: [
            (
                "550 5.1.1 no reader@example.org here",
                MailOutcome.refused("it was answered with 550 5.1.1")
            ),
            ("450 4.2.1 busy", .deferred("it was answered with 450 4.2.1")),
            ("999 odd", .deferred("what came is not SMTP")),
            ("250-unfinished\r\n251 other", .deferred("what came is not SMTP")),
        ])
    func refusals(answer: String, outcome: MailOutcome) throws {
        var talk = try Talk(.none)
        talk.hear("220 server")
        talk.hear("250 server")
        talk.hear("250 ok")
        talk.hear(answer)
        #expect(talk.outcome == outcome)
    }

    @Test("Once the message was taken, it is taken, however the connection ends")
    func lostGoodbye() throws {
        var talk = try Talk(.none)
        for line in ["220 server", "250 server", "250 ok", "250 ok", "354 go on"] {
            talk.hear(line)
        }
        var unsure = talk
        #expect(unsure.session.didClose("broken") == .deferred("broken"))
        talk.hear("250 taken")
        #expect(talk.session.didClose("broken") == .accepted)
    }

    @Test("Answers may come in pieces of any size")
    func pieces() throws {
        let script = [
            "220 server", "250-server\r\n250 SIZE", "250 ok", "250 ok", "354 go on", "250 taken",
            "221 bye",
        ]
        var talk = try Talk(.none)
        for line in script {
            for byte in Array("\(line)\r\n".utf8) {
                for action in talk.session.receive([byte]) {
                    if case .end(let outcome) = action { talk.outcome = outcome }
                }
            }
        }
        #expect(talk.outcome == .accepted)
    }

    @Test("Whatever a server sends, no password goes out before TLS and the session ends in order")
    func random() throws {
        var random = SeededRandom("SMTP answers")
        let pieces = [
            "220 ", "250 ", "250-", "354 ", "334 ", "235 ", "421 ", "550 ", "\r\n", "\n", "\r",
            "STARTTLS", "AUTH PLAIN LOGIN", "x", "\u{0}", "ü", String(repeating: "y", count: 900),
        ]
        for _ in 0..<20_000 {
            let security = random.one(of: MailSecurity.allCases)
            var talk = try Talk(security, random.happens(70) ? Self.login : nil)
            for _ in 0..<random.below(12) {
                let text = (0..<random.below(6)).map { _ in random.one(of: pieces) }.joined()
                talk.hear(text)
                if talk.outcome != nil { break }
                if talk.didAskForTLS { break }
            }
            if security != .implicit {
                #expect(!talk.said.contains { $0.hasPrefix("AUTH") })
            }
            #expect(talk.outcome != .accepted || talk.said.contains("QUIT"))
        }
    }
}
