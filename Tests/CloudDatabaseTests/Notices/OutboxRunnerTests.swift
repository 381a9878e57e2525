import CloudModel
import Delivery
import Dispatch
import Foundation
import SQLiteStorage
import Storage
import Synchronization
import Testing

/// What waits in the outbox comes to the senders, and what comes of it is kept.
@Suite("The outbox and its senders")
struct OutboxRunnerTests {
    private static let container = ContainerID("iCloud.outbox")

    private static let clock = Clock { 1_700_000_000_000 }

    private let server: NoticedStore

    init() throws { server = try NoticedStore() }

    /// Does what a test says with each notice, and tells what it was handed.
    private final class ScriptedSender: NoticeSender {
        typealias Answer = @Sendable (OutgoingNotice) -> DeliveryOutcome?

        let noticesAtOncePerDestinationMax: Int
        private let answer: Answer
        private let handed = Mutex<[String]>([])
        private let arrived = DispatchSemaphore(value: 0)

        /// - Parameter answer: nil leaves a notice under way for ever.
        init(atOnce: Int = 1, _ answer: @escaping Answer) {
            noticesAtOncePerDestinationMax = atOnce
            self.answer = answer
        }

        func send(
            _ notice: OutgoingNotice, then: @escaping @Sendable (DeliveryOutcome) -> Void
        ) {
            handed.withLock { $0.append(notice.notice.identifier) }
            arrived.signal()
            if let outcome = answer(notice) { then(outcome) }
        }

        /// The identifiers of the first notices that were handed over.
        func first(_ count: Int) throws -> [String] {
            for _ in 0..<count {
                try #require(arrived.wait(timeout: .now() + 60) == .success, "no further notice")
            }
            return handed.withLock { Array($0.prefix(count)) }
        }

        var all: [String] { handed.withLock { $0 } }
    }

    private func webhook(_ name: String) throws -> DestinationNumber {
        try server.store.writeAndWait {
            try $0.register(
                NewDestination(kind: .webhook, key: Array(name.utf8), user: nil))
        }
    }

    private func put(_ identifiers: String..., for destination: DestinationNumber) throws {
        try server.store.writeAndWait { transaction in
            for identifier in identifiers {
                _ = try transaction.enqueue(
                    NewNotice(
                        destination: destination, identifier: identifier, scope: .public,
                        payload: Array("{}".utf8)), countedMax: 0)
            }
        }
    }

