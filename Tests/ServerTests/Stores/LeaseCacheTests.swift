import Awaiting
import Dispatch
import Foundation
import Seeding
import Synchronization
import Testing

@testable import Server

@Suite("Values that come and go")
struct LeaseCacheTests {
    /// A value that must not be used once it is closed.
    private final class Value: Sendable {
        let key: Int
        let isClosed = Atomic(false)

        init(_ key: Int) { self.key = key }
    }

    /// What the actions of a cache have done.
    private final class Record: Sendable {
        struct State {
            var opened: [Int] = []
            var closed: [Int] = []
            var alive: [Int: Int] = [:]
            /// Keys of which there were two values at a time.
            var doubled: Set<Int> = []
            var openMost = 0
        }

        let state = Mutex(State())
        let busy = Mutex<Set<Int>>([])
        let time = Atomic<UInt64>(1_000)
        /// Keys whose opening, or closing, waits for the test.
        let gates = Mutex<[String: DispatchSemaphore]>([:])
        let entered = DispatchSemaphore(value: 0)

        func pass(_ gate: String) {
            guard let semaphore = gates.withLock({ $0[gate] }) else { return }
            entered.signal()
            semaphore.wait()
        }

        func gate(_ name: String) -> DispatchSemaphore {
            let semaphore = DispatchSemaphore(value: 0)
            gates.withLock { $0[name] = semaphore }
            return semaphore
        }

        func cache(countMax: Int, idleSeconds: Int = 60) -> LeaseCache<Int, Value> {
            LeaseCache(
                countMax: countMax, idleSeconds: idleSeconds,
                actions: LeaseCache.Actions(
                    open: { key in
                        self.pass("open \(key)")
                        self.state.withLock { state in
                            state.opened.append(key)
                            state.alive[key, default: 0] += 1
                            if state.alive[key] != 1 { state.doubled.insert(key) }
                            let count = state.alive.values.reduce(0, +)
                            state.openMost = max(state.openMost, count)
                        }
                        return Value(key)
                    },
                    close: { key, value, _ in
                        self.pass("close \(key)")
                        value.isClosed.store(true, ordering: .sequentiallyConsistent)
                        self.state.withLock { state in
                            state.closed.append(key)
                            state.alive[key, default: 0] -= 1
                        }
                    },
                    isBusy: { value in self.busy.withLock { $0.contains(value.key) } }),
                now: { self.time.load(ordering: .relaxed) })
        }

        var opened: [Int] { state.withLock { $0.opened } }
        var closed: [Int] { state.withLock { $0.closed } }

        func pass(seconds: UInt64) { time.add(seconds * 1_000_000_000, ordering: .relaxed) }
    }

    private let record = Record()

    private static var timeout: DispatchTime { .now() + .seconds(Wait.seconds) }

    @Test("All who ask at the same time get one value, and nobody is shown it before it is open")
    func once() throws {
        let cache = record.cache(countMax: 4)
        let gate = record.gate("open 1")
        let group = DispatchGroup()
        let box = Box()
        for _ in 0..<8 {
            group.enter()
            cache.open(1) { result in
                if let lease = try? result.get() { box.add(ObjectIdentifier(lease.value)) }
                group.leave()
            }
        }
        #expect(record.entered.wait(timeout: Self.timeout) == .success)
        #expect(cache.lease(1) == nil)
        gate.signal()
        #expect(group.wait(timeout: Self.timeout) == .success)
        #expect(box.values.count == 8)
        #expect(Set(box.values).count == 1)
        #expect(record.opened == [1])
    }

    @Test("Who asks for all that is open hears of what is being opened, too, once it is open")
    func eachOpen() throws {
        let cache = record.cache(countMax: 4)
        _ = try cache.wait(for: 2)
        let gate = record.gate("open 1")
        cache.open(1) { _ in }
        #expect(record.entered.wait(timeout: Self.timeout) == .success)
        let told = Box()
        cache.eachOpen { _, lease in
            told.add(ObjectIdentifier(lease.value))
        }
        #expect(told.values.count == 1)
        gate.signal()
        try until { told.values.count == 2 }
        #expect(Set(told.values) == Set(cache.open.map { ObjectIdentifier($0.value) }))
    }

    private final class Box: Sendable {
        private let stored: Mutex<[ObjectIdentifier]>

        init() { stored = Mutex([]) }

        var values: [ObjectIdentifier] { stored.withLock { $0 } }
        func add(_ value: ObjectIdentifier) { stored.withLock { $0.append(value) } }
    }

