import Background
import CloudDatabase
import CloudModel
import Dispatch
import SQLite
import Storage
import Synchronization
import Testing

/// Who takes what from the queue of a store, and what becomes of work that fails.
@Suite("The queue of work")
struct WorkQueueTests {
    private let server: WireServer
    private let store: any EngineStore

    init() throws {
        server = try WireServer()
        store = try server.store()
        // Nothing here is done by itself.
        AttachedWork.stop(of: store)
    }

    private static func cover(_ record: Int64, in zone: Int64) -> WorkTask {
        .cover(RecordNumber(record), in: ZoneNumber(zone))
    }

    @Test("Kinds and subjects take turns, and each subject's work is done in the order of asking")
    func turns() throws {
        let asked: [WorkTask] = [
            Self.cover(9, in: 5), Self.cover(3, in: 5), Self.cover(8, in: 5),
            Self.cover(7, in: 6), .collect,
        ]
        let taken = try store.writeAndWait { transaction in
            for task in asked { try transaction.enqueue(task) }
            // Asked for again: it keeps its place.
            try transaction.enqueue(asked[0])
            var turn = WorkTurn(WorkHolder(1), [.cover, .collect])
            var taken: [WorkTask] = []
            while let work = try transaction.takeWork(&turn) {
                taken.append(work.task)
                try transaction.finish(work)
                turn.next = (turn.next + 1) % turn.kinds.count
            }
            return taken
        }
        #expect(taken == [asked[0], .collect, asked[3], asked[1], asked[2]])
    }

    @Test("Step by step, the trees of two zones take turns")
    func steps() throws {
        let tasks = try ["ann", "bo"].map { name -> WorkTask in
            let user = try server.user(name)
            try user.make("Shelf")
            try user.put(("root", nil))
            _ = try user.modify(
                (0..<40).map {
                    operation(
                        "forceUpdate", "note\($0)", type: "Note", fields: "{}",
                        more: below("root"))
                })
            let owner = try #require(UserRecordName(user.name))
            let (shelf, root) = (
                try #require(ZoneName("Shelf")), try #require(RecordName("root"))
            )
            return try store.read { snapshot in
                let zone = try #require(try snapshot.zone(named: shelf, ofOwnerNamed: owner))
                let head = try #require(try snapshot.head(of: root, in: zone.number))
                return .cover(head.record, in: zone.number)
            }
        }
        try store.writeAndWait { transaction in
            for task in tasks { try transaction.enqueue(task) }
        }
        let counted = CountingStore(store)
        var options = WorkRunner.Options()
        options.limits.shareStepRecordsMax = 8
        let runner = WorkRunner(counted, options)
        AttachedWork.attach(runner, to: store)
        try server.until { counted.questions.allLeft.count >= 10 }
        runner.stop()
        let left = counted.questions.allLeft.prefix(10)
        #expect(Set(left) == Set(tasks))
        #expect(zip(left, left.dropFirst()).allSatisfy { $0 != $1 }, "\(left)")
    }

    /// A store that cannot say of its first write what became of it.
    private final class UnknownOnce: ForwardingStorage {
        let store: any Store
        private let hasFailed = Atomic(false)

        init(_ store: any Store) { self.store = store }

        var isUsed: Bool { hasFailed.load(ordering: .relaxed) }

        func write<Value: Sendable>(
            _ load: WriteLoad,
            _ body: @escaping @Sendable (any StoreTransaction) throws -> Value,
            completion: @escaping @Sendable (Result<Value, any Error>) -> Void
        ) {
            guard hasFailed.exchange(true, ordering: .relaxed) else {
                return completion(.failure(StorageFailure.indeterminate))
            }
            store.write(load, body, completion: completion)
        }
    }

    @Test(
        "Work goes on behind a step of which nobody knows what became, in the writer and beside it",
        arguments: [false, true])
    func unknown(isBeside: Bool) throws {
        try store.writeAndWait { try $0.enqueue(.collect) }
        var options = WorkRunner.Options()
        if isBeside { options.blocking[.collect] = { false } }
        let unknown = UnknownOnce(store)
        let runner = WorkRunner(unknown, options)
        AttachedWork.attach(runner, to: store)
        try server.until {
            try store.read { try $0.nextWorkMoment(nil, for: WorkHolder(1)) } == nil
        }
        runner.stop()
        #expect(unknown.isUsed)
    }

