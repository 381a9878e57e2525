import CloudModel
import Dispatch
import Fairness
import Synchronization
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

@Suite("Threads shared out among callers")
struct WorkPoolTests {
    /// What happened, in order.
    private final class Story: Sendable {
        private let words = Mutex<[String]>([])

        /// - Returns: how many words there are.
        @discardableResult
        func add(_ word: String) -> Int {
            words.withLock { words in
                words.append(word)
                return words.count
            }
        }

        var told: [String] { words.withLock { $0 } }
    }

    /// Work that holds its thread until it is let go.
    private final class Blocker: Sendable {
        let begun = DispatchSemaphore(value: 0)
        let end = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)

        func run() {
            begun.signal()
            end.wait()
            ended.signal()
        }
    }

    private static func isSignalled(_ semaphore: DispatchSemaphore) -> Bool {
        semaphore.wait(timeout: .now() + 60) == .success
    }

    private static func options(
        _ change: (inout WorkOptions) -> Void = { _ in }
    ) -> WorkOptions {
        var options = WorkOptions()
        change(&options)
        return options
    }

    @Test("Threads of short work stand behind others as far as they are told to")
    func niceness() throws {
        let found = Mutex<[Int32]>([])
        for niceness: Int32 in [3, 11] {
            let pool = WorkPool<String>(
                name: "test", Self.options { $0.shortNiceness = niceness })
            let done = DispatchSemaphore(value: 0)
            try pool.submit(.short, for: "ida") {
                // Of the calling thread alone, on Linux.
                found.withLock { $0.append(getpriority(__priority_which_t(0), 0)) }
                done.signal()
            }
            #expect(Self.isSignalled(done))
        }
        let own = getpriority(__priority_which_t(0), 0)
        #if os(Linux)
            #expect(found.withLock { $0 } == [max(own, 3), max(own, 11)])
        #endif
    }

    @Test("A caller holds half of the threads at most, and another one's work begins at once")
    func half() throws {
        let pool = WorkPool<String>(
            name: "test", Self.options { $0.longNanoseconds = 60_000_000_000 })
        let blockers = (0..<4).map { _ in Blocker() }
        for blocker in blockers { try pool.submit(.short, for: "eve") { blocker.run() } }
        #expect(Self.isSignalled(blockers[0].begun))
        #expect(Self.isSignalled(blockers[1].begun))
        let done = DispatchSemaphore(value: 0)
        try pool.submit(.short, for: "ida") { done.signal() }
        #expect(Self.isSignalled(done))
        #expect(pool.counts.waiting == 2)
        for blocker in blockers { blocker.end.signal() }
        for blocker in blockers { #expect(Self.isSignalled(blocker.ended)) }
    }

    @Test("Work that holds all short threads too long goes on elsewhere, and what waits begins")
    func moved() throws {
        let pool = WorkPool<String>(name: "test")
        let blockers = (0..<4).map { _ in Blocker() }
        for (number, blocker) in blockers.enumerated() {
            try pool.submit(.short, for: "eve\(number)") { blocker.run() }
            #expect(Self.isSignalled(blocker.begun))
        }
        let done = DispatchSemaphore(value: 0)
        try pool.submit(.short, for: "ida") { done.signal() }
        #expect(Self.isSignalled(done))
        #expect(pool.counts.moved > 0)
        for blocker in blockers { blocker.end.signal() }
    }

    @Test("Long work without a thread to go on with is told to end")
    func room() throws {
        let pool = WorkPool<String>(
            name: "test",
            Self.options {
                ($0.shortThreads, $0.longThreads) = (1, 1)
            })
        let holder = Blocker()
        try pool.submit(.long, for: "eve") { holder.run() }
        #expect(Self.isSignalled(holder.begun))
        let (stop, stopped) = (StopSignal(), DispatchSemaphore(value: 0))
        try pool.submit(.short, for: "eve", stop: stop) {
            while !stop.isStopped { usleep(100) }
            #expect(throws: WorkStopped(.makesRoom)) { try stop.check() }
            stopped.signal()
        }
        let done = DispatchSemaphore(value: 0)
        try pool.submit(.short, for: "ida") { done.signal() }
        #expect(Self.isSignalled(stopped))
        #expect(Self.isSignalled(done))
        holder.end.signal()
    }

    @Test("Who has used less time comes first, however much the others have waiting")
    func time() throws {
        let pool = WorkPool<String>(
            name: "test",
            Self.options {
                $0.shortThreads = 1
                $0.longNanoseconds = 60_000_000_000
            })
        let (first, story) = (Blocker(), Story())
        try pool.submit(.short, for: "eve") { first.run() }
        #expect(Self.isSignalled(first.begun))
        let done = DispatchSemaphore(value: 0)
        for _ in 0..<20 {
            try pool.submit(.short, for: "eve") {
                usleep(10_000)
                if story.add("eve") == 25 { done.signal() }
            }
        }
        for _ in 0..<5 {
            // Nobody is woken by it, who would take the processor from it and so make it long.
            try pool.submit(.short, for: "ida") { if story.add("ida") == 25 { done.signal() } }
        }
        first.end.signal()
        #expect(Self.isSignalled(done))
        // Those of Ida take no time: one of Eve's was ahead of them at most.
        #expect(story.told.prefix(7).filter { $0 == "ida" }.count == 5, "\(story.told)")
    }

    @Test("What is abandoned before it begins never does")
    func abandoned() throws {
        let pool = WorkPool<String>(
            name: "test",
            Self.options {
                $0.shortThreads = 1
                $0.longNanoseconds = 60_000_000_000
            })
        let (first, story, stop) = (Blocker(), Story(), StopSignal())
        try pool.submit(.short, for: "eve") { first.run() }
        #expect(Self.isSignalled(first.begun))
        try pool.submit(.short, for: "eve", stop: stop, drop: { story.add("dropped") }) {
            story.add("begun")
        }
        let done = DispatchSemaphore(value: 0)
        try pool.submit(.short, for: "eve") { done.signal() }
        stop.stop(.abandoned)
        first.end.signal()
        #expect(Self.isSignalled(done))
        #expect(story.told == ["dropped"])
        #expect(pool.counts.dropped == 1)
    }

    @Test("Beyond its bounds a caller is refused, others are not; beyond the pool's all are")
    func bounds() throws {
        let pool = WorkPool<String>(
            name: "test",
            Self.options {
                ($0.shortThreads, $0.waitingPerPrincipalMax, $0.waitingMax) = (1, 2, 3)
                $0.longNanoseconds = 60_000_000_000
            })
        let first = Blocker()
        try pool.submit(.short, for: "eve") { first.run() }
        #expect(Self.isSignalled(first.begun))
        let done = DispatchSemaphore(value: 0)
        for _ in 0..<2 { try pool.submit(.short, for: "eve") { done.signal() } }
        #expect(throws: WorkRefusal.principalIsFull) { try pool.submit(.short, for: "eve") {} }
        try pool.submit(.short, for: "ida") { done.signal() }
        #expect(throws: WorkRefusal.poolIsFull) { try pool.submit(.short, for: "max") {} }
        // What was admitted before goes on.
        try pool.submit(.short, for: "eve", isAdmitted: true) { done.signal() }
        #expect(pool.counts.refused == 2)
        first.end.signal()
        for _ in 0..<4 { #expect(Self.isSignalled(done)) }
    }

    @Test("What waits in a pool that ends is dropped")
    func closed() throws {
        let (first, story) = (Blocker(), Story())
        let dropped = DispatchSemaphore(value: 0)
        do {
            let pool = WorkPool<String>(name: "test", Self.options { $0.commitThreads = 1 })
            try pool.submit(.commits, for: "eve") { first.run() }
            #expect(Self.isSignalled(first.begun))
            try pool.submit(.commits, for: "eve", drop: { dropped.signal() }) {
                story.add("begun")
            }
        }
        #expect(Self.isSignalled(dropped))
        first.end.signal()
        #expect(Self.isSignalled(first.ended))
        #expect(story.told == [])
    }
}
