#if PostgreSQL
    /// Nanoseconds that have passed, those included in which the machine was suspended.
    ///
    /// A lease goes on by it: the database's clock does not stop for a machine that sleeps.
    enum LeaseClock {
        // The uptime stands still meanwhile on Linux; this is CLOCK_BOOTTIME there.
        private static let start = ContinuousClock.now

        @Sendable
        static func now() -> UInt64 {
            let passed = start.duration(to: .now).components
            return UInt64(passed.seconds) &* 1_000_000_000
                &+ UInt64(passed.attoseconds / 1_000_000_000)
        }
    }
#endif