    @Test(
        "The longest unused is closed for another; what is leased or busy stays, beyond the limit too"
    )
    func surplus() throws {
        let cache = record.cache(countMax: 2)
        for key in [1, 2, 1] {
            _ = try cache.wait(for: key)
            // Who has opened it may hold it a moment longer than who asked.
            try until { cache.leaseCount(of: key) == 0 }
            record.pass(seconds: 1)
        }
        _ = try cache.wait(for: 3)
        try until(cache) { record.closed == [2] }
        let held = try cache.wait(for: 1)
        record.busy.withLock { $0 = [3] }
        try until { cache.leaseCount(of: 3) == 0 }
        _ = try cache.wait(for: 4)
        try until(cache) { record.closed == [2, 4] }
        let second = try cache.wait(for: 5)
        cache.closeSurplus()
        #expect(record.closed == [2, 4])
        #expect(Set(cache.open.map(\.key)) == [1, 3, 5])
        withExtendedLifetime((held, second)) {}
    }

    /// Leases end on the threads that have opened values, too.
    private func until(
        _ cache: LeaseCache<Int, Value>? = nil, _ isSo: () -> Bool
    ) throws {
        let end = Date().addingTimeInterval(60)
        while !isSo() {
            try #require(Date() < end, "waited in vain")
            cache?.closeSurplus()
            sched_yield()
        }
    }

    @Test("What is above the limit is closed soon after its last user has gone")
    func surplusInUse() throws {
        let cache = record.cache(countMax: 1)
        var held = try [1, 2, 3].map { try cache.wait(for: $0) }
        cache.closeSurplus()
        #expect(record.closed == [])
        held = []
        try until { cache.open.count == 1 }
        #expect(held.isEmpty)
    }

    @Test("What nobody has used for long is closed, and first what was opened for its own work")
    func idle() throws {
        let cache = record.cache(countMax: 9, idleSeconds: 60)
        _ = try cache.wait(for: 1)
        let held = try cache.wait(for: 2)
        _ = try cache.wait(for: 3, isIncidental: true)
        try until(cache) {
            cache.closeIdle()
            return record.closed == [3]
        }
        try until { cache.leaseCount(of: 1) == 0 }
        record.pass(seconds: 61)
        cache.closeIdle()
        #expect(record.closed == [3, 1])
        withExtendedLifetime(held) {}
    }

    @Test("Who asks for a value that is being closed gets a new one, opened after that")
    func closing() throws {
        let cache = record.cache(countMax: 1)
        let gate = record.gate("close 1")
        let first = try cache.wait(for: 1).value
        // Whoever has opened it may still hold a lease, from whose end on it would be idle.
        try until { cache.leaseCount(of: 1) == 0 }
        let closing = DispatchGroup()
        closing.enter()
        DispatchQueue(label: "test.closing").async { [record] in
            record.pass(seconds: 100)
            while record.closed.isEmpty { cache.closeIdle() }
            closing.leave()
        }
        #expect(record.entered.wait(timeout: Self.timeout) == .success)
        #expect(cache.lease(1) == nil)
        let asked = DispatchSemaphore(value: 0)
        let kept = HeldLease()
        cache.open(1) { result in
            kept.set(try? result.get())
            asked.signal()
        }
        #expect(record.opened == [1])
        gate.signal()
        #expect(asked.wait(timeout: Self.timeout) == .success)
        #expect(closing.wait(timeout: Self.timeout) == .success)
        #expect(record.opened == [1, 1])
        #expect({ first.isClosed.load(ordering: .sequentiallyConsistent) }())
        #expect(kept.value?.value.isClosed.load(ordering: .sequentiallyConsistent) == false)
        #expect(record.state.withLock { $0.doubled.isEmpty })
    }

    private final class HeldLease: Sendable {
        private let stored = Mutex<LeaseCache<Int, Value>.Lease?>(nil)

        var value: LeaseCache<Int, Value>.Lease? { stored.withLock { $0 } }
        func set(_ lease: LeaseCache<Int, Value>.Lease?) { stored.withLock { $0 = lease } }
    }

    @Test("While one is opened slowly, others are opened")
    func slow() throws {
        let cache = record.cache(countMax: 4)
        let gate = record.gate("open 1")
        let done = DispatchSemaphore(value: 0)
        cache.open(1) { _ in done.signal() }
        #expect(record.entered.wait(timeout: Self.timeout) == .success)
        #expect(try cache.wait(for: 2).value.key == 2)
        gate.signal()
        #expect(done.wait(timeout: Self.timeout) == .success)
    }

    @Test("Who takes a key has it alone: who asks for a value is refused until it is given back")
    func taking() throws {
        struct Gone: Error {}
        let cache = record.cache(countMax: 4)
        let held = try cache.wait(for: 1)
        #expect(cache.take(1, refusing: Gone())?.key == 1)
        #expect(throws: Gone.self) { try cache.wait(for: 1) }
        #expect(cache.lease(1) == nil)
        cache.give(back: 1)
        #expect(try cache.wait(for: 1).value !== held.value)
        #expect(cache.take(9, refusing: Gone()) == nil)
        cache.closeAll()
        #expect(throws: (any Error).self) { try cache.wait(for: 2) }
    }

