import Awaiting
import Network
import Synchronization
import Testing

#if canImport(Glibc)
    import Glibc
#endif

@Suite("An event loop")
struct EventLoopTests {
    @Test("Work posted from many threads runs on the loop's thread, all of it, in order")
    func runsPostedWork() throws {
        let loop = try EventLoop(index: 0)
        try loop.start()
        let (left, isDone) = (Counter(4_000), Awaited<Bool>())
        let seen = Mutex<[Int: [Int]]>([:])
        let isElsewhere = Atomic(false)
        let threads = (0..<4).map { _ in Thread() }
        for (number, thread) in threads.enumerated() {
            try thread.start(name: "poster") {
                for item in 0..<1000 {
                    loop.post {
                        if !loop.isCurrent { isElsewhere.store(true, ordering: .relaxed) }
                        seen.withLock { $0[number, default: []].append(item) }
                        if left.countDown() == 0 { isDone.tell(true) }
                    }
                }
            }
        }
        for thread in threads { thread.join() }
        _ = try isDone.value()
        loop.stopAndJoin()
        let wasElsewhere = isElsewhere.load(ordering: .relaxed)
        #expect(!wasElsewhere)
        #expect(seen.withLock { $0.values.allSatisfy { $0 == Array(0..<1000) } })
    }

    @Test("Work posted by the loop itself runs without anything else waking it")
    func runsItsOwnWork() throws {
        let loop = try EventLoop(index: 0)
        try loop.start()
        let isDone = Awaited<Bool>()
        loop.post { loop.post { loop.post { isDone.tell(true) } } }
        _ = try isDone.value()
        loop.stopAndJoin()
    }

    private final class Counter: Sendable {
        private let left: Atomic<Int>

        init(_ count: Int) { left = Atomic(count) }

        func countDown() -> Int {
            left.subtract(1, ordering: .acquiringAndReleasing).newValue
        }
    }
}

#if os(Linux)
    @Suite("An event loop and processes in the making")
    struct CopiedDescriptorTests {
        private final class Handler: SocketHandler, Sendable {
            private let count = Atomic(0)
            var callCount: Int { count.load(ordering: .acquiring) }

            func ready(_ readiness: Readiness) { count.add(1, ordering: .acquiringAndReleasing) }
            func sweep(now: UInt64) {}
        }

        private static func pair() -> [Int32] {
            var ends: [Int32] = [0, 0]
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
            return ends
        }

        /// Runs work on the loop's thread, and waits until the loop has looked at its descriptors after that.
        private static func run(
            on loop: EventLoop, _ work: @escaping @Sendable () -> Void
        ) throws {
            let isDone = Awaited<Bool>()
            loop.post {
                work()
                loop.post { loop.post { isDone.tell(true) } }
            }
            _ = try isDone.value()
        }

        /// Notes how much posted work was done whenever the loop looked at a descriptor.
        private final class Witness: SocketHandler, Sendable {
            let doneCount = Atomic(0)
            let seen = Mutex<[Int]>([])

            func ready(_ readiness: Readiness) {
                let count = doneCount.load(ordering: .relaxed)
                seen.withLock { $0.append(count) }
            }
            func sweep(now: UInt64) {}
        }

        @Test("Descriptors are looked at between pieces of much posted work")
        func turns() throws {
            let loop = try EventLoop(index: 0)
            try loop.start()
            let ends = Self.pair()
            defer { for end in ends { close(end) } }
            _ = write(ends[1], "x", 1)
            let (witness, isDone) = (Witness(), Awaited<Bool>())
            loop.post {
                #expect(throws: Never.self) {
                    try loop.register(ends[0], witness, interest: .readable)
                }
                for _ in 0..<1_000 {
                    loop.post { witness.doneCount.add(1, ordering: .relaxed) }
                }
                loop.post { isDone.tell(true) }
            }
            _ = try isDone.value()
            loop.stopAndJoin()
            #expect(witness.seen.withLock { $0.contains { 0 < $0 && $0 < 1_000 } })
        }

        @Test("Descriptors are looked at once posted work has taken two milliseconds")
        func longWork() throws {
            let (witness, isDone) = (Witness(), Awaited<Bool>())
            // Each piece takes a millisecond.
            let clock = MonotonicClock { UInt64(witness.doneCount.load(ordering: .relaxed)) }
            let loop = try EventLoop(index: 0, clock: clock)
            try loop.start()
            let ends = Self.pair()
            defer { for end in ends { close(end) } }
            _ = write(ends[1], "x", 1)
            loop.post {
                #expect(throws: Never.self) {
                    try loop.register(ends[0], witness, interest: .readable)
                }
                for _ in 0..<10 {
                    loop.post { witness.doneCount.add(1, ordering: .relaxed) }
                }
                loop.post { isDone.tell(true) }
            }
            _ = try isDone.value()
            loop.stopAndJoin()
            #expect(witness.seen.withLock { Array($0.prefix(3)) } == [0, 2, 4])
        }

        @Test("A closed descriptor says nothing more, also where a child has a copy of it")
        func copied() throws {
            let loop = try EventLoop(index: 0)
            try loop.start()
            let (old, new) = (Self.pair(), Self.pair())
            // What is closed leaves its number to another.
            let number = old[0]
            // As a child has it from its fork until it runs its program.
            let copy = dup(number)
            defer { for end in [number, copy, old[1], new[0], new[1]] { close(end) } }
            let (first, second) = (Handler(), Handler())
            try Self.run(on: loop) {
                #expect(throws: Never.self) {
                    try loop.register(number, first, interest: .readable)
                    loop.deregister(number)
                    dup2(new[0], number)
                    try loop.register(number, second, interest: .readable)
                }
            }
            _ = write(old[1], "x", 1)
            try Self.run(on: loop) {}
            #expect(first.callCount == 0 && second.callCount == 0)
            _ = write(new[1], "x", 1)
            try Self.run(on: loop) {}
            #expect(second.callCount > 0)
            loop.stopAndJoin()
        }
    }
#endif

@Suite("A listen address")
struct ListenAddressTests {
    @Test(
        "Reads what it prints",
        arguments: ["127.0.0.1:8080", "[::1]:0", "localhost:65535", "unix:/run/a.sock"])
    func readsBack(text: String) {
        #expect(ListenAddress(text)?.description == text)
    }

    @Test(
        "Refuses what is none",
        arguments: [
            "", "8080", "host:", ":80", "host:65536", "host:+1", "host:-1", "::1:80", "unix:",
            "[]:80", "host:80 ",
        ])
    func refuses(text: String) {
        #expect(ListenAddress(text) == nil)
    }
}
