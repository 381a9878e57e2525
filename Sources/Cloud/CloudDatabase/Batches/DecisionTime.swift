import Dispatch

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// How long a decision may take before its first write, while everybody else waits for the writer.
///
/// What counts is the time that its own thread has worked. Where all processors are busy, a decision would soon seem
/// long, and one that goes on beside the writer keeps a snapshot for as long as others leave it no processor. A thread
/// that waits for a disk does not work, so the clock ends a decision too, a few times later.
struct DecisionTime {
    /// Where the times come from, in nanoseconds.
    struct Clocks {
        /// The time that the calling thread has worked.
        var worked: () -> UInt64 = DecisionTime.workedNanoseconds
        /// A monotonic clock.
        var uptime: () -> UInt64 = { DispatchTime.now().uptimeNanoseconds }
    }

    /// By the clock, a decision may take so many times as long.
    private static let clockRatio: UInt64 = 4

    private let clocks: Clocks
    private let workedMax: UInt64
    private let mayHaveEndedAt: UInt64
    private let endsAt: UInt64

    init(millisecondsMax: Int, clocks: Clocks = Clocks()) {
        self.clocks = clocks
        let nanoseconds = UInt64(max(0, millisecondsMax)) * 1_000_000
        let now = clocks.uptime()
        mayHaveEndedAt = now + nanoseconds
        endsAt = now + nanoseconds * Self.clockRatio
        workedMax = clocks.worked() + nanoseconds
    }

    /// - Throws: `DecisionTakesLong` when the time is over.
    func check() throws {
        let now = clocks.uptime()
        // No thread works for longer than the clock says.
        guard now >= mayHaveEndedAt else { return }
        if now >= endsAt || clocks.worked() >= workedMax { throw DecisionTakesLong() }
    }

    /// The time that the calling thread has worked.
    static func workedNanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_nsec)
    }
}

/// A decision in the writer has taken as long as it may; it has written nothing.
struct DecisionTakesLong: Error {}
