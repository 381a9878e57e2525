import Dispatch
import Storage
import Synchronization

/// Keeps values open that are costly to keep.
///
/// It opens a value when somebody asks for it. The value stays open while somebody has a lease of
/// it. It is closed when nobody has had a lease for long, or when others need its place.
///
/// There is never more than one value of a key. Callers that ask for a value while it is being closed get a new
/// one, which is opened afterwards. More than `countMax` values are open only while leases or their own work
/// keep them open.
final class LeaseCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// What is done with values.
    struct Actions: Sendable {
        /// Makes a value; blocks, on a thread of its own.
        var open: @Sendable (Key) throws -> Value
        /// Ends a value, of which, as the last argument says, nobody has a lease; blocks.
        var close: @Sendable (Key, Value, Bool) -> Void
        /// Whether a value is at something of its own; called with the cache locked, and must not block.
        var isBusy: @Sendable (Value) -> Bool
    }

    /// One value, with those who use it.
    fileprivate final class Entry: Sendable {
        let value: Value
        let uses: Atomic<Int>
        /// When the last lease ended, by the uptime in nanoseconds; 0 for a value that only waits to be
        /// closed.
        let lastUse: Atomic<UInt64>
        let now: @Sendable () -> UInt64

        init(_ value: Value, lastUse: UInt64, now: @escaping @Sendable () -> UInt64) {
            self.value = value
            uses = Atomic(0)
            self.lastUse = Atomic(lastUse)
            self.now = now
        }
    }

    /// Keeps a value open as long as it lives.
    final class Lease: Sendable {
        private let entry: Entry
        private let isIncidental: Bool

        fileprivate init(of entry: Entry, isIncidental: Bool) {
            self.entry = entry
            self.isIncidental = isIncidental
        }

        deinit {
            if !isIncidental {
                entry.lastUse.store(entry.now(), ordering: .relaxed)
            }
            // What was done with the value comes before it is closed.
            let (_, left) = entry.uses.subtract(1, ordering: .releasing)
            // A lease ends once. Where one did twice, nobody knows who uses the value, and it is closed as unused no more.
            if left < 0 { entry.uses.store(.max / 2, ordering: .releasing) }
            assert(left >= 0, "a lease ends once: nobody closes what another uses")
        }

        var value: Value { entry.value }
    }

    typealias Receive = @Sendable (Result<Lease, any Error>) -> Void

    private struct Waiter: Sendable {
        let receive: Receive
        let isIncidental: Bool
    }

    private enum Slot {
        case opening([Waiter])
        case open(Entry)
        /// A caller that asks meanwhile gets one that is opened afterwards.
        case closing([Waiter])
        /// One caller has the key alone; others get this error.
        case taken(any Error)
    }

    private struct State {
        var slots: [Key: Slot] = [:]
        /// Signalled when the next value has been opened or closed.
        var watchers: [DispatchSemaphore] = []
        /// Whether the surplus is going to be looked at again.
        var looksAgain = false
        var isClosed = false
    }

    /// Thrown when so many wait for one value that no further one may.
    struct TooManyWait: Error {}
    /// Thrown after `closeAll`.
    struct Closed: Error {}

    /// How many callers may wait for one value.
    private static var waitersMax: Int { 1_024 }
    /// After this a surplus that was in use is looked at again.
    private static var surplusMilliseconds: Int { 1_000 }

    private let countMax: Int
    private let idleNanoseconds: UInt64
    private let actions: Actions
    private let now: @Sendable () -> UInt64
    private let state = Mutex(State())

    /// - Parameters:
    ///   - countMax: how many values are open at once, if nothing keeps more so.
    ///   - idleSeconds: after which one that nobody uses is closed.
    ///   - now: the uptime in nanoseconds.
    init(
        countMax: Int, idleSeconds: Int, actions: Actions,
        now: @escaping @Sendable () -> UInt64 = { DispatchTime.now().uptimeNanoseconds }
    ) {
        self.countMax = countMax
        idleNanoseconds = UInt64(max(0, idleSeconds)) * 1_000_000_000
        self.actions = actions
        self.now = now
    }

    /// The values that are open now, with their keys; reading them does not keep them open.
    var open: [(key: Key, value: Value)] {
        state.withLock { state in
            state.slots.compactMap { key, slot in
                if case .open(let entry) = slot { (key, entry.value) } else { nil }
            }
        }
    }

    /// How many leases there are of a value that is open, those still being handed over among them.
    func leaseCount(of key: Key) -> Int {
        state.withLock { state in
            guard case .open(let entry) = state.slots[key] else { return 0 }
            return entry.uses.load(ordering: .acquiring)
        }
    }

    /// A lease of a value that is open; nil for one that is to be opened first.
    ///
    /// Does not block.
    func lease(_ key: Key, isIncidental: Bool = false) -> Lease? {
        state.withLock { state in
            guard case .open(let entry) = state.slots[key] else { return nil }
            return Self.lease(of: entry, isIncidental: isIncidental)
        }
    }

    /// Hands over a lease of a value, and opens the value first if it is not open.
    ///
    /// Calls back on any thread, or at once.
    ///
    /// - Parameter isIncidental: for work that does not mean that others will come. The value is
    ///   then the first to be closed again.
    func open(_ key: Key, isIncidental: Bool = false, _ receive: @escaping Receive) {
        let waiter = Waiter(receive: receive, isIncidental: isIncidental)
        var outcome: Result<Lease, any Error>?
        let begins = state.withLock { state -> Bool in
            guard !state.isClosed else {
                outcome = .failure(Closed())
                return false
            }
            switch state.slots[key] {
            case nil:
                state.slots[key] = .opening([waiter])
                return true
            case .open(let entry):
                outcome = .success(Self.lease(of: entry, isIncidental: isIncidental))
            case .taken(let error): outcome = .failure(error)
            case .opening(let waiters):
                guard waiters.count < Self.waitersMax else {
                    outcome = .failure(TooManyWait())
                    break
                }
                state.slots[key] = .opening(waiters + [waiter])
            case .closing(let waiters):
                guard waiters.count < Self.waitersMax else {
                    outcome = .failure(TooManyWait())
                    break
                }
                state.slots[key] = .closing(waiters + [waiter])
            }
            return false
        }
        if begins { start(key) }
        if let outcome { receive(outcome) }
    }

    /// Hands over a lease of each value that is open, and of each that is being opened as soon as it is.
    ///
    /// Misses none whose opening has begun; calls back on any thread, or at once.
    func eachOpen(_ receive: @escaping @Sendable (Key, Lease) -> Void) {
        let open = state.withLock { state in
            var open: [(Key, Lease)] = []
            for (key, slot) in state.slots {
                switch slot {
                case .open(let entry): open.append((key, Self.lease(of: entry, isIncidental: true)))
                case .opening(let waiters):
                    let waiter = Waiter(
                        receive: { if case .success(let lease) = $0 { receive(key, lease) } },
                        isIncidental: true)
                    state.slots[key] = .opening(waiters + [waiter])
                case .closing, .taken: break
                }
            }
            return open
        }
        for (key, lease) in open { receive(key, lease) }
    }

    /// A lease of a value, opened first where it is not.
    ///
    /// Blocks: never on an event loop.
    func wait(for key: Key, isIncidental: Bool = false) throws -> Lease {
        if !isIncidental, let known = lease(key) { return known }
        let pending = Pending<Lease>()
        open(key, isIncidental: isIncidental) { pending.end($0) }
        return try pending.wait()
    }

    private static func lease(of entry: Entry, isIncidental: Bool) -> Lease {
        entry.uses.add(1, ordering: .relaxed)
        return Lease(of: entry, isIncidental: isIncidental)
    }
}

