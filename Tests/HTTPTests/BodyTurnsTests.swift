import HTTP
import Network
import Synchronization
import Testing

@Suite("Large bodies of one caller come in turns")
struct BodyTurnsTests {
    private static let bytes = 100_000

    /// A server that receives one body of this length of a caller at a time, and has no room for seven.
    private func run(_ body: (TestServer) throws -> Void) throws {
        try TestServer.run(
            {
                $0.limits.bodyMemoryBytesMax = 4 << 20
                $0.limits.bodyBytesMax = 600_000
                $0.limits.inflatedBodyBytesMax = 600_000
            }, body)
    }

    /// Sends a whole request, which is received as far as its turn has come.
    private func send(_ test: TestServer, _ target: String, by caller: Int) throws -> RawClient {
        let before = test.responder.decided.load(ordering: .acquiring)
        let client = try test.client()
        try client.send(
            "POST \(target) HTTP/1.1\r\nHost: a\r\nX-Caller: \(caller)\r\n"
                + "Content-Length: \(Self.bytes)\r\n\r\n")
        try client.send(TestResponder.bytes(Self.bytes))
        try test.until { test.responder.decided.load(ordering: .acquiring) == before + 1 }
        return client
    }

    @Test("Bodies that their caller's others leave no room for wait until these have been answered")
    func waits() throws {
        try run { test in
            // Together they are larger than the caller's share.
            let clients = try (0..<7).map { _ in try send(test, "/held", by: 1) }
            let other = try send(test, "/echo", by: 2)
            #expect(try other.answer().body.count == Self.bytes, "another caller does not wait")
            for count in 0..<clients.count {
                try test.until { test.responder.heldCount == 1 }
                // Of one that waits, no more is received than may come with its head.
                #expect(
                    test.server.bodies.bytesUsed
                        <= Self.bytes + (clients.count - count - 1) * 65_536)
                test.responder.release("done")
                #expect(try clients[count].answer().text == "done")
            }
            try test.until { test.server.bodies.ownerCount == 0 }
            #expect(test.rejections.all.isEmpty)
        }
    }

    @Test("One whose client goes while it waits leaves its turn to the next")
    func gone() throws {
        try run { test in
            let first = try send(test, "/held", by: 1)
            try test.until { test.responder.heldCount == 1 }
            let second = try send(test, "/echo", by: 1)
            let third = try send(test, "/echo", by: 1)
            second.reset()
            test.responder.release("done")
            #expect(try first.answer().text == "done")
            #expect(try third.answer().body.count == Self.bytes)
            try test.until { test.server.bodies.ownerCount == 0 }
        }
    }

    @Test("One that has waited as long as a body may take is put off")
    func putOff() throws {
        try run { test in
            let first = try send(test, "/held", by: 1)
            try test.until { test.responder.heldCount == 1 }
            let second = try send(test, "/echo", by: 1)
            test.clock.advance(seconds: 31)
            test.server.checkDeadlines()
            let answer = try second.answer()
            #expect(answer.status == 503 && answer["retry-after"] == "1")
            test.responder.release("done")
            #expect(try first.answer().text == "done")
            #expect(try send(test, "/echo", by: 1).answer().body.count == Self.bytes)
        }
    }
}
