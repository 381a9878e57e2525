import Platform

/// Milliseconds since some fixed moment, never going back; handed in so that tests set it.
package struct MonotonicClock: Sendable {
    package let milliseconds: @Sendable () -> UInt64

    /// - Parameter milliseconds: called on every event loop, once each time that it wakes.
    package init(_ milliseconds: @escaping @Sendable () -> UInt64) {
        self.milliseconds = milliseconds
    }

    /// The machine's own clock.
    package static let system = MonotonicClock {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1000 &+ UInt64(time.tv_nsec) / 1_000_000
    }
}