    @Test("What somebody holds, and its subject, others leave alone until the time is over")
    func holding() throws {
        let first = Self.cover(1, in: 5)
        let other = Self.cover(3, in: 6)
        let now = server.clock.now
        try store.writeAndWait { transaction in
            for task in [first, Self.cover(2, in: 5), other] { try transaction.enqueue(task) }
            var turn = WorkTurn(WorkHolder(1), [.cover])
            let taken = try transaction.takeWork(&turn, heldUntil: transaction.now + 5_000)
            #expect(taken?.task == first)
        }
        #expect(try next(WorkHolder(2)) == other)
        #expect(try next(WorkHolder(1)) == first)
        let moment = try store.writeAndWait { transaction in
            var turn = WorkTurn(WorkHolder(2), [.cover])
            if let work = try transaction.takeWork(&turn) { try transaction.finish(work) }
            return try transaction.nextWorkMoment([.collect], for: WorkHolder(2))
        }
        #expect(moment == nil)
        #expect(try next(WorkHolder(2)) == nil)
        server.clock.advance(5_000)
        #expect(server.clock.now == now + 5_000)
        #expect(try next(WorkHolder(2)) == first)
    }

    private func next(_ holder: WorkHolder) throws -> WorkTask? {
        try store.writeAndWait { transaction in
            var turn = WorkTurn(holder, [.cover])
            return try transaction.takeWork(&turn)?.task
        }
    }

    @Test("Who held work when the process ended holds nothing in the next")
    func restart() throws {
        try store.writeAndWait { transaction in
            try transaction.enqueue(.collectAssets)
            var turn = WorkTurn(WorkHolder(1), [.collectAssets])
            _ = try transaction.takeWork(&turn, heldUntil: transaction.now + 600_000)
        }
        try server.restart { _ in }
        let taken = try server.store().writeAndWait { transaction in
            var turn = WorkTurn(WorkHolder(2), [.collectAssets])
            return try transaction.takeWork(&turn)?.task
        }
        #expect(taken == .collectAssets)
    }

    private struct Broken: Error {}

    @Test(
        "A step that fails is tried again later and later, told once, and in the end named by check"
    )
    func failing() throws {
        let tries = Waits()
        let told = Mutex<[String]>([])
        try withExtendedLifetime(told) {
            var options = WorkRunner.Options()
            options.backoff = Backoff(first: 1_000, longest: 3_600_000) { .max }
            options.report = { word, _ in told.withLock { $0.append(word) } }
            options.blocking[.collectAssets] = {
                tries.come()
                throw Broken()
            }
            let runner = WorkRunner(store, options)
            AttachedWork.attach(runner, to: store)
            try store.writeAndWait { try $0.enqueue(.collectAssets) }
            for failures in 1...5 {
                try tries.wait()
                // Each failure is noted before the time goes on, by which the next is due.
                try server.until { try noted().failures >= failures }
                let wait = try noted().dueAt - server.clock.now
                #expect(wait == 1_000 << Int64(failures - 1))
                server.clock.advance(wait - 1)
                let early = try store.writeAndWait { transaction in
                    var turn = WorkTurn(WorkHolder(1), [.collectAssets])
                    return try transaction.takeWork(&turn)?.task
                }
                #expect(early == nil)
                let isNamed = try !server.problems().isEmpty
                #expect(isNamed == (failures == 5))
                server.clock.advance(1)
                runner.wake()
            }
            #expect(told.withLock { $0 } == ["collectAssets"])
            #expect(options.counts.failed >= 5)
            runner.stop()
        }
    }

    private func noted() throws -> (failures: Int64, dueAt: Milliseconds) {
        try store.read { _ in }
        let connection = try Connection(path: server.storePath(), mode: .readOnly)
        let statement = try connection.prepare("SELECT failures, due_at FROM work")
        defer { statement.reset() }
        return try statement.step() ? (statement.int64(0), statement.int64(1)) : (0, 0)
    }

    /// Counts what comes, and lets another thread wait for each.
    private final class Waits: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)

        func come() { semaphore.signal() }
        func wait() throws {
            guard semaphore.wait(timeout: .now() + 60) == .success else {
                throw WireFailure("nothing more has come")
            }
        }
    }
}
