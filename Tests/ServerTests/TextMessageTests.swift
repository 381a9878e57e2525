import Accounts
import CloudModel
import Configuration
import Cryptography
import Delivery
import Foundation
import HTTPClient
import Storage
import Testing

@testable import Server

@Suite("Text messages to phones")
struct TextMessageTests {
    private let folder: TemporaryFolder
    private let key = [UInt8](repeating: 7, count: 32)

    init() throws {
        folder = try TemporaryFolder()
        try "whsec_\(Base64.encode(key))\n".write(
            toFile: folder.path("key"), atomically: true, encoding: .utf8)
    }

    private func settings(
        to url: String, allowing networks: [String] = ["127.0.0.1"], keyFile: String? = nil
    ) throws -> ServerConfiguration {
        try ServerConfiguration.load(
            file: nil,
            environment: [
                "LENTICULAR_TEXT_MESSAGES_SENDER": "webhook",
                "LENTICULAR_TEXT_MESSAGES_URL": url,
                "LENTICULAR_TEXT_MESSAGES_KEY_FILE": keyFile ?? folder.path("key"),
                "LENTICULAR_OUTGOING_ALLOWED_NETWORKS": networks.joined(separator: ","),
            ], flags: [])
    }

    private func send(_ configuration: ServerConfiguration) throws {
        let sender = try TextMessageSender(
            configuration, clock: Clock { 1_700_000_000_000 }, random: .system)
        defer { sender.stop() }
        #expect(sender.reaches(.phone) && !sender.reaches(.email))
        try sender.send(
            LetterText(subject: "Your code", body: "1234 5678 is \"your\" code."),
            to: AddressFormat.phone("+49 171 234-5678"))
    }

    @Test("A message is posted with number and text, signed as webhooks are")
    func posted() throws {
        let receiver = try PostReceiver(answering: "204 No Content")
        try send(settings(to: "http://127.0.0.1:\(receiver.port)/texts?to=us"))
        let request = try receiver.next()
        #expect(request.head.hasPrefix("POST /texts?to=us HTTP/1.1\r\n"))
        let object = try JSONSerialization.jsonObject(with: request.body) as? [String: String]
        #expect(object == ["to": "+491712345678", "text": "1234 5678 is \"your\" code."])
        func header(_ name: String) -> String? {
            request.head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("\(name): ") }
                .map { String($0.dropFirst(name.count + 2)) }
        }
        let identifier = try #require(header("webhook-id"))
        let expected = try #require(
            WebhookSignature.headers(
                identifier: identifier, seconds: 1_700_000_000,
                body: Array(request.body), keys: [key]))
        #expect(expected.allSatisfy { header($0.name) == $0.value })
    }

    @Test(
        "What is not taken stays: refusals, redirects, and targets that the server may not send to",
        arguments: [
            "500 Internal Server Error", "302 Found\r\nLocation: http://127.0.0.1:1/",
            "404 Not Found",
        ])
    func refused(_ status: String) throws {
        let receiver = try PostReceiver(answering: status)
        let url = "http://127.0.0.1:\(receiver.port)/"
        #expect(throws: TextMessageSender.Failure.self) { try send(settings(to: url)) }
        _ = try receiver.next()
        #expect(throws: TextMessageSender.Failure.self) {
            try send(settings(to: url, allowing: ["10.0.0.0/8"]))
        }
        #expect(throws: (any Error).self) { try receiver.next(withinSeconds: 0) }
    }

    @Test("A message on its way ends with the server, and none begins after that")
    func stopped() throws {
        let silent = try SilentReceiver()
        let sender = try TextMessageSender(
            settings(to: "http://127.0.0.1:\(silent.port)/"), clock: Clock { 0 },
            random: .system)
        let number = try AddressFormat.phone("+491712345678")
        let ended = DispatchSemaphore(value: 0)
        Foundation.Thread.detachNewThread {
            #expect(throws: TextMessageSender.Failure.notTaken("\(ClientFailure.overloaded)")) {
                try sender.send(LetterText(subject: "s", body: "b"), to: number)
            }
            ended.signal()
        }
        try silent.waitForSomebody()
        sender.stop()
        #expect(ended.wait(timeout: .now() + 60) == .success)
        #expect(throws: TextMessageSender.Failure.notTaken("the server stops")) {
            try sender.send(LetterText(subject: "s", body: "b"), to: number)
        }
    }

    @Test("Settings that do not go together stop the start, each by its name")
    func together() throws {
        func problem(_ configuration: ServerConfiguration) -> String {
            do {
                try TextMessageSender(
                    configuration, clock: Clock { 0 }, random: .system
                ).stop()
                return ""
            } catch {
                return "\(error)"
            }
        }
        #expect(problem(try settings(to: "")).hasPrefix("textMessages.url"))
        #expect(problem(try settings(to: "https://x y/")).hasPrefix("textMessages.url"))
        let url = "https://texts.example/"
        #expect(problem(try settings(to: url)).isEmpty)
        #expect(
            problem(try settings(to: url, keyFile: folder.path("none"))).hasPrefix(
                "textMessages.keyFile"))
        for text in ["", "secret", "whsec_!", "whsec_\(Base64.encode([1, 2, 3]))"] {
            try text.write(toFile: folder.path("bad"), atomically: true, encoding: .utf8)
            #expect(
                problem(try settings(to: url, keyFile: folder.path("bad"))).hasPrefix(
                    "textMessages.keyFile"), "\(text)")
        }
    }

    @Test("A running server sends an invitation to a phone, and nothing of it is in the log")
    func invited() throws {
        let receiver = try PostReceiver(answering: "200 OK")
        let server = try ServerProcess(
            data: folder.path("data"),
            environment: [
                "LENTICULAR_TEXT_MESSAGES_SENDER": "webhook",
                "LENTICULAR_TEXT_MESSAGES_URL": "http://127.0.0.1:\(receiver.port)/",
                "LENTICULAR_OUTGOING_ALLOWED_NETWORKS": "127.0.0.1",
            ])
        let invited = try server.command("user", "invite", "+49 171 2345678")
        #expect(invited.status == 0 && invited.output.contains("text message"))
        #expect(try server.command("user", "invite", "0171 2345678").error.contains("country"))
        let request = try receiver.next()
        #expect(!request.head.lowercased().contains("webhook-signature"))
        let object = try JSONSerialization.jsonObject(with: request.body) as? [String: String]
        let text = try #require(object?["text"])
        let link = try #require(text.firstMatch(of: #/http://\S+(/sign-in/welcome/\S+)/#)).output
        #expect(try server.request(String(link.1), []).status == 200)
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
        let log = server.log().joined()
        #expect(!log.contains("1712345678") && !log.contains(String(link.1)))
    }
}

/// Takes connections on a port of its own and never says anything.
final class SilentReceiver {
    let port: UInt16
    private let listener: Int32
    private var connection: Int32 = -1

    init() throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var timeout = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(
            listener, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 4) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound else { throw CocoaError(.fileReadUnknown) }
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit {
        if connection >= 0 { close(connection) }
        close(listener)
    }

    /// Waits for a connection, and for what is sent first on it.
    ///
    /// - Throws: when nobody comes in a minute.
    func waitForSomebody() throws {
        connection = accept(listener, nil, nil)
        guard connection >= 0 else { throw CocoaError(.fileReadUnknown) }
        var timeout = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(
            connection, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var byte: UInt8 = 0
        guard read(connection, &byte, 1) == 1 else { throw CocoaError(.fileReadUnknown) }
    }
}