    private func runner(
        _ sender: any NoticeSender, change: (inout OutboxRunner.Options) -> Void = { _ in }
    ) throws -> OutboxRunner {
        var options = OutboxRunner.Options(
            senders: [.webhook: sender, .apns: sender], clock: Self.clock
        ) { _, _, _ in true }
        change(&options)
        let runner = OutboxRunner(
            server.store, of: try #require(Self.container), in: .development, options)
        runner.wake()
        return runner
    }

    private func waiting(_ destination: DestinationNumber) throws -> [String] {
        try server.store.read {
            try $0.notices(for: destination, after: NoticeNumber(0), limit: 100).map(\.identifier)
        }
    }

    /// Waits, for a minute at most, until the store is as it should be.
    private func until(_ isSo: () throws -> Bool) throws {
        let deadline = DispatchTime.now() + 60
        while try !isSo() {
            try #require(DispatchTime.now() < deadline, "it does not come about")
            sched_yield()
        }
    }

    @Test("What waits is handed over in order, once, and goes when it was taken")
    func order() throws {
        let hook = try webhook("a")
        try put("1", "2", for: hook)
        let sender = ScriptedSender { _ in .delivered }
        let runner = try runner(sender)
        defer { runner.stop() }
        try put("3", for: hook)
        #expect(try sender.first(3) == ["1", "2", "3"])
        try until { try waiting(hook).isEmpty }
        #expect(sender.all == ["1", "2", "3"])
    }

    @Test("A destination that hangs delays no other")
    func hanging() throws {
        let (dead, alive) = (try webhook("dead"), try webhook("alive"))
        try put("d1", "d2", for: dead)
        let sender = ScriptedSender { $0.destination.number == dead ? nil : .delivered }
        let runner = try runner(sender)
        defer { runner.stop() }
        for index in 0..<20 { try put("a\(index)", for: alive) }
        try until { try waiting(alive).isEmpty }
        #expect(try waiting(dead) == ["d1", "d2"])
        #expect(sender.all.filter { $0.hasPrefix("d") } == ["d1"])
    }

    @Test("A destination whose session has ended is sent nothing, and goes with what waits for it")
    func ended() throws {
        let (over, alive) = (try webhook("over"), try webhook("alive"))
        let sender = ScriptedSender { _ in .delivered }
        let runner = try runner(sender) { $0.hasEnded = { $0.number == over } }
        defer { runner.stop() }
        try put("1", for: over)
        try until { try server.store.read { try $0.destination(over) } == nil }
        try put("2", for: alive)
        #expect(try sender.first(1) == ["2"])
        #expect(try waiting(over).isEmpty)
    }

    @Test("What no sender is set up for holds up nothing else, however much of it there is")
    func withoutSender() throws {
        let devices = try (0..<4).map { number in
            try server.store.writeAndWait {
                try $0.register(
                    NewDestination(
                        kind: .webPush, key: [UInt8(number)], user: UserRecordName("_u")))
            }
        }
        for device in devices { try put("p", for: device) }
        let hook = try webhook("a")
        try put("1", for: hook)
        let sender = ScriptedSender { _ in .delivered }
        let runner = try runner(sender) { $0.atOnceMax = 2 }
        defer { runner.stop() }
        #expect(try sender.first(1) == ["1"])
    }

    @Test("A destination that hangs keeps no other from being tried again in time")
    func retries() throws {
        let now = Mutex(Self.clock.now())
        let (dead, busy) = (try webhook("dead"), try webhook("busy"))
        let sender = ScriptedSender {
            $0.destination.number == dead ? nil : .later(reason: "busy", seconds: 1)
        }
        let runner = try runner(sender) { $0.clock = Clock { now.withLock { $0 } } }
        defer { runner.stop() }
        try put("d", for: dead)
        #expect(try sender.first(1) == ["d"])
        try put("b", for: busy)
        try until { try server.store.read { try $0.destination(busy)?.failures } == 1 }
        now.withLock { $0 += 60_000 }
        #expect(try sender.first(2) == ["d", "b"])
        try until { try server.store.read { try $0.destination(busy)?.failures } == 2 }
    }

    @Test("A failure leaves the notice, and the destination is left alone for a growing time")
    func later() throws {
        let hook = try webhook("a")
        try put("1", for: hook)
        let sender = ScriptedSender { _ in .later(reason: "busy", seconds: 60) }
        let runner = try runner(sender)
        #expect(try sender.first(1) == ["1"])
        try until { try server.store.read { try $0.destination(hook)?.failures } == 1 }
        runner.stop()
        let next = try #require(try server.store.read { try $0.nextDestinationMoment(after: 0) })
        #expect(next >= Self.clock.now() + 60_000)
        #expect(try waiting(hook) == ["1"])
    }

    @Test("What is refused becomes a dead letter, which is replayed; what is too old as well")
    func dead() throws {
        let hook = try webhook("a")
        try put("1", "2", for: hook)
        let sender = ScriptedSender { notice in
            notice.notice.identifier == "1" ? .refused(reason: "400") : .later(reason: "500")
        }
        let runner = try runner(sender) { $0.lifeMilliseconds = 0 }
        try until { try waiting(hook).isEmpty }
        let letters = try server.store.read {
            try $0.notices(.dead(hook), after: NoticeNumber(0), limit: 10)
        }
        #expect(letters.map(\.identifier) == ["1", "2"])
        #expect(letters.map(\.end?.reason) == ["400", "500"])
        runner.stop()
        #expect(
            try server.store.writeAndWait { try $0.replayDeadLetters(of: hook, limit: 10) } == 2)
        #expect(try waiting(hook) == ["1", "2"])
    }
}
