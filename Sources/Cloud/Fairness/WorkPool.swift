import CloudModel
import Dispatch
import Network
import Platform
import Synchronization

/// Threads for work that blocks or takes long, shared out fairly among those who want it.
///
/// There are three lanes, each with threads of its own and shared out as `WorkLane` says:
///
/// - one for short work;
/// - one for what takes longer than `longNanoseconds`, behind the others where processors are scarce;
/// - one for what waits for a commit of somebody else's thread.
///
/// Work need not say whether it is short. Something may run too long on a thread of the short lane while other
/// short work waits. It then goes on as long work, and a new thread takes its place. Where the long lane has no
/// room for it, its signal tells it to end. The caller then submits it again, as long work.
package final class WorkPool<Principal: Hashable & Sendable>: Sendable {
    package typealias Lane = WorkLaneName

    private let core: PoolCore<Principal>

    package init(name: String, _ options: WorkOptions = WorkOptions()) {
        core = PoolCore(name: name, options)
    }

    deinit { core.close() }

    /// Runs work on a thread of a lane, in its principal's turn.
    ///
    /// - Parameters:
    ///   - isAdmitted: for a further step of work that was admitted before: it is not refused.
    ///   - stop: where it says that the work is abandoned before it has begun, it never does; told to end the
    ///     work when it is to make room.
    ///   - drop: called in place of the body, on any thread, when the work never begins.
    /// - Throws: `WorkRefusal` when too much waits; then neither closure is called.
    package func submit(
        _ lane: Lane, for principal: Principal, isAdmitted: Bool = false,
        stop: StopSignal = StopSignal(), drop: @escaping @Sendable () -> Void = {},
        _ body: @escaping @Sendable () -> Void
    ) throws(WorkRefusal) {
        try core.submit(lane, principal, isAdmitted, stop, drop, body)
    }

    /// As of now.
    package var counts: PoolCounts { core.counts }
}

/// The part of a pool that its threads hold on to.
private final class PoolCore<Principal: Hashable & Sendable>: Sendable {
    typealias Lane = WorkPool<Principal>.Lane
    typealias Item = WorkLane<Principal>.Item

    private struct State {
        var lanes: [WorkLane<Principal>]
        var threads = [Int](repeating: 0, count: Lane.allCases.count)
        var idle = [Int](repeating: 0, count: Lane.allCases.count)
        var counts = PoolCounts()
        /// A check soon looks at how long the short work runs.
        var isWatching = false
        var isClosed = false
    }

    /// What a thread does next.
    private enum Turn: Sendable {
        case work(Item)
        case wait
        case end
    }

    /// What it takes for waiting work to begin.
    private enum Need { case nothing, waking, thread }

    private let name: String
    private let options: WorkOptions
    private let state: Mutex<State>
    private let wakings = Lane.allCases.map { _ in DispatchSemaphore(value: 0) }
    private let watch = DispatchQueue(label: "work.watch")

    init(name: String, _ options: WorkOptions) {
        self.name = name
        self.options = options
        state = Mutex(
            State(
                lanes: [options.shortThreads, options.longThreads, options.commitThreads].map {
                    WorkLane(threadsMax: max(1, $0))
                }))
    }

    deinit {
        assert(
            state.withLock { state in
                state.threads.allSatisfy { $0 == 0 }
                    && state.lanes.allSatisfy { $0.running.isEmpty && $0.waitingCount == 0 }
            },
            "threads hold the pool until they end: one that is counted for good would be one less")
    }

    var counts: PoolCounts {
        state.withLock { state in
            var counts = state.counts
            counts.waiting = state.lanes.reduce(0) { $0 + $1.waitingCount }
            return counts
        }
    }

    func submit(
        _ lane: Lane, _ principal: Principal, _ isAdmitted: Bool, _ stop: StopSignal,
        _ drop: @escaping @Sendable () -> Void, _ body: @escaping @Sendable () -> Void
    ) throws(WorkRefusal) {
        let refusal = state.withLock { state -> WorkRefusal? in
            if !isAdmitted {
                let own = state.lanes[lane.rawValue].waitingCount(of: principal)
                if own >= options.waitingPerPrincipalMax {
                    state.counts.refused += 1
                    return .principalIsFull
                }
                if state.lanes[lane.rawValue].waitingCount >= options.waitingMax {
                    state.counts.refused += 1
                    return .poolIsFull
                }
            }
            state.lanes[lane.rawValue].append(for: principal, stop: stop, body: body, drop: drop)
            return nil
        }
        if let refusal { throw refusal }
        provideThread(lane)
    }

