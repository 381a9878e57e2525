import HTTPClient
import Network
import Synchronization
import Testing

@Suite("The client against servers that behave, and that do not")
struct ClientTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private func client(_ server: ScriptedServer, silence: Int = 120_000) -> BlockingHTTPClient {
        var options = BlockingHTTPClient.Options()
        options.silenceMillisecondsMax = silence
        return BlockingHTTPClient(server.origin, trust: nil, options: options)
    }

    private func get(_ client: BlockingHTTPClient, _ target: String = "/") throws -> String {
        let response = try client.send(ClientRequest(method: "GET", target: target))
        return String(decoding: try response.readAll(bytesMax: 1_000), as: UTF8.self)
    }

    @Test("Requests follow each other on one connection, until the server closes it")
    func reuse() throws {
        let server = try ScriptedServer([
            [.readHead, .send(Self.ok), .readHead, .send(Self.ok)],
            [.readHead, .send(Self.ok)],
        ])
        let client = client(server)
        #expect(try get(client, "/1") == "ok")
        #expect(try get(client, "/2") == "ok")
        // Told apart from a slow answer by waiting for the second connection, not for time.
        while true {
            do {
                #expect(try get(client, "/3") == "ok")
                break
            } catch ClientFailure.broken {
                // The close was on its way when the request was sent.
            }
        }
        #expect(server.finish() == 2)
        #expect(server.requests.first?.hasPrefix("GET /1 HTTP/1.1\r\nHost: 127.0.0.1:") == true)
    }

    @Test("An idle connection is not used again after its time, by the clock handed in")
    func idle() throws {
        let server = try ScriptedServer([
            [.readHead, .send(Self.ok), .readUntilEnd], [.readHead, .send(Self.ok)],
        ])
        var options = BlockingHTTPClient.Options()
        let time = Moment()
        options.clock = MonotonicClock { time.now }
        let client = BlockingHTTPClient(server.origin, trust: nil, options: options)
        #expect(try get(client) == "ok")
        time.advance(UInt64(options.idleMillisecondsMax) + 1)
        #expect(try get(client) == "ok")
        #expect(server.finish() == 2)
    }

    private final class Moment: Sendable {
        private let value = Atomic<UInt64>(1)
        var now: UInt64 { value.load(ordering: .relaxed) }
        func advance(_ count: UInt64) { value.wrappingAdd(count, ordering: .relaxed) }
    }

    @Test("Bodies of any size go out and come in by pieces")
    func bodies() throws {
        let sent = (0..<1_000_003).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let server = try ScriptedServer([
            [
                .readHead, .readBytes(sent.count),
                .send("HTTP/1.1 200 OK\r\nContent-Length: \(sent.count)\r\n\r\n"), .send(sent),
            ]
        ])
        let body = ClientBody(byteCount: sent.count) { offset, count in
            Array(sent[offset..<offset + min(count, 10_007)])
        }
        let response = try client(server).send(
            ClientRequest(method: "PUT", target: "/", body: body))
        #expect(response.contentLength == sent.count)
        var received: [UInt8] = []
        while true {
            let piece = try response.read(upTo: 7_001)
            if piece.isEmpty { break }
            #expect(piece.count <= 7_001)
            received += piece
        }
        #expect(received == sent)
        #expect(server.requests[0].contains("\r\nContent-Length: \(sent.count)\r\n"))
    }

    @Test("A refusal that comes while the body is sent is the answer")
    func early() throws {
        let server = try ScriptedServer([
            [
                .readHead,
                .send("HTTP/1.1 403 No\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"),
                .readUntilEnd,
            ]
        ])
        // Longer than what buffers take, so that sending it to the end is no way out.
        let body = ClientBody(byteCount: 1 << 40) { _, count in [UInt8](repeating: 1, count: count)
        }
        let response = try client(server).send(
            ClientRequest(method: "PUT", target: "/", body: body))
        #expect(response.status == 403)
        #expect(try response.readAll(bytesMax: 10) == Array("no".utf8))
        #expect(server.finish() == 1)
    }

    @Test("A server that is not there, goes in the middle or says nothing is a failure of its kind")
    func failures() throws {
        let gone = try ScriptedServer([])
        let port = gone.port
        _ = gone.finish()
        let broken = try ScriptedServer([
            [.readHead], [.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")],
            [.readHead, .send("nonsense\r\n\r\n")], [.readHead, .readUntilEnd],
        ])
        let patient = client(broken)
        #expect(throws: ClientFailure.broken("ended without an answer")) { try get(patient) }
        #expect(throws: ClientFailure.broken("ended within the answer's body")) { try get(patient) }
        #expect(throws: ClientFailure.malformed("no status line of HTTP/1.1")) { try get(patient) }
        // Only the last says nothing: a short time would cut off the others where the machine is busy.
        let hasty = client(broken, silence: 50)
        #expect(throws: ClientFailure.timedOut) { try get(hasty) }
        #expect(broken.finish() == 4)
        let nobody = BlockingHTTPClient(
            HTTPOrigin(isSecure: false, host: "no-such-host.invalid", port: port), trust: nil)
        do {
            _ = try get(nobody)
            Issue.record("a host that is none has answered")
        } catch ClientFailure.unreachable {}
    }

    @Test("A body over the limit, one that cannot be read, and a head with a line end are refused")
    func limits() throws {
        let server = try ScriptedServer([
            [.readHead, .send(Self.ok)], [.readUntilEnd], [.readUntilEnd],
        ])
        let client = client(server)
        let response = try client.send(ClientRequest(method: "GET", target: "/"))
        #expect(throws: ClientFailure.malformed("the body is over 1 bytes")) {
            try response.readAll(bytesMax: 1)
        }
        for header in [("a\r\nb", "c"), ("a", "b\r\nc"), ("a", "b\nc"), ("", "b")] {
            #expect(throws: ClientFailure.malformed("the request has a control character")) {
                try client.send(ClientRequest(method: "GET", target: "/", headers: [header]))
            }
        }
        #expect(throws: ClientFailure.malformed("the request has a control character")) {
            try client.send(ClientRequest(method: "GET", target: "/ HTTP/1.1\r\n"))
        }
        struct Unreadable: Error {}
        #expect(throws: ClientFailure.unreadableBody("Unreadable()")) {
            try client.send(
                ClientRequest(
                    method: "PUT", target: "/",
                    body: ClientBody(byteCount: 9) { _, _ in throw Unreadable() }))
        }
        #expect(
            throws: ClientFailure.unreadableBody("it is shorter than it was said to be")
        ) {
            try client.send(
                ClientRequest(
                    method: "PUT", target: "/", body: ClientBody(byteCount: 9) { _, _ in [] }))
        }
        #expect(server.finish() == 3)
    }

    @Test("An origin is a scheme, a host and perhaps a port, and nothing else")
    func origins() {
        #expect(HTTPOrigin("https://s3.example.com")?.authority == "s3.example.com")
        #expect(HTTPOrigin("http://localhost:9000")?.authority == "localhost:9000")
        #expect(HTTPOrigin("http://[::1]:80")?.text == "http://[::1]")
        #expect(HTTPOrigin("https://a.b")?.adding(label: "x").text == "https://x.a.b")
        for text in ["ftp://a", "https://", "http://a/b", "http://a:b", "http://a b", "http://u@a"]
        {
            #expect(HTTPOrigin(text) == nil, "\(text)")
        }
    }
}
