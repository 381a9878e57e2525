import HTTP
import Network
import Testing

@Suite("What is not finished")
struct UnfinishedTests {
    private static let half = "GET / HTTP/1.1\r\nHost: a\r\nA: "

    @Test("Heads without an end make room for others, those that last longest first")
    func heads() throws {
        try TestServer.run({
            $0.loopCount = 1
            $0.limits.waitingBytesMax = 100_000
        }) { test in
            let slow = try (0..<20).map { _ in
                let client = try test.client()
                try client.send(Self.half + String(repeating: "a", count: 12_000))
                return client
            }
            let answer = try slow[0].answer()
            #expect(answer.status == 503 && answer["retry-after"] == "1")
            #expect(try slow[0].isClosedByPeer())
            try slow[19].send("\r\n\r\n")
            #expect(try slow[19].answer().status == 200)
            let other = try test.client()
            try other.send("GET / HT")
            try other.send("TP/1.1\r\nHost: a\r\n\r\n")
            #expect(try other.answer().status == 200)
        }
    }

    @Test("Small pieces of a head are never given up for others")
    func small() throws {
        try TestServer.run({
            $0.loopCount = 1
            $0.limits.waitingBytesMax = 65_536
        }) { test in
            let small = try test.client()
            try small.send(Self.half)
            for _ in 0..<20 {
                let client = try test.client()
                try client.send(Self.half + String(repeating: "a", count: 12_000))
                _ = client
            }
            try small.send("b\r\n\r\n")
            #expect(try small.answer().status == 200)
        }
    }

    @Test("Requests that wait behind others, and answers that nobody takes, make room too")
    func pipelined() throws {
        try TestServer.run({
            $0.loopCount = 1
            $0.limits.waitingBytesMax = 200_000
        }) { test in
            let flood = String(
                repeating: "GET /size/4000 HTTP/1.1\r\nHost: a\r\n\r\n", count: 1_500)
            var deaf: [RawClient] = []
            for _ in 0..<12 {
                let client = try RawClient(test.address, receiveBufferBytes: 4_096)
                try client.send(flood)
                deaf.append(client)
            }
            try test.until { test.server.counts().connectionsClosed >= 4 }
            let other = try test.client()
            try other.send("GET /echo HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try other.answer().status == 200)
            deaf = []
        }
    }

    @Test("One address has at most its part of the connections")
    func perAddress() throws {
        try TestServer.run({
            $0.limits.connectionCountMax = 100
            $0.limits.connectionsPerAddressMax = 3
        }) { test in
            var held = try (0..<3).map { _ in try test.client() }
            for client in held {
                try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try client.answer().status == 200)
            }
            do {
                let over = try test.client()
                let answer = try over.answer()
                #expect(answer.status == 503 && answer.text.contains("from this address"))
                #expect(try over.isClosedByPeer())
            }
            held.removeLast()
            try test.until { test.server.counts().connectionsOpen == 2 }
            let next = try test.client()
            try next.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try next.answer().status == 200)
        }
    }

    @Test("Trusted proxies have as many connections as there are")
    func proxies() throws {
        try TestServer.run({
            $0.limits.connectionsPerAddressMax = 1
            $0.isTrustedProxy = { $0 == "127.0.0.1" }
        }) { test in
            let clients = try (0..<5).map { _ in try test.client() }
            for client in clients {
                try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try client.answer().status == 200)
            }
        }
    }

    @Test("A server that stops waits neither for half a head nor for a body that hardly comes")
    func stopping() throws {
        try TestServer.run({ $0.clock = .system }) { test in
            let head = try test.client()
            try head.send(Self.half)
            let body = try test.client()
            try body.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab")
            let sink = try test.client()
            try sink.send("POST /sink/a HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab")
            try test.until { test.server.counts().requests == 2 }
            // It has all day: that it ends at all shows that it does not wait.
            test.server.drain(withinSeconds: 86_400)
            #expect(try head.isClosedByPeer())
            #expect(try body.answer().status == 503)
            #expect(try sink.answer().status == 503)
        }
    }
}