// Opening and closing.
extension LeaseCache {
    /// Opens on a thread of its own: it may take minutes, and nobody waits for it who does not need it.
    private func start(_ key: Key) {
        DispatchQueue(label: "stores.open").async {
            self.make(key)
            self.closeSurplus()
        }
    }

    private func make(_ key: Key) {
        let outcome = Result { try actions.open(key) }
        let told = state.withLock { state -> [(Waiter, Result<Lease, any Error>)] in
            defer { Self.settle(&state) }
            guard case .opening(let waiters) = state.slots[key] else { return [] }
            switch outcome {
            case .success(let value):
                let isIncidental = waiters.allSatisfy(\.isIncidental)
                let entry = Entry(value, lastUse: isIncidental ? 0 : now(), now: now)
                state.slots[key] = .open(entry)
                return waiters.map {
                    ($0, .success(Self.lease(of: entry, isIncidental: $0.isIncidental)))
                }
            case .failure(let error):
                state.slots[key] = nil
                return waiters.map { ($0, .failure(error)) }
            }
        }
        for (waiter, result) in told { waiter.receive(result) }
    }

    /// Closes those that nobody uses, the longest unused first, until no more are open than should be.
    func closeSurplus() {
        while let (key, entry) = state.withLock({ beginClosing(&$0, isSurplus: true) }) {
            finishClosing(key, entry)
        }
        lookAgain()
    }

