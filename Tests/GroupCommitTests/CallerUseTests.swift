import Dispatch
import Synchronization
import Testing

@testable import GroupCommit

@Suite("Callers of the writer who hold others up")
struct CallerUseTests {
    private static let greedy: UInt64 = 7
    private static let quiet: UInt64 = 8

    /// A writer whose time passes in jobs alone, and the order in which they ran.
    private final class Bench: Sendable {
        let committer: GroupCommitter
        private let ran = Mutex<[String]>([])
        private let moment: Moment

        final class Moment: Sendable {
            private let value = Atomic<UInt64>(1)
            var now: UInt64 { value.load(ordering: .relaxed) }
            func advance(milliseconds: UInt64) {
                value.wrappingAdd(milliseconds * 1_000_000, ordering: .relaxed)
            }
        }

        init() {
            let moment = Moment()
            self.moment = moment
            var options = GroupOptions()
            options.now = { moment.now }
            committer = GroupCommitter(ListEngine(), options: options) { _ in }
        }

        var order: [String] { ran.withLock { $0 } }

        /// Hands in a job that takes so long, and perhaps does something.
        func submit(
            _ name: String, by caller: UInt64, milliseconds: UInt64, bytes: Int = 0,
            to done: DispatchGroup,
            then: @escaping @Sendable () -> Void = {}
        ) {
            done.enter()
            committer.submit(bytes: bytes, caller: caller) { [self] in
                ran.withLock { $0.append(name) }
                moment.advance(milliseconds: milliseconds)
                then()
            } completion: { [self] _ in
                ran.withLock { $0.append("\(name) done") }
                done.leave()
            }
        }

        /// Hands jobs in while the writer is held, and waits for all.
        func together(_ submit: (DispatchGroup) -> Void) throws {
            let gate = DispatchSemaphore(value: 0)
            let done = DispatchGroup()
            committer.betweenGroups { gate.wait() }
            submit(done)
            gate.signal()
            try #require(done.wait(timeout: .now() + 60) == .success)
        }

        func pass(milliseconds: UInt64) { moment.advance(milliseconds: milliseconds) }
    }

