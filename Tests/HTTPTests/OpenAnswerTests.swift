import HTTP
import Testing

@Suite("Answers that go on until somebody ends them")
struct OpenAnswerTests {
    private static let ask = "GET /open HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n"

    /// Sends a piece and waits until the system has taken it, or nobody gets it.
    private func tell(_ text: String, isLast: Bool = false, _ test: TestServer) throws -> Bool {
        let told = test.responder.tell(Array(text.utf8), isLast: isLast)
        try test.until { told.isSent != nil }
        return told.isSent ?? false
    }

    @Test(
        "Each piece is with the client as soon as it is sent, and another request follows the last")
    func pieces() throws {
        try TestServer.run { test in
            let client = try test.client()
            try client.send(Self.ask)
            try test.until { test.responder.openCount == 1 }
            #expect(try client.receive(through: "3\r\none\r\n").contains("chunked"))
            #expect(try tell("second", test))
            #expect(try client.receive(through: "6\r\nsecond\r\n").hasSuffix("second\r\n"))
            // A request that comes meanwhile waits for the end.
            try client.send("GET /204 HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try tell("third", isLast: true, test))
            #expect(try client.receive(through: "204").hasPrefix("5\r\nthird\r\n0\r\n\r\n"))
            #expect(try !tell("late", test))
            #expect(test.responder.abandonedCount == 0)
        }
    }

    @Test("An answer that is broken off ends with the connection, and without its last chunk")
    func brokenOff() throws {
        try TestServer.run { test in
            let client = try test.client()
            try client.send(Self.ask)
            try test.until { test.responder.openCount == 1 }
            #expect(try tell("second", test))
            test.responder.cut()
            let text = String(decoding: try client.receiveToEnd(), as: UTF8.self)
            #expect(text.hasSuffix("6\r\nsecond\r\n"), "\(text)")
        }
    }

    @Test("A client of HTTP/1.0 gets the pieces as they are, and the end of the connection")
    func version10() throws {
        try TestServer.run { test in
            let client = try test.client()
            try client.send("GET /open HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            try test.until { test.responder.openCount == 1 }
            #expect(try tell("two", test))
            #expect(try tell("", isLast: true, test))
            let text = String(decoding: try client.receiveToEnd(), as: UTF8.self)
            #expect(text.hasSuffix("\r\n\r\nonetwo"))
            #expect(!text.lowercased().contains("transfer-encoding"))
        }
    }

    @Test("A HEAD gets the head, and no piece")
    func head() throws {
        try TestServer.run { test in
            let client = try test.client()
            try client.send("HEAD /open HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.answer(toHead: true).status == 200)
            try test.until { test.responder.openCount == 1 }
            #expect(try !tell("two", test))
            try client.send("GET /204 HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.answer().status == 204)
        }
    }

    @Test(
        "Whoever sends the pieces is told when the client goes, however it goes",
        arguments: [true, false])
    func gone(isReset: Bool) throws {
        try TestServer.run { test in
            do {
                let client = try test.client()
                try client.send(Self.ask)
                try test.until { test.responder.openCount == 1 }
                if isReset { client.reset() }
            }
            try test.until { test.responder.abandonedCount == 1 }
            #expect(try !tell("two", test))
        }
    }

    @Test("A client that does not read holds one piece, and is let go when its time is over")
    func slow() throws {
        try TestServer.run({ $0.limits.waitingBytesMax = 256 * 1024 * 1024 }) { test in
            let client = try RawClient(test.address, receiveBufferBytes: 4_096)
            try client.send(Self.ask)
            try test.until { test.responder.openCount == 1 }
            // More than any system takes for a client that does not read.
            let piece = test.responder.tell(TestResponder.bytes(32 * 1024 * 1024))
            let early = test.responder.tell(Array("early".utf8))
            try test.until { early.isSent != nil }
            #expect(early.isSent == false && piece.isSent == nil)
            // The time begins anew as long as the system takes some of it.
            try test.until {
                test.clock.advance(seconds: 31)
                test.server.checkDeadlines()
                return piece.isSent != nil
            }
            #expect(piece.isSent == false && test.responder.abandonedCount == 1)
        }
    }

    @Test("An answer that goes on has no time limit of its own, and a drain ends it at last")
    func drain() throws {
        try TestServer.run { test in
            let client = try test.client()
            try client.send(Self.ask)
            try test.until { test.responder.openCount == 1 }
            test.clock.advance(seconds: 3_600)
            test.server.checkDeadlines()
            #expect(try tell("still", test))
            test.server.drain(withinSeconds: 0)
            #expect(test.responder.abandonedCount == 1)
            let text = String(decoding: try client.receiveToEnd(), as: UTF8.self)
            #expect(text.hasSuffix("5\r\nstill\r\n"))
        }
    }
}

extension RawClient {
    /// All that has come, once it holds a text.
    fileprivate func receive(through text: String) throws -> String {
        while true {
            let sofar = String(decoding: seen, as: UTF8.self)
            if sofar.contains(text) {
                forget()
                return sofar
            }
            guard try receiveMore() else { throw Failure(what: "ended before \(text)") }
        }
    }
}
