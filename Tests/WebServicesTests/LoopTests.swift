import CloudModel
import Fairness
import Foundation
import HTTP
import Storage
import Synchronization
import Testing
import WebServices

/// An event loop serves many callers: it does what is short, and takes callers in turn.
@Suite("What an event loop does itself")
struct LoopTests {
    /// A server whose workers refuse whatever is handed to them.
    private static func withoutWorkers() throws -> WireServer {
        var work = WorkOptions()
        work.waitingPerPrincipalMax = 0
        return try WireServer(work: work)
    }

    /// Bodies that ask every endpoint for so many things.
    private static func body(_ count: Int) -> String {
        let lists = [
            ("operations", #"{"operationType":"forceDelete","record":{"recordName":"r%"}}"#),
            ("records", #"{"recordName":"r%"}"#), ("zones", #"{"zoneID":{"zoneName":"z%"}}"#),
            ("subscriptions", #"{"subscriptionID":"s%"}"#), ("tokens", #"{"fieldName":"f%"}"#),
            ("assets", #"{"recordName":"r%","fieldName":"f"}"#),
            ("shortGUIDs", #"{"value":"v%"}"#), ("users", #"{"userRecordName":"_%"}"#),
            ("lookupInfos", #"{"emailAddress":"p%@example.org"}"#),
        ].map { key, item in
            let items = (0..<count).map { item.replacing("%", with: "\($0)") }
            return #""\#(key)":[\#(items.joined(separator: ","))]"#
        }
        return #"{"query":{"recordType":"Tin"},\#(lists.joined(separator: ","))}"#
    }

    private static func send(
        _ operation: String, _ body: String, to server: WireServer
    ) throws -> Answer {
        let parts = operation.split(separator: "/", maxSplits: 1).map(String.init)
        guard parts[0] != "accounts" else {
            return try server.key(scope: .container).send(parts[1], body, module: "accounts")
        }
        return try caller(server).send("private/\(operation)", body)
    }

    /// A user of a store that is open: whatever comes first has it opened.
    private static func caller(_ server: WireServer) throws -> WireClient {
        let ida = try server.user()
        _ = try ida.send("private/records/lookup", #"{"records":[]}"#)
        return ida
    }

    @Test(
        "Whatever the endpoint, workers answer a request for many things",
        arguments: RouteTable.operations)
    func much(_ operation: String) throws {
        guard operation != "changes/database" else { return }
        for count in [9, 200] {
            let answer = try Self.send(operation, Self.body(count), to: Self.withoutWorkers())
            #expect(answer.code == "THROTTLED", "\(count): \(answer.status)")
        }
    }

    @Test("A loop itself answers who looks up, follows or saves little")
    func little() throws {
        let ida = try Self.caller(Self.withoutWorkers())
        for operation in ["records/lookup", "changes/zone", "changes/database", "records/modify"] {
            let answer = try ida.send("private/\(operation)", Self.body(8))
            #expect(answer.status == 200, "\(operation): \(answer.code ?? "")")
        }
    }

    @Test("A body above 16 KiB is read by workers, whatever it asks")
    func longBodies() throws {
        let server = try Self.withoutWorkers()
        let body =
            #"{"records":[{"recordName":"a"}],"x":"\#(String(repeating: "x", count: 16_384))"}"#
        #expect(try Self.send("records/lookup", body, to: server).code == "THROTTLED")
    }

    @Test("Who has had much of a loop's time waits, and another caller does not")
    func turns() throws {
        let first = try WireServer()
        let watched = Watched(try first.store())
        let server = try WireServer(storage: watched, rates: RateLimits())
        let (ida, bob) = (try server.user("ida"), try server.user("bob"))
        for client in [ida, bob] { _ = try client.send("private/zones/list", "{}") }
        watched.whenLoopReads.withLock { $0 = { server.clock.advance(2) } }
        defer { watched.whenLoopReads.withLock { $0 = {} } }
        let loop = WokenLoop()
        for number in 0..<4 { loop.send("ida \(number)", by: ida) }
        loop.send("bob", by: bob)
        #expect(loop.takeAnswers() == ["ida 0", "bob"])
        loop.goOn()
        #expect(loop.takeAnswers() == ["ida 1", "ida 2"])
        loop.goOn()
        #expect(loop.takeAnswers() == ["ida 3"])
    }

    /// A loop that goes on with what it was woken for when the test says so.
    private final class WokenLoop: Sendable {
        private let posted = Mutex<[@Sendable () -> Void]>([])
        private let answers = Mutex<[String]>([])

        func send(_ word: String, by client: WireClient) {
            guard case .tokens(let api, let web) = client.credential else { return }
            let target =
                "/database/1/\(client.container)/\(client.environment.rawValue)/private/records/lookup"
                + "?ckWebAuthToken=\(web ?? "")&ckAPIToken=\(api)"
            let request = HTTPRequest(
                id: UUID().uuidString, method: .post, target: Array(target.utf8),
                headers: HTTPHeaders([]), body: Array(#"{"records":[{"recordName":"a"}]}"#.utf8),
                peer: client.peer, client: client.peer.block, loop: 0)
            client.server.web.respond(
                to: request,
                reply: HTTPReply(wake: { work in self.posted.withLock { $0.append(work) } }) { _ in
                    self.answers.withLock { $0.append(word) }
                })
        }

        func goOn() {
            let work = posted.withLock { posted in
                defer { posted = [] }
                return posted
            }
            for piece in work { piece() }
        }

        func takeAnswers() -> [String] {
            answers.withLock { answers in
                defer { answers = [] }
                return answers
            }
        }
    }

    /// A store that notes who reads for a request.
    private final class Watched: ForwardingStorage {
        let store: any Store
        private let readers = Mutex<[StoreReader]>([])
        let whenLoopReads = Mutex<@Sendable () -> Void>({})

        init(_ store: any Store) { self.store = store }

        func read<Value>(
            _ load: ReadLoad, _ body: (any StoreSnapshot) throws -> Value
        ) throws -> Value {
            // What is done in the background is told to end by nobody.
            let reader = load.reader
            if reader != .anybody || load.stop != nil { readers.withLock { $0.append(reader) } }
            if reader != .anybody { whenLoopReads.withLock { $0 }() }
            return try store.read(load, body)
        }

        /// Who has read since this was last asked.
        func takeReaders() -> [StoreReader] {
            readers.withLock { readers in
                defer { readers = [] }
                return readers
            }
        }
    }

    @Test("A list of many zones is read by a worker, and is whole")
    func manyZones() throws {
        let first = try WireServer()
        let watched = Watched(try first.store())
        let server = try WireServer(storage: watched)
        let ida = try server.user()
        for number in 0..<20 { try ida.make("Shelf\(number)") }
        _ = watched.takeReaders()
        #expect(try ida.send("private/changes/database", "{}").zones.count >= 20)
        #expect(watched.takeReaders() == [.loop(0)])
        for number in 20..<40 { try ida.make("Shelf\(number)") }
        _ = watched.takeReaders()
        #expect(try ida.send("private/changes/database", "{}").zones.count >= 40)
        #expect(watched.takeReaders() == [.loop(0), .anybody])
    }
}