    @Test("Who is held up is committed before those who hold them up are begun")
    func sharedGroup() throws {
        let bench = Bench()
        try bench.together { bench.submit("before", by: Self.greedy, milliseconds: 60, to: $0) }
        try bench.together {
            bench.submit("greedy 1", by: Self.greedy, milliseconds: 1, to: $0)
            bench.submit("greedy 2", by: Self.greedy, milliseconds: 1, to: $0)
            bench.submit("quiet", by: Self.quiet, milliseconds: 1, to: $0)
        }
        #expect(
            bench.order == [
                "before", "before done", "quiet", "quiet done", "greedy 1", "greedy 2",
                "greedy 1 done", "greedy 2 done",
            ])
    }

    @Test("A group ends when somebody comes whom its callers hold up")
    func arrival() throws {
        let bench = Bench()
        try bench.together { bench.submit("before", by: Self.greedy, milliseconds: 60, to: $0) }
        try bench.together { done in
            bench.submit("greedy 1", by: Self.greedy, milliseconds: 3, to: done) {
                bench.submit("quiet", by: Self.quiet, milliseconds: 1, to: done)
            }
            bench.submit("greedy 2", by: Self.greedy, milliseconds: 3, to: done)
        }
        #expect(
            bench.order.filter { !$0.hasSuffix("done") } == [
                "before", "greedy 1", "quiet", "greedy 2",
            ])
    }

    @Test("Those who have used about as much share a group, and so do those who used little")
    func equals() throws {
        let bench = Bench()
        try bench.together {
            bench.submit("greedy", by: Self.greedy, milliseconds: 60, to: $0)
            bench.submit("as greedy", by: Self.quiet, milliseconds: 12, to: $0)
        }
        func shared() throws -> Bool {
            let before = bench.order.count
            try bench.together {
                bench.submit("a", by: Self.greedy, milliseconds: 0, to: $0)
                bench.submit("b", by: Self.quiet, milliseconds: 0, to: $0)
            }
            return Array(bench.order[before...]) == ["a", "b", "a done", "b done"]
        }
        #expect(try shared())
        // What was used long ago counts for nothing.
        bench.pass(milliseconds: 20_000)
        #expect(try shared())
    }

    @Test("Those who are held back wait while somebody is about whom they hold up")
    func heldBack() throws {
        let bench = Bench()
        try bench.together { bench.submit("before", by: Self.greedy, milliseconds: 60, to: $0) }
        try bench.together { bench.submit("about", by: Self.quiet, milliseconds: 1, to: $0) }
        let isHeld = DispatchSemaphore(value: 0)
        bench.committer.holdBackHeavy { isHeld.signal() }
        isHeld.wait()
        let greedy = DispatchGroup()
        bench.submit("greedy", by: Self.greedy, milliseconds: 1, to: greedy)
        try bench.together { bench.submit("quiet 1", by: Self.quiet, milliseconds: 1, to: $0) }
        try bench.together { bench.submit("quiet 2", by: Self.quiet, milliseconds: 1, to: $0) }
        #expect(!bench.order.contains("greedy"))
        bench.committer.letHeavyGoOn()
        try #require(greedy.wait(timeout: .now() + 60) == .success)
        #expect(bench.order.suffix(4) == ["quiet 2", "quiet 2 done", "greedy", "greedy done"])
    }

    @Test("Nobody is held back while nobody else is about, nor when the committer closes")
    func heldBackAlone() throws {
        let bench = Bench()
        try bench.together { bench.submit("before", by: Self.greedy, milliseconds: 60, to: $0) }
        bench.committer.holdBackHeavy {}
        try bench.together { bench.submit("greedy 1", by: Self.greedy, milliseconds: 60, to: $0) }
        try bench.together { bench.submit("about", by: Self.quiet, milliseconds: 1, to: $0) }
        let last = DispatchGroup()
        bench.submit("greedy 2", by: Self.greedy, milliseconds: 1, to: last)
        bench.committer.close()
        try #require(last.wait(timeout: .now() + 60) == .success)
        #expect(bench.order.suffix(2) == ["greedy 2", "greedy 2 done"])
        // A second after the last write of those others they are not about any more.
        let later = Bench()
        try later.together {
            later.submit("before", by: Self.greedy, milliseconds: 200, to: $0)
            later.submit("about", by: Self.quiet, milliseconds: 1, to: $0)
        }
        later.committer.holdBackHeavy {}
        later.pass(milliseconds: 1_001)
        try later.together { later.submit("greedy", by: Self.greedy, milliseconds: 1, to: $0) }
    }

    @Test("A group of those who hold others up is short while these are about")
    func shortGroups() throws {
        let bench = Bench()
        try bench.together { bench.submit("before", by: Self.greedy, milliseconds: 60, to: $0) }
        func jobsOfFirstGroup() throws -> Int {
            let before = bench.order.count
            try bench.together { done in
                for number in 0..<12 {
                    bench.submit("\(number)", by: Self.greedy, milliseconds: 3, to: done)
                }
            }
            return bench.order[before...].prefix { !$0.hasSuffix("done") }.count
        }
        #expect(try jobsOfFirstGroup() == 7, "20 ms")
        try bench.together { bench.submit("about", by: Self.quiet, milliseconds: 1, to: $0) }
        #expect(try jobsOfFirstGroup() == 2, "5 ms")
        bench.pass(milliseconds: 1_000)
        #expect(try jobsOfFirstGroup() == 7)
    }

    @Test("Who is held up does not wait behind a job that leaves no room in its group")
    func largeJob() throws {
        let bench = Bench()
        try bench.together { bench.submit("before", by: Self.greedy, milliseconds: 60, to: $0) }
        try bench.together { done in
            bench.submit("large", by: Self.greedy, milliseconds: 9, bytes: 14_000_000, to: done)
            bench.submit("quiet", by: Self.quiet, milliseconds: 1, to: done)
        }
        #expect(bench.order.suffix(4) == ["quiet", "quiet done", "large", "large done"])
    }

    @Test("Of many callers only those are remembered who have used some of it lately")
    func many() {
        var use = CallerUse()
        use.note(Self.greedy, nanoseconds: 100_000_000, now: 1)
        for caller in 100..<10_000 { use.note(UInt64(caller), nanoseconds: 1, now: 2) }
        let bound = use.lightBound(beside: [Self.greedy], now: 2)
        #expect(bound.map { use.isLight(5_000, bound: $0, now: 2) } == true)
        #expect(bound.map { use.isLight(PendingJob.background, bound: $0, now: 2) } == false)
    }
}
