import CloudModel
import Delivery
import Dispatch
import Storage
import Synchronization
import Testing

/// A store that is broken: it hands out each waiting notice twice.
private final class RepeatingStore: ForwardingStorage {
    private final class Snapshot: CountingSnapshot {
        override func notices(
            _ keys: NoticeKeys, after number: NoticeNumber, limit: Int
        ) throws -> [StoredNotice] {
            try super.notices(keys, after: number, limit: limit).flatMap { [$0, $0] }
        }
    }

    let store: any Store

    init(_ store: any Store) { self.store = store }

    func read<Value>(
        _ load: ReadLoad, _ body: (any StoreSnapshot) throws -> Value
    ) throws -> Value {
        try store.read(load) { try body(Snapshot($0, Questions())) }
    }
}

/// Takes notices and never says what has come of them.
private final class SilentSender: NoticeSender {
    let noticesAtOncePerDestinationMax = 10
    let sent = Mutex<[String]>([])

    func send(_ notice: OutgoingNotice, then: @escaping @Sendable (DeliveryOutcome) -> Void) {
        sent.withLock { $0.append(notice.notice.identifier) }
    }
}

@Suite("What must hold of the outbox")
struct OutboxInvariantTests {
    @Test("No notice is sent twice at once: a store that hands one out twice is told of")
    func onceAtATime() throws {
        let bench = try QuestionBench()
        try bench.counted.writeAndWait { transaction in
            let hook = try transaction.register(
                NewDestination(kind: .webhook, key: Array("hook".utf8), user: nil))
            _ = try transaction.enqueue(
                NewNotice(
                    destination: hook, identifier: "one", scope: .public, payload: [123, 125]),
                countedMax: 0)
        }
        let sender = SilentSender()
        let told = Mutex<[String]>([])
        let reported = DispatchSemaphore(value: 0)
        var options = OutboxRunner.Options(
            senders: [.webhook: sender], clock: Clock { 1_767_225_600_000 }
        ) { _, _, _ in true }
        options.report = { error in
            told.withLock { $0.append("\(error)") }
            reported.signal()
        }
        let store = RepeatingStore(bench.counted)
        let runner = OutboxRunner(
            store, of: try #require(ContainerID("iCloud.outbox")), in: .development, options)
        runner.wake()
        #expect(reported.wait(timeout: .now() + 60) == .success)
        runner.stop()
        #expect(told.withLock { $0.first?.contains("one attempt at a time") } == true)
        #expect(sender.sent.withLock { $0 } == ["one"])
    }
}
