import ChildProcesses
import Foundation
import Mail
import Network
import Testing

/// Mail handed to aiosmtpd, a server of another's making.
@Suite("Mail over real connections")
struct MailServerTests {
    /// aiosmtpd in a process of its own, with a certificate for `localhost`; prints what it takes.
    private final class Receiver {
        private(set) var port: UInt16 = 0
        let certificate: String
        private let folder: String
        private let process = ChildProcess()
        private let output = Pipe()
        private var lines: [String] = []
        private var waiting = ""

        /// Nil where there is no Python that has aiosmtpd.
        init?(_ security: MailSecurity) throws {
            guard let python = ProcessInfo.processInfo.environment["LENTICULAR_PYTHON"] else {
                print("skipped: LENTICULAR_PYTHON names no Python with aiosmtpd")
                return nil
            }
            folder = NSTemporaryDirectory() + "mail-\(UUID().uuidString)"
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false)
            certificate = "\(folder)/certificate.pem"
            process.executableURL = URL(filePath: python)
            process.arguments = ["-c", Self.script, folder, security.rawValue]
            process.standardOutput = output
            // Longer than all of these tests take; a line that never comes is waited for no longer.
            process.secondsMax = 300
            try process.run()
            guard let first = nextLine(), let number = UInt16(first) else {
                throw CocoaError(.fileReadUnknown)
            }
            port = number
        }

        deinit {
            process.signal(SIGKILL)
            process.waitUntilExit()
            try? FileManager.default.removeItem(atPath: folder)
        }

        /// The next line that it prints.
        func nextLine() -> String? {
            while true {
                if let end = waiting.firstIndex(of: "\n") {
                    let line = String(waiting[..<end])
                    waiting = String(waiting[waiting.index(after: end)...])
                    return line
                }
                // FileHandle ends the process where another test's signal interrupts its reading.
                var piece = [UInt8](repeating: 0, count: 65_536)
                let count = read(
                    output.fileHandleForReading.fileDescriptor, &piece, piece.count)
                if count < 0, errno == EINTR { continue }
                if count <= 0 { return nil }
                waiting += String(decoding: piece[..<count], as: UTF8.self)
            }
        }

