import CloudModel
import Dispatch
import Foundation
import HTTP
import Storage
import Synchronization
import Testing
import WebServices

/// The writer decides, writes and commits; answers are made where there is time for it.
@Suite("Answers to writes")
struct AnswersOfWritesTests {
    /// A request whose event loop goes on when the test says so.
    private final class SlowLoop: Sendable {
        let response = Waiting<HTTPResponse>()
        let id = UUID().uuidString
        private let work = Mutex<[@Sendable () -> Void]>([])
        private let woken = DispatchSemaphore(value: 0)

        func send(_ path: String, _ body: String, by client: WireClient) {
            guard case .tokens(let api, let web) = client.credential else { return }
            let target =
                "/database/1/\(client.container)/\(client.environment.rawValue)/\(path)"
                + "?ckWebAuthToken=\(web ?? "")&ckAPIToken=\(api)"
            let request = HTTPRequest(
                id: id, method: .post, target: Array(target.utf8),
                headers: HTTPHeaders([]), body: Array(body.utf8), peer: client.peer,
                client: client.peer.block, loop: client.loop)
            let reply = HTTPReply(
                wake: { work in
                    self.work.withLock { $0.append(work) }
                    self.woken.signal()
                },
                {
                    self.response.arrive($0)
                    self.woken.signal()
                })
            client.server.web.respond(to: request, reply: reply)
        }

        /// Does what the loop was woken for, until it has answered.
        func goOn() throws {
            while response.isEmpty {
                guard woken.wait(timeout: .now() + 60) == .success else {
                    throw WireFailure("the loop was not woken within a minute")
                }
                let work = work.withLock { work in
                    defer { work = [] }
                    return work
                }
                for item in work { item() }
            }
        }
    }

    private func save(_ name: String, bytes: Int = 10) -> String {
        let text = String(repeating: "x", count: bytes)
        return operation("forceReplace", name, fields: #"{"t":{"value":"\#(text)"}}"#)
    }

    private func body(_ operations: [String]) -> String {
        #"{"zoneID":{"zoneName":"Shelf"},"operations":[\#(operations.joined(separator: ","))]}"#
    }

    @Test("The writer wakes the event loop, which makes the answer and the line in the log")
    func onLoop() throws {
        // With rates, a loop's time is the test's clock: nothing is put off to the loop's next turn.
        let server = try WireServer(rates: RateLimits())
        let ida = try server.user()
        try ida.make("Shelf")
        let loop = SlowLoop()
        loop.send("private/records/modify", body([save("a")]), by: ida)
        // What is acknowledged is not held up by who is slow to be told. These come by no loop: on the slow
        // one, they would wait with it.
        var other = ida
        other.loop = WireServer.noLoop
        #expect(try other.save("b").code == nil)
        #expect(try other.record("a").code == nil)
        #expect(loop.response.isEmpty)
        #expect(!server.observed.knows(loop.id))
        try loop.goOn()
        #expect(try loop.response.wait().status == 200)
        #expect(server.observed.knows(loop.id))
    }

    @Test("A large answer is made by a worker, not by the event loop")
    func byWorker() throws {
        let server = try WireServer()
        let ida = try server.user()
        try ida.make("Shelf")
        let loop = SlowLoop()
        let operations = (0..<8).map { save("r\($0)", bytes: 100_000) }
        loop.send("private/records/modify", body(operations), by: ida)
        try loop.goOn()
        let answer = try loop.response.wait()
        #expect(answer.status == 200 && answer.bodyBytes > 800_000)
    }
}
