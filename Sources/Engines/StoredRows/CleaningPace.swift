import CloudModel

/// When rows that are past their time are removed: once an hour.
package struct CleaningPace: Sendable {
    private static let milliseconds: Milliseconds = 3_600_000

    private var last: Milliseconds?

    package init() {}

    /// Whether an hour is over, or the clock was set back; then the next one begins.
    package mutating func isDue(at now: Milliseconds) -> Bool {
        if let last, now >= last, now - last < Self.milliseconds { return false }
        last = now
        return true
    }
}
