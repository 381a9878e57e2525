import COpenSSL
import Foundation
import HTTP
import Network
import Testing

@Suite("A server over TLS")
struct TLSTests {
    private func run(
        _ certificate: TestCertificate, _ body: (TestServer, TLSContext) throws -> Void
    ) throws {
        let context = try TLSContext(
            certificateFile: certificate.certificateFile, keyFile: certificate.keyFile)
        try TestServer.run({
            $0.endpoints = [.init(.tcp(host: "127.0.0.1", port: 0), tls: context)]
        }) { try body($0, context) }
    }

    private static let request = Array("GET /peer HTTP/1.1\r\nHost: x\r\n\r\n".utf8)

    private func answer(_ client: TLSClient, _ request: [UInt8], bodyBytes: Int) throws -> [UInt8] {
        try client.send(request)
        let whole = try client.receive { received in
            guard let end = received.firstRange(of: Array("\r\n\r\n".utf8)) else { return false }
            return received.count - end.upperBound >= bodyBytes
        }
        let end = try #require(whole.firstRange(of: Array("\r\n\r\n".utf8)))
        return Array(whole[end.upperBound...])
    }

    @Test("Serves TLS 1.2 and 1.3 with ALPN http/1.1, and refuses TLS 1.1")
    func versions() throws {
        try run(TestCertificate(name: "one")) { test, _ in
            for (version, name) in [(TLS1_2_VERSION, "TLSv1.2"), (TLS1_3_VERSION, "TLSv1.3")] {
                let client = try TLSClient(
                    test.client(), versionMax: version, protocols: ["h2", "http/1.1"])
                #expect(client.version == name)
                #expect(client.chosenProtocol == "http/1.1")
                let peer = "\(Peer(address: "127.0.0.1", isLoopback: true, isTLS: true))"
                for _ in 0..<3 {
                    let body = try answer(client, Self.request, bodyBytes: peer.utf8.count)
                    #expect(String(decoding: body, as: UTF8.self) == peer)
                }
            }
            #expect(throws: TLSClient.Failure.self) {
                _ = try TLSClient(
                    test.client(), versionMax: TLS1_1_VERSION, ciphers: "DEFAULT@SECLEVEL=0")
            }
        }
    }

    @Test("Speaks ECDHE with an AEAD cipher only")
    func ciphers() throws {
        try run(TestCertificate(name: "one")) { test, _ in
            let client = try TLSClient(test.client(), versionMax: TLS1_2_VERSION)
            #expect(client.cipher == "ECDHE-ECDSA-AES128-GCM-SHA256")
            for ciphers in [
                "ECDHE-ECDSA-AES128-SHA256", "AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA",
            ] {
                #expect(throws: TLSClient.Failure.self, "\(ciphers)") {
                    _ = try TLSClient(
                        test.client(), versionMax: TLS1_2_VERSION, ciphers: ciphers)
                }
            }
        }
    }

    @Test("A client that offers only other protocols is refused; one without ALPN is served")
    func alpn() throws {
        try run(TestCertificate(name: "one")) { test, _ in
            #expect(throws: TLSClient.Failure.self) {
                _ = try TLSClient(test.client(), protocols: ["h2", "spdy/3"])
            }
            let client = try TLSClient(test.client())
            #expect(client.chosenProtocol == nil)
            #expect(try answer(client, Self.request, bodyBytes: 1).isEmpty == false)
        }
    }

    @Test("Large bodies go both ways whole, and the end is announced")
    func largeBodies() throws {
        try run(TestCertificate(name: "one")) { test, _ in
            let client = try TLSClient(test.client())
            let body = TestResponder.bytes(3_000_000)
            let get = Array("GET /size/3000000 HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
            #expect(try answer(client, get, bodyBytes: body.count) == body)
            let post = Array(
                "POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 3000000\r\n\r\n"
                    .utf8)
            #expect(try answer(client, post + body, bodyBytes: body.count) == body)
            #expect(try client.receive() == nil)
        }
    }

    @Test("Answers from another thread reach a client whole that takes them late")
    func lateReader() throws {
        try run(TestCertificate(name: "one")) { test, _ in
            let client = try TLSClient(test.client())
            // More than the system takes for a client that reads nothing.
            let (count, bytes) = (100, 200_000)
            let get = Array("GET /later/\(bytes) HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
            try client.send((0..<count).flatMap { _ in get })
            // Until the system takes no more: it has not for many looks.
            var (sent, looks): (UInt64, Int) = (0, 0)
            try test.until {
                let now = test.server.counts().bytesOut
                looks = now == sent && now > 1_000_000 ? looks + 1 : 0
                sent = now
                return looks > 50_000
            }
            let body = TestResponder.bytes(bytes)
            var received: [UInt8] = []
            for _ in 0..<count {
                var end = received.firstRange(of: Array("\r\n\r\n".utf8))
                while end.map({ received.count - $0.upperBound < bytes }) ?? true {
                    received += try #require(try client.receive())
                    end = end ?? received.firstRange(of: Array("\r\n\r\n".utf8))
                }
                let start = try #require(end).upperBound
                #expect(Array(received[start..<start + bytes]) == body)
                received.removeFirst(start + bytes)
            }
        }
    }

    @Test("A refusal within TLS can be read")
    func refusals() throws {
        try run(TestCertificate(name: "one")) { test, _ in
            let client = try TLSClient(test.client())
            try client.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
            let answer = try #require(try client.receive())
            #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 400 "))
            #expect(try client.receive() == nil)
        }
    }

    @Test("What is no TLS ends the connection, and so does a handshake that does not come")
    func noHandshake() throws {
        try run(TestCertificate(name: "one")) { test, _ in
            let plain = try test.client()
            try plain.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            // An alert may come, an answer never.
            let received = try plain.receiveToEnd()
            #expect(!received.starts(with: Array("HTTP".utf8)))
            let silent = try test.client()
            try test.until {
                let counts = test.server.counts()
                return counts.connectionsOpened == 2 && counts.connectionsOpen == 1
            }
            test.clock.advance(seconds: 9)
            test.server.checkDeadlines()
            #expect(test.server.counts().connectionsOpen == 1)
            test.clock.advance(seconds: 1)
            test.server.checkDeadlines()
            #expect(try silent.isClosedByPeer())
        }
    }

    @Test("An idle session is kept as long as an idle connection without TLS")
    func idleSession() throws {
        try run(TestCertificate(name: "one")) { test, _ in
            let client = try TLSClient(test.client(), versionMax: TLS1_2_VERSION)
            test.clock.advance(seconds: 74)
            test.server.checkDeadlines()
            #expect(try answer(client, Self.request, bodyBytes: 1).isEmpty == false)
        }
    }

    @Test("A new certificate serves new connections and leaves the old ones alone")
    func reload() throws {
        let certificate = try TestCertificate(name: "one")
        try run(certificate) { test, context in
            let old = try TLSClient(test.client())
            #expect(old.peerName == "/CN=one")
            try certificate.issue(name: "two")
            #expect(try TLSClient(test.client()).peerName == "/CN=one")
            try context.reload()
            #expect(try TLSClient(test.client()).peerName == "/CN=two")
            #expect(try answer(old, Self.request, bodyBytes: 1).isEmpty == false)
        }
    }

    @Test("A certificate that cannot be used is refused, and the old one stays")
    func badCertificates() throws {
        let certificate = try TestCertificate(name: "one")
        let other = try TestCertificate(name: "two")
        #expect(throws: TLSError.self) {
            try TLSContext(certificateFile: "/nowhere.pem", keyFile: certificate.keyFile)
        }
        #expect(throws: TLSError.self) {
            try TLSContext(
                certificateFile: certificate.certificateFile, keyFile: other.keyFile)
        }
        try run(certificate) { test, context in
            try Data("nonsense".utf8).write(
                to: URL(fileURLWithPath: certificate.certificateFile))
            #expect(throws: TLSError.self) { try context.reload() }
            #expect(try TLSClient(test.client()).peerName == "/CN=one")
        }
    }
}