    @Test("Two who take a key have it one after the other, and none is refused")
    func takingByTurns() {
        struct Gone: Error {}
        let cache = record.cache(countMax: 4)
        let alone = Atomic(0)
        let threads = DispatchGroup()
        for _ in 0..<8 {
            DispatchQueue(label: "test.leases").async(group: threads) {
                for _ in 0..<200 {
                    _ = cache.take(1, refusing: Gone())
                    #expect(alone.add(1, ordering: .sequentiallyConsistent).newValue == 1)
                    sched_yield()
                    alone.subtract(1, ordering: .sequentiallyConsistent)
                    cache.give(back: 1)
                }
            }
        }
        #expect(threads.wait(timeout: Self.timeout) == .success)
    }

    @Test("A failed opening is told to all who asked, and tried anew by the next")
    func failure() throws {
        struct Full: Error {}
        let flag = Flag()
        let cache = LeaseCache<Int, Value>(
            countMax: 2, idleSeconds: 60,
            actions: LeaseCache.Actions(
                open: { key in
                    if flag.isSet { throw Full() }
                    return Value(key)
                }, close: { _, _, _ in }, isBusy: { _ in false }))
        #expect(throws: Full.self) { try cache.wait(for: 1) }
        flag.clear()
        #expect(try cache.wait(for: 1).value.key == 1)
    }

    private final class Flag: Sendable {
        private let stored = Atomic(true)
        var isSet: Bool { stored.load(ordering: .sequentiallyConsistent) }
        func clear() { stored.store(false, ordering: .sequentiallyConsistent) }
    }

    @Test("Whatever many do at the same time, nobody uses what is closed and no key has two values")
    func random() throws {
        struct Taken: Error {}
        let seed = SeededRandom("leases").seed
        let cache = record.cache(countMax: 3, idleSeconds: 1)
        let threads = DispatchGroup()
        let used = Counter()
        for thread in 0..<8 {
            threads.enter()
            DispatchQueue(label: "test.leases").async { [record] in
                var random = SeededRandom(seed: seed, stream: thread)
                for _ in 0..<400 {
                    let key = random.below(9)
                    switch random.below(20) {
                    case 0:
                        record.pass(seconds: 2)
                        cache.closeIdle()
                    case 1:
                        guard let value = cache.take(key, refusing: Taken()) else {
                            cache.give(back: key)
                            break
                        }
                        value.isClosed.store(true, ordering: .sequentiallyConsistent)
                        record.state.withLock { $0.alive[key, default: 0] -= 1 }
                        cache.give(back: key)
                    case 2: cache.closeSurplus()
                    default:
                        guard let lease = try? cache.wait(for: key) else { break }
                        if lease.value.key != key { used.addWrong() }
                        // One that was taken may be closed while it is leased.
                        if random.happens(50) { sched_yield() }
                        withExtendedLifetime(lease) {}
                    }
                }
                threads.leave()
            }
        }
        #expect(threads.wait(timeout: Self.timeout) == .success)
        cache.closeAll()
        #expect(used.wrong == 0)
        #expect(record.state.withLock { $0.doubled.isEmpty })
        #expect(record.state.withLock { $0.alive.values.allSatisfy { $0 == 0 } })
    }

    @Test("While nobody takes keys, no leased value is ever closed")
    func leased() throws {
        let seed = SeededRandom("leased values").seed
        let cache = record.cache(countMax: 2, idleSeconds: 1)
        let threads = DispatchGroup()
        let used = Counter()
        for thread in 0..<8 {
            threads.enter()
            DispatchQueue(label: "test.leased").async { [record] in
                var random = SeededRandom(seed: seed, stream: thread)
                for _ in 0..<400 {
                    if random.once(in: 10) {
                        record.pass(seconds: 2)
                        cache.closeIdle()
                    }
                    guard let lease = try? cache.wait(for: random.below(6)) else { continue }
                    if random.happens(30) { sched_yield() }
                    if lease.value.isClosed.load(ordering: .sequentiallyConsistent) {
                        used.addWrong()
                    }
                    withExtendedLifetime(lease) {}
                }
                threads.leave()
            }
        }
        #expect(threads.wait(timeout: Self.timeout) == .success)
        #expect(used.wrong == 0)
        cache.closeIdle()
        try until(cache) { cache.open.count <= 2 }
        #expect(record.state.withLock { $0.doubled.isEmpty })
    }

    private final class Counter: Sendable {
        private let stored = Atomic(0)
        var wrong: Int { stored.load(ordering: .sequentiallyConsistent) }
        func addWrong() { stored.add(1, ordering: .sequentiallyConsistent) }
    }
}