        private static let script = """
            import asyncio, email, email.policy, json, ssl, subprocess, sys
            from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword
            folder, security = sys.argv[1:]
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1", "-subj", "/CN=localhost",
                "-addext", "subjectAltName=DNS:localhost", "-keyout", folder + "/key.pem",
                "-out", folder + "/certificate.pem"], check=True, stderr=subprocess.DEVNULL)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(folder + "/certificate.pem", folder + "/key.pem")
            class Handler:
                async def handle_RCPT(self, server, session, envelope, address, options):
                    if address.startswith("nobody@"): return "550 5.1.1 no such user"
                    if address.startswith("later@"): return "450 4.2.1 come back"
                    envelope.rcpt_tos.append(address)
                    return "250 OK"
                async def handle_DATA(self, server, session, envelope):
                    message = email.message_from_bytes(
                        envelope.original_content, policy=email.policy.default)
                    print(json.dumps({
                        "from": envelope.mail_from, "to": envelope.rcpt_tos,
                        "secure": session.ssl is not None or security == "implicit",
                        "login": session.auth_data.login.decode() if session.auth_data else None,
                        "subject": message["Subject"], "sender": message["From"],
                        "defects": len(message.defects),
                        "text": message.get_content()}, sort_keys=True), flush=True)
                    return "250 OK"
            def authenticate(server, session, envelope, mechanism, data):
                isRight = isinstance(data, LoginPassword) and data.password == b"pass word"
                return AuthResult(success=isRight, handled=isRight, auth_data=data)
            def make():
                return SMTP(Handler(), enable_SMTPUTF8=False, authenticator=authenticate,
                    tls_context=context if security == "starttls" else None,
                    auth_required=security != "none", require_starttls=security == "starttls",
                    auth_require_tls=security == "starttls")
            async def main():
                loop = asyncio.get_running_loop()
                server = await loop.create_server(make, "localhost", 0, family=2,
                    ssl=context if security == "implicit" else None)
                print(server.sockets[0].getsockname()[1], flush=True)
                await asyncio.Event().wait()
            asyncio.run(main())
            """
    }

    private func send(
        _ receiver: Receiver, _ security: MailSecurity, password: String? = "pass word",
        to address: String = "reader@example.org", host: String = "localhost",
        trusts: Bool = true, text: String = ".\n..\nHallo Grüße\n.\n\nEnde"
    ) throws -> MailOutcome {
        let trust = try TLSTrust(
            authoritiesFile: trusts ? receiver.certificate : "", spoken: .unnamed)
        let server = MailServer(
            host: host, port: receiver.port, security: security,
            login: password.map { MailLogin(user: "user", password: $0) }, name: "localhost",
            trust: trust, millisecondsMax: 60_000)
        return server.send(
            MailMessage(
                from: try #require(MailAddress("server@example.com")), fromName: "Ein Wörterbuch",
                to: try #require(MailAddress(address)),
                subject: "Grüße, länger als eine Zeile sein darf, damit zwei Wörter daraus werden",
                text: text, identifier: "1", seconds: 1_700_000_000))
    }

    private func expectTaken(_ receiver: Receiver, login: String?) throws {
        let line = try #require(receiver.nextLine())
        let taken = try #require(
            JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(taken["from"] as? String == "server@example.com")
        #expect(taken["to"] as? [String] == ["reader@example.org"])
        #expect(
            taken["subject"] as? String
                == "Grüße, länger als eine Zeile sein darf, damit zwei Wörter daraus werden")
        #expect(taken["sender"] as? String == "Ein Wörterbuch <server@example.com>")
        let text = (taken["text"] as? String)?.replacing("\r\n", with: "\n")
        #expect(text == ".\n..\nHallo Grüße\n.\n\nEnde")
        #expect(taken["defects"] as? Int == 0)
        #expect(taken["login"] as? String == login)
    }

    @Test("Over STARTTLS and over TLS from the start, with a login, the message arrives as it was")
    func secure() throws {
        for security in [MailSecurity.startTLS, .implicit] {
            guard let receiver = try Receiver(security) else { return }
            try #require(try send(receiver, security) == .accepted)
            try expectTaken(receiver, login: "user")
        }
    }

    @Test("Without TLS and without a login it arrives where that is allowed")
    func plain() throws {
        guard let receiver = try Receiver(.none) else { return }
        try #require(try send(receiver, .none, password: nil) == .accepted)
        try expectTaken(receiver, login: nil)
    }

    @Test("A wrong password, a certificate that is not believed, and another host's are told")
    func refused() throws {
        guard let receiver = try Receiver(.startTLS) else { return }
        #expect(
            try send(receiver, .startTLS, password: "wrong")
                == .deferred("the login was answered with 535 5.7.8"))
        for (host, trusts) in [("localhost", false), ("127.0.0.1", true)] {
            guard
                case .deferred(let reason) = try send(
                    receiver, .startTLS, host: host, trusts: trusts)
            else {
                Issue.record("a server has been believed")
                continue
            }
            #expect(reason.hasPrefix("the certificate: "), "\(reason)")
        }
    }

    @Test("An address that does not exist is refused, one that is busy comes later")
    func addresses() throws {
        guard let receiver = try Receiver(.startTLS) else { return }
        #expect(
            try send(receiver, .startTLS, to: "nobody@example.org")
                == .refused("it was answered with 550 5.1.1"))
        #expect(
            try send(receiver, .startTLS, to: "later@example.org")
                == .deferred("it was answered with 450 4.2.1"))
    }

    @Test("A server that does not speak TLS when it has to, or is not there, is told")
    func absent() throws {
        guard let receiver = try Receiver(.none) else { return }
        #expect(
            try send(receiver, .startTLS) == .deferred("the server offers no STARTTLS"))
        guard case .deferred = try send(receiver, .implicit) else {
            Issue.record("plain text was taken for TLS")
            return
        }
    }
}
