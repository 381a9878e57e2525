import Foundation
import HTTP
import Network
import Testing

@Suite("The limits of the wire")
struct LimitTests {
    static let start = "GET / HTTP/1.1\r\nHost: x\r\n"

    private func status(
        _ request: String, _ change: (inout WireLimits) -> Void = { _ in }
    )
        -> String?
    {
        var limits = WireLimits()
        change(&limits)
        let bytes = Array(request.utf8)
        let whole = ParserHarness(limits: limits).events(bytes)
        // In small pieces the answer is the same.
        let cuts = Array(stride(from: 0, to: bytes.count, by: 7))
        #expect(ParserHarness(limits: limits).events(bytes, cutAt: cuts) == whole)
        return whole.first.map { String($0.prefix(5)) }
    }

    @Test("The defaults are the documented ones")
    func defaults() {
        let limits = WireLimits()
        #expect(limits.headerBytesMax == 16_384)
        #expect(limits.headerCountMax == 100)
        #expect(limits.targetBytesMax == 8_192)
        #expect(limits.bodyBytesMax == 16_777_216)
        #expect(limits.connectionCountMax == 20_000)
        #expect(limits.headerSecondsMax == 10)
        #expect(limits.bodySecondsMax == 30)
        #expect(limits.idleSecondsMax == 75)
        #expect(limits.gzipBodyBytesMin == 1024)
    }

    @Test("A head of just the limit passes, one byte more is 431")
    func headerBytes() {
        func head(_ count: Int) -> String {
            let beside = Self.start.utf8.count + 8
            return Self.start + "A: " + String(repeating: "a", count: count - beside + 1)
                + "\r\n\r\n"
        }
        #expect(head(16_384).utf8.count == 16_384)
        #expect(status(head(16_384)) == "get /")
        #expect(status(head(16_385)) == "431 T")
        #expect(status(head(1_001)) { $0.headerBytesMax = 1_000 } == "431 T")
        #expect(status(String(repeating: "a", count: 101)) { $0.headerBytesMax = 100 } == "431 T")
    }

    @Test("A hundred fields pass, one more is 431")
    func headerCount() {
        func head(_ count: Int) -> String {
            Self.start + (1..<count).map { "A\($0): b\r\n" }.joined() + "\r\n"
        }
        #expect(status(head(100)) == "get /")
        #expect(status(head(101)) == "431 T")
        #expect(status(head(3)) { $0.headerCountMax = 2 } == "431 T")
    }

    @Test("A target of just the limit passes, one byte more is 414, also without an end")
    func targetBytes() {
        func head(_ count: Int) -> String {
            "GET /" + String(repeating: "a", count: count - 1) + " HTTP/1.1\r\nHost: x\r\n\r\n"
        }
        #expect(status(head(8_192)) == "get /")
        #expect(status(head(8_193)) == "414 T")
        #expect(status(head(100_000)) == "414 T")
        #expect(status("GET /" + String(repeating: "a", count: 10_000)) == "414 T")
        #expect(status(head(51)) { $0.targetBytesMax = 50 } == "414 T")
    }

    @Test("A body of just the limit passes, one byte more is 413 before any of it is read")
    func bodyBytes() {
        let post = "POST / HTTP/1.1\r\nHost: x\r\n"
        let small: (inout WireLimits) -> Void = { $0.bodyBytesMax = 10 }
        #expect(status(post + "Content-Length: 10\r\n\r\n0123456789", small) == "post ")
        #expect(status(post + "Content-Length: 11\r\n\r\n", small) == "413 T")
        let chunked = post + "Transfer-Encoding: chunked\r\n\r\n"
        #expect(status(chunked + "5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n", small) == "post ")
        #expect(status(chunked + "5\r\n01234\r\n6\r\n", small) == "413 T")
    }

    @Test("Extensions and trailers of a chunked body are held to the limits of a head")
    func chunkOverhead() {
        let chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        let long = String(repeating: "e", count: 5_000)
        let three = (0..<3).map { _ in "1;\(long)\r\nx\r\n" }.joined()
        #expect(status(chunked + three + "0\r\n\r\n") == "post ")
        #expect(status(chunked + three + "1;\(long)") == "431 T")
        #expect(status(chunked + "0\r\n" + String(repeating: "a: b\r\n", count: 101)) == "431 T")
        #expect(status(chunked + "0\r\nA: " + String(repeating: "b", count: 20_000)) == "431 T")
    }

    @Test("Over a socket a 413 can be read although the body is still being sent")
    func refusesALargeBody() throws {
        try TestServer.run({ $0.limits.bodyBytesMax = 1000 }) { test in
            let client = try test.client()
            try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
            try client.send([UInt8](repeating: 0x61, count: 500_000))
            let answer = try client.answer()
            #expect(answer.status == 413)
            #expect(answer.text.contains(#""serverErrorCode":"BAD_REQUEST""#))
            #expect(try client.isClosedByPeer())
        }
    }

    @Test("A client that expects 100-continue learns of a body too large before it sends it")
    func refusesBeforeTheBody() throws {
        try TestServer.run({ $0.limits.bodyBytesMax = 1000 }) { test in
            let client = try test.client()
            try client.send(
                "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1001\r\n\r\n"
            )
            #expect(try client.answer().status == 413)
        }
    }

    @Test("One connection too many is told 503, and there is room again when another ends")
    func connectionCount() throws {
        try TestServer.run({ $0.limits.connectionCountMax = 3 }) { test in
            var clients = try (0..<3).map { _ in try test.client() }
            try test.until { test.server.counts().connectionsOpen == 3 }
            let refused = try test.client()
            let answer = try refused.answer()
            #expect(answer.status == 503)
            #expect(answer.text.contains(#""serverErrorCode":"TRY_AGAIN_LATER""#))
            #expect(try refused.isClosedByPeer())
            refused.endSending()
            clients.removeLast()
            try test.until { test.server.counts().connectionsOpen == 2 }
            let next = try test.client()
            try next.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try next.answer().status == 200)
            withExtendedLifetime(clients) {}
        }
    }
}
