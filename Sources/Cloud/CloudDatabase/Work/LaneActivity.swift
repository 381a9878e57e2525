/// Whether a lane of work is active: it does one step at a time, and none after a stop.
struct LaneActivity {
    /// When there is more to do.
    enum Next {
        /// At once, after a pause that lets others work.
        case afterPause(nanoseconds: UInt64)
        /// After some time, or when new work comes.
        case later(nanoseconds: UInt64)
        case never
    }

    /// A step that begins after some time.
    struct Start {
        let nanoseconds: UInt64
        /// Nil for one that begins in any case.
        let wait: Int?
    }

    private enum Stage: Equatable { case idle, running, waiting(Int) }
    private var stage = Stage.idle
    private var waits = 0
    /// It was woken during a step, and the step may have looked before the new work came.
    private var isWokenAgain = false
    private(set) var isStopped = false

    /// - Returns: whether a step is to begin.
    mutating func wake() -> Bool {
        guard !isStopped else { return false }
        guard stage != .running else {
            isWokenAgain = true
            return false
        }
        stage = .running
        return true
    }

    /// Notes that the time for a step has come.
    ///
    /// - Returns: false when no step may begin: after a stop, and when new work began one earlier.
    mutating func begin(_ wait: Int? = nil) -> Bool {
        guard !isStopped else { return false }
        if let wait, stage != .waiting(wait) { return false }
        stage = .running
        isWokenAgain = false
        return true
    }

    /// Notes that a step has ended.
    ///
    /// - Returns: when the next one begins; nil for never.
    mutating func ended(_ next: Next) -> Start? {
        guard !isStopped else { return nil }
        switch next {
        case .afterPause(let nanoseconds): return Start(nanoseconds: nanoseconds, wait: nil)
        case .later, .never:
            if isWokenAgain { return Start(nanoseconds: 0, wait: nil) }
            guard case .later(let nanoseconds) = next else {
                stage = .idle
                return nil
            }
            waits += 1
            stage = .waiting(waits)
            return Start(nanoseconds: nanoseconds, wait: waits)
        }
    }

    /// Whether a step is running, or is about to; false while it waits for a time.
    var isBusy: Bool { stage == .running && !isStopped }

    mutating func stop() { isStopped = true }
}
