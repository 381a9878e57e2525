/// What the limits of requests are measured by.
package struct RequestClock: Sendable {
    /// How much time has passed since some moment.
    let now: @Sendable () -> Duration
    /// Waits; throws when its task is cancelled.
    let sleep: @Sendable (Duration) async throws -> Void

    /// Takes both; tests have time of their own.
    package init(
        now: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.sleep = sleep
    }

    /// Real time.
    package static let real: RequestClock = {
        let begin = ContinuousClock.now
        return RequestClock(
            now: { begin.duration(to: .now) }, sleep: { try await Task.sleep(for: $0) })
    }()
}
