import CloudModel
import Dispatch
import Fairness
import Foundation
import Storage
import Synchronization
import Testing

@Suite("One caller's requests beside another's")
struct FairnessTests {
    /// A store whose reads on workers take as long as the test wants, unless they are told to stop.
    final class SlowStorage: ForwardingStorage {
        let store: any Store
        let isSlow = Atomic(false)
        let slowCount = Atomic(0)
        let stoppedCount = Atomic(0)

        init(_ store: any Store) { self.store = store }

        func read<Value>(
            _ load: ReadLoad, _ body: (any StoreSnapshot) throws -> Value
        ) throws -> Value {
            let stop = load.stop
            if stop != nil, isSlow.load(ordering: .acquiring) {
                slowCount.wrappingAdd(1, ordering: .acquiringAndReleasing)
                while isHeld.load(ordering: .acquiring) {
                    if stop?.isStopped == true {
                        stoppedCount.wrappingAdd(1, ordering: .acquiringAndReleasing)
                    }
                    try stop?.check()
                    sched_yield()
                }
            }
            return try store.read(load, body)
        }

        let isHeld = Atomic(true)
    }

    private static let query = #"{"query":{"recordType":"Tin"}}"#

    @Test("40 long queries by a bare API token hold up no other query, and no renewal of a token")
    func longQueries() throws {
        let first = try WireServer()
        let storage = SlowStorage(try first.store())
        let server = try WireServer(storage: storage)
        let ida = try server.user()
        let visitor = server.visitor()
        // The store is open from here on.
        _ = try ida.send("public/records/query", Self.query)
        storage.isSlow.store(true, ordering: .releasing)
        let abuse = (0..<40).map { _ in visitor.start("public/records/query", Self.query) }
        // As many as one caller may hold threads of the short lane.
        try server.until { storage.slowCount.load(ordering: .acquiring) >= 2 }
        storage.isSlow.store(false, ordering: .releasing)
        #expect(try ida.send("public/records/query", Self.query).status != 500)
        server.clock.advance(1_000 * 1_209_600 * 2 / 3)
        let renewed = try ida.send("private/zones/list", "{}")
        #expect(renewed.status == 200)
        storage.isHeld.store(false, ordering: .releasing)
        for query in abuse { _ = try query.answer() }
    }

    @Test("A caller beyond what may wait is answered THROTTLED, and another one is not")
    func throttled() throws {
        let first = try WireServer()
        let storage = SlowStorage(try first.store())
        var work = WorkOptions()
        (work.shortThreads, work.longThreads, work.waitingPerPrincipalMax) = (4, 1, 3)
        // What runs goes on where it is, so that the rest waits however long a busy machine takes.
        work.longNanoseconds = .max
        let server = try WireServer(storage: storage, work: work)
        let (ida, visitor) = (try server.user(), server.visitor())
        _ = try ida.send("public/records/query", Self.query)
        storage.isSlow.store(true, ordering: .releasing)
        let abuse = (0..<40).map { _ in visitor.start("public/records/query", Self.query) }
        storage.isSlow.store(false, ordering: .releasing)
        #expect(try ida.send("public/records/query", Self.query).status != 429)
        storage.isHeld.store(false, ordering: .releasing)
        let answers = try abuse.map { try $0.answer() }
        let refused = answers.filter { $0.status == 429 }
        #expect(!refused.isEmpty)
        for answer in refused {
            #expect(answer.code == "THROTTLED" && answer.header("retry-after") == "2")
        }
    }
}
