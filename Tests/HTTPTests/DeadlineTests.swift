import Foundation
import HTTP
import Network
import Testing

@Suite("Deadlines, by a clock that the test moves")
struct DeadlineTests {
    private func move(_ test: TestServer, seconds: Int) {
        test.clock.advance(seconds: seconds)
        test.server.checkDeadlines()
    }

    /// Sends, and waits until the server has taken all of it.
    private func send(_ test: TestServer, _ client: RawClient, _ text: String) throws {
        let before = test.server.counts().bytesIn
        try client.send(text)
        try test.until {
            test.server.counts().bytesIn >= before + UInt64(text.utf8.count)
        }
        // The counter moves before the bytes are parsed; a turn of the loops later they are.
        test.server.checkDeadlines()
    }

    @Test("A connection that stays idle is closed without a word after 75 s")
    func idle() throws {
        try TestServer.run { test in
            let client = try test.client()
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = try client.answer()
            move(test, seconds: 74)
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.answer().status == 200)
            move(test, seconds: 74)
            #expect(test.server.counts().connectionsOpen == 1)
            move(test, seconds: 1)
            #expect(try client.isClosedByPeer())
        }
    }

    @Test("A head that trickles in is answered 408 after 10 s, however often a byte comes")
    func slowHead() throws {
        try TestServer.run { test in
            let client = try test.client()
            try send(test, client, "GET / HTTP/1.1\r\n")
            for letter in "abcdefghi" {
                move(test, seconds: 1)
                try send(test, client, "\(letter)")
            }
            #expect(test.server.counts().connectionsOpen == 1)
            move(test, seconds: 1)
            let answer = try client.answer()
            #expect(answer.status == 408)
            #expect(answer.text.contains(#""serverErrorCode":"TRY_AGAIN_LATER""#))
            #expect(try client.isClosedByPeer())
        }
    }

    @Test("A pipelined head that trickles in is timed, too")
    func slowSecondHead() throws {
        try TestServer.run { test in
            let client = try test.client()
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET")
            #expect(try client.answer().status == 200)
            move(test, seconds: 10)
            #expect(try client.answer().status == 408)
        }
    }

    @Test("A body slower than the minimum rate is answered 408 after 30 s")
    func slowBody() throws {
        try TestServer.run { test in
            let client = try test.client()
            try send(test, client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
            for _ in 0..<29 {
                move(test, seconds: 1)
                try send(test, client, String(repeating: "a", count: 1000))
            }
            #expect(test.server.counts().connectionsOpen == 1)
            move(test, seconds: 1)
            #expect(try client.answer().status == 408)
            #expect(try client.isClosedByPeer())
        }
    }

    @Test("A large body that keeps to the minimum rate may take minutes")
    func steadyBody() throws {
        try TestServer.run { test in
            let client = try test.client()
            try send(
                test, client, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1200000\r\n\r\n")
            for _ in 0..<24 {
                move(test, seconds: 9)
                try send(test, client, String(repeating: "a", count: 50_000))
            }
            #expect(try client.answer().body.count == 1_200_000)
        }
    }

    @Test("A client that takes its answer more slowly than the minimum rate is cut off")
    func slowReader() throws {
        try TestServer.run { test in
            let client = try RawClient(test.address, receiveBufferBytes: 4096)
            try client.send("GET /size/8000000 HTTP/1.1\r\nHost: x\r\n\r\n")
            try test.until { test.server.counts().requests == 1 }
            move(test, seconds: 29)
            #expect(test.server.counts().connectionsOpen == 1)
            // The server may have got on a little while the buffers between them were filling.
            try test.until {
                move(test, seconds: 1)
                return test.server.counts().connectionsOpen == 0
            }
            #expect(try client.receiveToEnd().count < 8_000_000)
        }
    }

    @Test("A client that does not read its answers has no further requests read")
    func boundedOutput() throws {
        try TestServer.run { test in
            let client = try RawClient(test.address, receiveBufferBytes: 4096)
            let request = Array("GET /size/1000000 HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
            try client.send([[UInt8]](repeating: request, count: 1000).flatMap { $0 })
            try test.until { test.server.counts().requests >= 1 }
            test.server.checkDeadlines()
            // What the kernel's buffers took, and one answer that waits.
            #expect(test.server.counts().requests < 20)
        }
    }

    @Test("A request that its responder holds has no deadline")
    func heldRequest() throws {
        try TestServer.run { test in
            let client = try test.client()
            try client.send("GET /held HTTP/1.1\r\nHost: x\r\n\r\n")
            try test.until { test.responder.heldCount == 1 }
            move(test, seconds: 100_000)
            test.responder.release("at last")
            #expect(try client.answer().text == "at last")
        }
    }

    @Test("A refused client that goes on sending is cut off after 5 s")
    func lingering() throws {
        try TestServer.run { test in
            let client = try test.client()
            try client.send("GET / HTTP/1.1\r\n\r\n")
            #expect(try client.answer().status == 400)
            try send(test, client, "more and more")
            #expect(test.server.counts().connectionsOpen == 1)
            move(test, seconds: 5)
            #expect(test.server.counts().connectionsOpen == 0)
        }
    }

    @Test("A held client that goes away is let go, and its late answer dropped")
    func heldClientGone() throws {
        try TestServer.run { test in
            var client: RawClient? = try test.client()
            try client?.send("GET /held HTTP/1.1\r\nHost: x\r\n\r\n")
            try test.until { test.responder.heldCount == 1 }
            client?.reset()
            client = nil
            try test.until { test.server.counts().connectionsOpen == 0 }
            test.responder.release("too late")
            let next = try test.client()
            try next.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try next.answer().status == 200)
        }
    }
}
