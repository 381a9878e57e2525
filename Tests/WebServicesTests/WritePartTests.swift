import CloudModel
import Storage
import Synchronization
import Testing

/// Nobody waits for all of another user's long request.
@Suite("Long requests in the writer")
struct WritePartTests {
    /// A store that notes how much each write of a request brings.
    private final class Weighed: ForwardingStorage {
        let store: any Store
        private let costs = Mutex<[Int]>([])

        init(_ store: any Store) { self.store = store }

        func write<Value: Sendable>(
            _ load: WriteLoad,
            _ body: @escaping @Sendable (any StoreTransaction) throws -> Value,
            completion: @escaping @Sendable (Result<Value, any Error>) -> Void
        ) {
            if load.caller != .background { costs.withLock { $0.append(load.cost) } }
            store.write(load, body, completion: completion)
        }

        func takeCosts() -> [Int] {
            costs.withLock { costs in
                defer { costs = [] }
                return costs
            }
        }
    }

    @Test(
        "Of zones and subscriptions a write changes sixteen, and the answer has all in order",
        arguments: [
            (
                path: "zones/modify", key: "zones",
                item: { @Sendable (number: Int) in
                    #"{"operationType":"create","zone":{"zoneID":{"zoneName":"z\#(number)"}}}"#
                }
            ),
            (
                path: "subscriptions/modify", key: "subscriptions",
                item: { @Sendable (number: Int) in
                    #"{"operationType":"create","subscription":{"subscriptionID":"z\#(number)","#
                        + #""subscriptionType":"query","firesOn":["create"],"query":{"recordType":"T\#(number)"}}}"#
                }
            ),
        ] as [(path: String, key: String, item: @Sendable (Int) -> String)])
    func parts(path: String, key: String, item: @Sendable (Int) -> String) throws {
        let first = try WireServer()
        let weighed = Weighed(try first.store())
        let server = try WireServer(storage: weighed)
        let ida = try server.user()
        _ = weighed.takeCosts()
        let operations = (0..<40).map(item).joined(separator: ",")
        let answer = try ida.send("private/\(path)", #"{"operations":[\#(operations)]}"#)
        #expect(answer.code == nil)
        let names = answer[key].elements.map {
            $0["zoneID"]["zoneName"].string ?? $0["subscriptionID"].string
        }
        #expect(names == (0..<40).map { "z\($0)" })
        #expect(weighed.takeCosts() == [16, 16, 8])
    }

    @Test("Of many shares a write joins sixteen, and none when a link leads nowhere")
    func accepting() throws {
        let first = try WireServer()
        let weighed = Weighed(try first.store())
        let server = try WireServer(storage: weighed)
        let (ida, mo) = (try server.user("ida"), try server.user("mo"))
        let links = try (0..<20).map { number in
            try ida.shareNote(
                "note\(number)", as: "share\(number)", zone: "z\(number)",
                publicPermission: "READ_ONLY"
            ).shortGUID
        }
        _ = weighed.takeCosts()
        let refused = try mo.follow("accept", links + ["0" + String(repeating: "a", count: 32)])
        #expect(refused.code == "NOT_FOUND")
        #expect(weighed.takeCosts() == [])
        let answer = try mo.follow("accept", links)
        let results = answer["results"].elements
        #expect(results.map { $0["shortGUID"]["value"].string } == links)
        #expect(results.allSatisfy { $0["participantStatus"].string == "ACCEPTED" })
        #expect(weighed.takeCosts() == [16, 4])
    }
}
