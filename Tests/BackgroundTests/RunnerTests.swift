import Awaiting
import Background
import Dispatch
import Synchronization
import Testing

/// When somebody looks for something to do.
@Suite("Runners")
struct RunnerTests {
    private struct Broken: Error {}

    /// Time as a test has it: what is to run later runs when the test says so.
    private final class ManualTime: Sendable {
        private typealias Entry = (nanoseconds: UInt64, run: @Sendable () -> Void)

        private let entries = Mutex<[Entry]>([])

        var alarm: Alarm {
            Alarm { [self] queue, nanoseconds, action in
                entries.withLock { $0.append((nanoseconds, { queue.async(execute: action) })) }
            }
        }

        /// What is waited for, in the order in which it was asked.
        var waits: [UInt64] { entries.withLock { $0.map(\.nanoseconds) } }

        /// Lets the time come that was asked for first.
        func passFirst() { entries.withLock { $0.removeFirst() }.run() }
    }

    /// What a runner does, one look after the other as a test says.
    private final class Looks: Sendable {
        private let script: Mutex<[Result<Runner.Next, Broken>]>
        private let done = Mutex(0)

        init(_ script: [Result<Runner.Next, Broken>]) { self.script = Mutex(script) }

        var count: Int { done.withLock { $0 } }

        func look() throws -> Runner.Next {
            defer { done.withLock { $0 += 1 } }
            return try script.withLock { $0.isEmpty ? .success(.whenWoken) : $0.removeFirst() }
                .get()
        }
    }

    private final class Reports: Sendable {
        let count = Atomic(0)
    }

    private let time = ManualTime()
    private let reports = Reports()

    private func runner(_ looks: Looks) -> Runner {
        let runner = Runner(
            "test", backoff: Backoff(first: 1_000, longest: 4_000) { .max }, alarm: time.alarm
        ) { [reports] _ in reports.count.add(1, ordering: .relaxed) }
        runner.use { try looks.look() }
        return runner
    }

    /// Waits until so many looks are over, and the runner rests.
    private func rest(_ runner: Runner, _ looks: Looks, after count: Int) throws {
        try Wait.until { looks.count == count && !runner.isBusy }
    }

    @Test("It looks when it is woken, and once more when that was during a look")
    func waking() throws {
        let (began, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let count = Mutex(0)
        let runner = Runner("test")
        runner.use {
            if count.withLock({ $0 }) == 0 {
                began.signal()
                goesOn.wait()
            }
            count.withLock { $0 += 1 }
            return .whenWoken
        }
        #expect(!runner.isBusy)
        runner.wake()
        began.wait()
        #expect(runner.isBusy)
        for _ in 0..<10 { runner.wake() }
        goesOn.signal()
        try Wait.until { count.withLock { $0 } == 2 && !runner.isBusy }
        runner.wake()
        try Wait.until { count.withLock { $0 } == 3 && !runner.isBusy }
        runner.stop()
    }

    @Test("It looks again when its time has come, or earlier when it is woken, and then not twice")
    func later() throws {
        let looks = Looks([
            .success(.later(milliseconds: 5)), .success(.later(milliseconds: 7)),
            .success(.whenWoken),
        ])
        let runner = runner(looks)
        runner.wake()
        try rest(runner, looks, after: 1)
        try Wait.until { time.waits == [5_000_000] }
        time.passFirst()
        try rest(runner, looks, after: 2)
        try Wait.until { time.waits == [7_000_000] }
        runner.wake()
        try rest(runner, looks, after: 3)
        time.passFirst()
        // The time that was waited for before the wake is nobody's any more.
        runner.stop()
        #expect(looks.count == 3)
    }

    @Test("Nothing cuts a pause short")
    func pause() throws {
        let looks = Looks([.success(.afterPause(nanoseconds: 3))])
        let runner = runner(looks)
        runner.wake()
        try Wait.until { time.waits == [3] }
        runner.wake()
        #expect(runner.isBusy)
        time.passFirst()
        try rest(runner, looks, after: 2)
        runner.stop()
    }

    @Test("It waits longer after each failure, tells the first, and begins anew after a success")
    func failures() throws {
        let broken = Result<Runner.Next, Broken>.failure(Broken())
        let looks = Looks([broken, broken, broken, broken, .success(.whenWoken), broken])
        let runner = runner(looks)
        runner.wake()
        for (index, wait) in [1_000, 2_000, 4_000, 4_000].enumerated() {
            try Wait.until { time.waits == [UInt64(wait) * 1_000_000] }
            #expect(looks.count == index + 1)
            // News does not make it look where a failure is to be waited out.
            runner.wake()
            time.passFirst()
        }
        try rest(runner, looks, after: 5)
        #expect(reports.count.load(ordering: .relaxed) == 1)
        runner.wake()
        try Wait.until { time.waits == [1_000_000_000] }
        #expect(reports.count.load(ordering: .relaxed) == 2)
        runner.stop()
    }

    @Test("What is done elsewhere says itself when the next look begins")
    func open() throws {
        let looks = Looks([.success(.open), .success(.open)])
        let runner = runner(looks)
        runner.wake()
        try Wait.until { looks.count == 1 }
        #expect(runner.isBusy)
        runner.goOn(.afterPause(nanoseconds: 0))
        try Wait.until { looks.count == 2 }
        runner.goOn(.whenWoken)
        #expect(!runner.isBusy)
        runner.stop()
    }

    @Test("After a stop it does not look, whatever time comes and whoever wakes it")
    func stopping() throws {
        let looks = Looks([.success(.later(milliseconds: 5))])
        let runner = runner(looks)
        runner.wake()
        try rest(runner, looks, after: 1)
        runner.stop()
        #expect(runner.isStopped)
        time.passFirst()
        runner.wake()
        runner.goOn(.afterPause(nanoseconds: 0))
        runner.stop()
        #expect(looks.count == 1 && !runner.isBusy)
    }
}