    /// Sees to it that somebody takes what waits in a lane, if it may begin.
    private func provideThread(_ lane: Lane) {
        let index = lane.rawValue
        let need = state.withLock { state -> Need in
            guard state.lanes[index].waitingCount > 0 else { return .nothing }
            armWatch(&state)
            if state.idle[index] > 0 {
                state.idle[index] -= 1
                return .waking
            }
            guard state.threads[index] < state.lanes[index].threadsMax else { return .nothing }
            state.threads[index] += 1
            return .thread
        }
        switch need {
        case .nothing: break
        case .waking: wakings[index].signal()
        case .thread:
            do throws(SystemError) {
                try Thread().start(name: "\(name)-\(lane)") { self.run(lane) }
            } catch {
                state.withLock { $0.threads[index] -= 1 }
                // What waits is taken by the threads there are; without any, by one of Dispatch's.
                let hasNone = state.withLock { state in
                    guard state.threads[index] == 0 else { return false }
                    state.threads[index] += 1
                    return true
                }
                if hasNone { DispatchQueue(label: "work").async { self.take(lane) } }
            }
        }
    }

    /// How far threads stand behind the event loops and the writers.
    private func niceness(_ lane: Lane) -> Int32 { lane == .long ? 15 : options.shortNiceness }

    private func run(_ lane: Lane) {
        // Nobody waits for its end.
        pthread_detach(pthread_self())
        Thread.setNiceness(niceness(lane), of: Thread.currentID)
        take(lane)
    }

    /// Does what waits, until the pool is closed or the thread has gone over to another lane.
    private func take(_ lane: Lane) {
        while true {
            switch turn(lane) {
            case .end: return
            case .wait: wakings[lane.rawValue].wait()
            case .work(let item):
                item.body()
                if end(item, lane) { return }
            }
        }
    }

    private func turn(_ lane: Lane) -> Turn {
        var dropped: [Item] = []
        let turn = state.withLock { state -> Turn in
            let index = lane.rawValue
            var gone: [Item] = []
            let next = state.lanes[index].takeNext(
                by: Thread.currentID, now: Self.now, dropped: &gone)
            state.counts.dropped += gone.count
            dropped = gone
            if let next { return .work(next) }
            guard !state.isClosed else {
                state.threads[index] -= 1
                return .end
            }
            state.idle[index] += 1
            return .wait
        }
        for item in dropped { item.drop() }
        return turn
    }

    /// - Returns: whether the thread has gone over to another lane with its work, and is not needed there.
    private func end(_ item: Item, _ lane: Lane) -> Bool {
        let isMoved = state.withLock { state in
            let index = item.isMoved ? Lane.long.rawValue : lane.rawValue
            state.lanes[index].end(item, now: Self.now)
            return item.isMoved
        }
        // A place has become free that another may have waited for.
        if isMoved { provideThread(.long) }
        return isMoved
    }

    func close() {
        let (dropped, idle) = state.withLock { state in
            state.isClosed = true
            var dropped: [Item] = []
            for index in state.lanes.indices { dropped += state.lanes[index].removeWaiting() }
            let idle = state.idle
            state.idle = state.idle.map { _ in 0 }
            return (dropped, idle)
        }
        for item in dropped { item.drop() }
        for (index, count) in idle.enumerated() {
            for _ in 0..<count { wakings[index].signal() }
        }
    }

    // MARK: - Work that turns out to be long

    private func armWatch(_ state: inout State) {
        guard options.longNanoseconds < .max, !state.isWatching, !state.isClosed,
            state.lanes[Lane.short.rawValue].waitingCount > 0
        else { return }
        state.isWatching = true
        watch.asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: options.longNanoseconds))) {
            [weak self] in self?.look()
        }
    }

    /// Moves on what has run too long while other short work waits.
    private func look() {
        let (short, long) = (Lane.short.rawValue, Lane.long.rawValue)
        let freed = state.withLock { state in
            state.isWatching = false
            guard state.lanes[short].waitingCount > 0 else { return 0 }
            let now = Self.now
            var freed = 0
            for item in Array(state.lanes[short].running.values)
            where now &- item.startedAt >= options.longNanoseconds {
                guard state.lanes[long].hasRoom(for: item) else {
                    item.stop.stop(.makesRoom)
                    continue
                }
                state.lanes[short].end(item, now: now)
                state.lanes[long].adopt(item, now: now)
                Thread.setNiceness(niceness(.long), of: item.thread)
                state.counts.moved += 1
                state.threads[short] -= 1
                freed += 1
            }
            armWatch(&state)
            return freed
        }
        for _ in 0..<freed { provideThread(.short) }
    }

    private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }
}
