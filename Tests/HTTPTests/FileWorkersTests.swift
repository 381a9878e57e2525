import Awaiting
import Foundation
import HTTP
import Testing

/// What is read from disks for one client beside what is read for others.
@Suite("Threads that wait for disks")
struct FileWorkersTests {
    /// Lets bytes be made only once it is open.
    private final class Gate: @unchecked Sendable {
        // Unchecked: everything is touched under the condition only.
        private let condition = NSCondition()
        private var isOpen = false
        private var waiting = 0

        var waitingCount: Int { condition.withLock { waiting } }

        func open() {
            condition.withLock {
                isOpen = true
                condition.broadcast()
            }
        }

        func wait() {
            condition.withLock {
                waiting += 1
                while !isOpen { condition.wait() }
            }
        }
    }

    private struct GatedMaker: ByteMaker {
        let gate: Gate?

        func bytes(at offset: Int, count: Int) -> [UInt8] {
            gate?.wait()
            return [UInt8](repeating: UInt8(ascii: "x"), count: count)
        }
    }

    /// Answers with a byte that is made by a worker: `/slow` once the gate is open, anything else at once.
    private final class GatedResponder: Responder {
        let gate = Gate()

        func respond(to request: HTTPRequest, reply: HTTPReply) {
            let isSlow = request.target.elementsEqual("/slow".utf8)
            var response = HTTPResponse(status: 200)
            response.stream = StreamedBody(
                [.made(GatedMaker(gate: isSlow ? gate : nil), offset: 0, count: 1)],
                for: request.client)
            reply.send(response)
        }
    }

    @Test("However many slow files one client asks for, another one's is read at once")
    func turns() throws {
        var configuration = HTTPServer.Configuration(
            addresses: [.tcp(host: "127.0.0.1", port: 0)])
        configuration.loopCount = 2
        configuration.isTrustedProxy = { $0 == "127.0.0.1" }
        let responder = GatedResponder()
        let server = try HTTPServer(configuration, responder: responder)
        let address = try #require(try server.start().first)
        defer {
            responder.gate.open()
            server.drain(withinSeconds: 5)
        }
        func ask(_ target: String, for client: String) throws -> RawClient {
            let connection = try RawClient(address)
            try connection.send(
                "GET \(target) HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: \(client)\r\n\r\n")
            return connection
        }
        let greedy = try (0..<40).map { _ in try ask("/slow", for: "192.0.2.1") }
        try Wait.until { responder.gate.waitingCount >= 4 }
        for number in 2...20 {
            #expect(try ask("/", for: "192.0.2.\(number)").answer().text == "x")
        }
        // Half of the threads, and not one more.
        #expect(responder.gate.waitingCount == 4)
        responder.gate.open()
        for connection in greedy { #expect(try connection.answer().text == "x") }
    }
}
