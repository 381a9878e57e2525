import Foundation
import HTTP
import Network
import Seeding
import Synchronization
import Testing

/// Counts what it sees of a body.
final class SeenBody: BodyWitness {
    private let state = Mutex((count: 0, sum: UInt64(0)))

    var text: String { state.withLock { "saw \($0.count) \($0.sum)" } }

    func see(_ bytes: UnsafeRawBufferPointer) {
        state.withLock { state in
            for byte in bytes { state.sum = state.sum &* 31 &+ UInt64(byte) }
            state.count += bytes.count
        }
    }

    static func text(of bytes: [UInt8]) -> String {
        let seen = SeenBody()
        bytes.withUnsafeBytes { seen.see($0) }
        return seen.text
    }
}

@Suite("What becomes of a body is decided at the head")
struct BodyDecisionTests {
    private static func head(_ target: String, _ fields: String) -> String {
        "POST \(target) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"
    }

    @Test("A refused body of up to 64 KiB is thrown away, and the connection lives on")
    func drained() throws {
        try TestServer.run { test in
            let client = try test.client()
            for count in [1, 1_000, 65_536] {
                try client.send(Self.head("/no", "Content-Length: \(count)\r\n"))
                let answer = try client.answer()
                #expect(answer.status == 401 && answer["connection"] == nil)
                try client.send([UInt8](repeating: 7, count: count))
            }
            try client.send(Self.head("/no", "Transfer-Encoding: chunked\r\n"))
            #expect(try client.answer().status == 401)
            try client.send("3\r\nabc\r\n0\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.answer().text.hasPrefix("get /x"))
        }
    }

    @Test("With more to come the connection ends with the answer, before the body")
    func closed() throws {
        try TestServer.run { test in
            let long = try test.client()
            try long.send(Self.head("/no", "Content-Length: 65537\r\n"))
            let answer = try long.answer()
            #expect(answer.status == 401 && answer["connection"] == "close")
            #expect(try long.isClosedByPeer())
            let chunked = try test.client()
            try chunked.send(Self.head("/no", "Transfer-Encoding: chunked\r\n"))
            #expect(try chunked.answer().status == 401)
            try chunked.send("20000\r\n")
            try chunked.send([UInt8](repeating: 7, count: 65_540))
            #expect(try chunked.isClosedByPeer())
            #expect(test.server.bodies.bytesUsed == 0)
        }
    }

    @Test("Whoever waits for a 100 gets the refusal instead, and the end of the connection")
    func expecting() throws {
        try TestServer.run { test in
            let client = try test.client()
            try client.send(
                Self.head("/no", "Content-Length: 5\r\nExpect: 100-continue\r\n"))
            let answer = try client.answer()
            #expect(answer.status == 401 && answer["connection"] == "close")
            #expect(try client.isClosedByPeer())
            let other = try test.client()
            try other.send(
                Self.head("/echo", "Content-Length: 5\r\nExpect: 100-continue\r\n"))
            #expect(try other.answer().status == 100)
            try other.send("abcde")
            #expect(try other.answer().text == "abcde")
        }
    }

    @Test("A body that only has to be seen is seen whole, with gzip undone, and not kept")
    func seen() throws {
        try TestServer.run { test in
            let client = try test.client()
            let body = TestResponder.bytes(3_000_000)
            for (bytes, encoding) in [
                (body, ""), (Gzip.compress(body), "Content-Encoding: gzip\r\n"),
            ] {
                try client.send(
                    Self.head("/seen", "Content-Length: \(bytes.count)\r\n\(encoding)"))
                try client.send(bytes)
                #expect(try client.answer().text == SeenBody.text(of: body))
            }
            try test.until { test.server.bodies.bytesUsed == 0 }
        }
    }

    @Test("Over the budget a body is answered 503 with when to come again")
    func overBudget() throws {
        try TestServer.run({
            $0.limits.bodyMemoryBytesMax = 1 << 20
            $0.limits.bodyBytesMax = 1 << 20
            $0.limits.inflatedBodyBytesMax = 1 << 20
        }) { test in
            let first = try test.client()
            try first.send(Self.head("/echo", "Content-Length: 900000\r\n"))
            try first.send([UInt8](repeating: 1, count: 800_000))
            try test.until { test.server.bodies.bytesUsed > 700_000 }
            let second = try test.client()
            let zeros = Gzip.compress([UInt8](repeating: 0, count: 900_000))
            try second.send(
                Self.head(
                    "/echo", "Content-Length: \(zeros.count)\r\nContent-Encoding: gzip\r\n"))
            try second.send(zeros)
            let answer = try second.answer()
            #expect(answer.status == 503 && answer["retry-after"] == "1")
            #expect(answer.text.contains(#""serverErrorCode":"TRY_AGAIN_LATER""#))
            #expect(answer.text.hasSuffix(#","retryAfter":1}"#))
            try first.send([UInt8](repeating: 1, count: 100_000))
            #expect(try first.answer().body.count == 900_000)
            try test.until { test.server.bodies.bytesUsed == 0 }
        }
    }

    @Test("Whatever becomes of bodies, the budget is whole again in the end")
    func givenBack() throws {
        var random = SeededRandom("bodies")
        try TestServer.run({
            $0.limits.bodyMemoryBytesMax = 2 << 20
            $0.limits.bodyBytesMax = 1 << 20
            $0.limits.inflatedBodyBytesMax = 1 << 20
        }) { test in
            var clients: [RawClient] = []
            for round in 0..<400 {
                if clients.count > 12 { clients.remove(at: Int.random(in: 0..<12, using: &random)) }
                let client = try test.client()
                clients.append(client)
                if Bool.random(using: &random) { client.reset() }
                let count = random.one(of: [0, 1, 5_000, 66_000, 300_000, 1_100_000])
                let plain = TestResponder.bytes(count)
                let isGzip = Bool.random(using: &random)
                let bytes = isGzip ? Gzip.compress(plain) : plain
                let target = random.one(of: ["/echo", "/no", "/seen", "/later", "/held", "/sink/a"])
                let gzip = isGzip && target != "/sink/a" ? "Content-Encoding: gzip\r\n" : ""
                let isChunked = Bool.random(using: &random)
                let framing =
                    isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(bytes.count)"
                let cut = Int.random(in: 0...bytes.count, using: &random)
                let sent = Bool.random(using: &random) ? bytes : Array(bytes[..<cut])
                // NB: a server that refuses may close before all is sent.
                try? client.send(Self.head(target, "\(framing)\r\n\(gzip)"))
                if isChunked { try? client.send(String(sent.count, radix: 16) + "\r\n") }
                try? client.send(sent)
                if isChunked, !sent.isEmpty { try? client.send("\r\n0\r\n\r\n") }
                if round % 50 == 49 {
                    test.clock.advance(seconds: 31)
                    test.server.checkDeadlines()
                    test.responder.release("late")
                }
            }
            clients = []
            test.responder.release("late")
            try test.until {
                test.responder.release("late")
                return test.server.bodies.bytesUsed == 0 && test.server.bodies.ownerCount == 0
            }
        }
        #expect(random.seed != 0)
    }

    @Test("Gzip is undone on the event loop up to 64 KiB, and what goes beyond by a worker")
    func longGzip() throws {
        try TestServer.run { test in
            for (count, isLong) in [
                (1_000, false), (65_000, false), (66_000, true), (900_000, true),
            ] {
                let before = test.responder.longCount
                let body = TestResponder.bytes(count)
                let gzip = Gzip.compress(body)
                let client = try test.client()
                try client.send(
                    Self.head(
                        "/echo", "Content-Length: \(gzip.count)\r\nContent-Encoding: gzip\r\n"))
                try client.send(gzip)
                #expect(try client.answer().body == body)
                #expect((test.responder.longCount > before) == isLong, "\(count)")
            }
        }
    }
}