    /// Sees to a surplus that is in use: nobody tells when its last user has gone.
    private func lookAgain() {
        let begins = state.withLock { state in
            let openCount = state.slots.values.count { if case .open = $0 { true } else { false } }
            guard openCount > countMax, !state.isClosed, !state.looksAgain else { return false }
            state.looksAgain = true
            return true
        }
        guard begins else { return }
        let moment = DispatchTime.now() + .milliseconds(Self.surplusMilliseconds)
        DispatchQueue(label: "stores.close").asyncAfter(deadline: moment) { [weak self] in
            guard let self else { return }
            state.withLock { $0.looksAgain = false }
            closeSurplus()
        }
    }

    /// Closes those that nobody has used for long, and what is more than should be open.
    func closeIdle() {
        while let (key, entry) = state.withLock({ beginClosing(&$0, isSurplus: false) }) {
            finishClosing(key, entry)
        }
        closeSurplus()
    }

    private func beginClosing(_ state: inout State, isSurplus: Bool) -> (Key, Entry)? {
        var openCount = 0
        var oldest: (key: Key, entry: Entry, lastUse: UInt64)?
        for (key, slot) in state.slots {
            guard case .open(let entry) = slot else { continue }
            openCount += 1
            let lastUse = entry.lastUse.load(ordering: .relaxed)
            guard entry.uses.load(ordering: .acquiring) == 0,
                oldest.map({ lastUse < $0.lastUse }) ?? true, !actions.isBusy(entry.value)
            else { continue }
            oldest = (key, entry, lastUse)
        }
        guard let oldest else { return nil }
        let isDue =
            isSurplus
            ? openCount > countMax
            : oldest.lastUse == 0 || now() &- oldest.lastUse >= idleNanoseconds
        guard isDue else { return nil }
        state.slots[oldest.key] = .closing([])
        return (oldest.key, oldest.entry)
    }

    private func finishClosing(_ key: Key, _ entry: Entry) {
        actions.close(key, entry.value, true)
        let begins = state.withLock { state -> Bool in
            guard case .closing(let waiters) = state.slots[key], !waiters.isEmpty else {
                state.slots[key] = nil
                Self.settle(&state)
                return false
            }
            state.slots[key] = .opening(waiters)
            return true
        }
        if begins { start(key) }
    }

    private static func settle(_ state: inout State) {
        for watcher in state.watchers { watcher.signal() }
        state.watchers = []
    }
}

// For those who need a value gone.
extension LeaseCache {
    /// Takes a key for the caller alone.
    ///
    /// Its value leaves the cache, even while others still have leases. Callers that ask for a value of the key
    /// meanwhile get the error; others that take the key wait for their turn.
    ///
    /// Blocks, and waits for an opening or a closing that is under way, and for who has the key alone.
    ///
    /// - Returns: the value, which the caller closes; nil for none.
    func take(_ key: Key, refusing error: any Error) -> Value? {
        untilSettled { state in
            switch state.slots[key] {
            case .opening, .closing, .taken: return nil
            case .open(let entry):
                state.slots[key] = .taken(error)
                return .some(entry.value)
            case nil:
                state.slots[key] = .taken(error)
                return .some(nil)
            }
        }
    }

    /// Gives back a key that was taken.
    func give(back key: Key) {
        state.withLock { state in
            guard case .taken = state.slots[key] else { return }
            state.slots[key] = nil
            Self.settle(&state)
        }
    }

    /// Closes every value, used or not; later calls get errors.
    ///
    /// Blocks.
    func closeAll() {
        state.withLock { $0.isClosed = true }
        let open = untilSettled { state -> [(Key, Value)]? in
            var open: [(Key, Value)] = []
            for (key, slot) in state.slots {
                switch slot {
                case .opening, .closing: return nil
                case .taken: break
                case .open(let entry): open.append((key, entry.value))
                }
            }
            for (key, _) in open { state.slots[key] = nil }
            return open
        }
        for (key, value) in open { actions.close(key, value, false) }
    }

    /// Runs a body with the cache locked, again after each opening and closing, until it gives a value.
    private func untilSettled<Outcome: Sendable>(
        _ body: (inout State) -> Outcome?
    ) -> Outcome {
        let settled = DispatchSemaphore(value: 0)
        while true {
            let outcome = state.withLock { state -> Outcome? in
                let outcome = body(&state)
                if outcome == nil { state.watchers.append(settled) }
                return outcome
            }
            if let outcome { return outcome }
            settled.wait()
        }
    }
}
