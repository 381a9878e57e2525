import CloudModel
import Dispatch
import Storage
import Synchronization

/// All open event streams, and the clock that ends them and keeps them alive.
final class CourierStreams: Sendable {
    private struct State {
        var streams: [ObjectIdentifier: CourierStream] = [:]
        var isTicking = false
        var isClosed = false
    }

    /// A look of the clock at all streams.
    struct Tick {
        /// Monotonic, in nanoseconds.
        let uptime: UInt64
        let now: Milliseconds
        /// Moves when sessions may have ended.
        let catalogVersion: Int
        /// Sessions that this look may still look up.
        var checksLeft = 1_000
    }

    private let held: HeldAnswers
    private let catalog: any CatalogStorage
    private let clock: Clock
    private let uptime: @Sendable () -> UInt64
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "web.streams")

    init(_ dependencies: ProtocolResponder.Dependencies, held: HeldAnswers) {
        self.held = held
        catalog = dependencies.catalog
        clock = dependencies.clock
        uptime = dependencies.uptime
    }

    /// Begins to look after a stream; false where it must not go on.
    func add(_ stream: CourierStream) -> Bool {
        guard held.takeSlot() else { return false }
        let (isAdded, begins) = state.withLock { state -> (Bool, Bool) in
            guard !state.isClosed else { return (false, false) }
            state.streams[ObjectIdentifier(stream)] = stream
            defer { state.isTicking = true }
            return (true, !state.isTicking)
        }
        if !isAdded { held.returnSlot() }
        if begins { tickLater() }
        return isAdded
    }

    func remove(_ stream: CourierStream) {
        let removed = state.withLock {
            $0.streams.removeValue(forKey: ObjectIdentifier(stream))
        }
        if removed != nil { held.returnSlot() }
    }

    /// Ends all streams; none begins from now on.
    func close() {
        let streams = state.withLock { state in
            state.isClosed = true
            return Array(state.streams.values)
        }
        for stream in streams { stream.end() }
    }

    private func tickLater() {
        queue.asyncAfter(deadline: .now() + 1) { [weak self] in self?.tick() }
    }

    private func tick() {
        let streams = state.withLock { state in
            state.isTicking = !state.streams.isEmpty
            return Array(state.streams.values)
        }
        guard !streams.isEmpty else { return }
        var tick = Tick(
            uptime: uptime(), now: clock.now(), catalogVersion: catalog.version)
        for stream in streams { stream.look(at: &tick) }
        tickLater()
    }
}
