import Foundation

/// How long a request is waited for.
public struct TimeLimits: Sendable {
    /// While nothing comes or goes, in seconds.
    public var silenceSeconds: TimeInterval
    /// In all; nil for as long as it needs.
    public var wholeSeconds: TimeInterval?

    /// Takes both limits.
    public init(silenceSeconds: TimeInterval = 60, wholeSeconds: TimeInterval? = nil) {
        self.silenceSeconds = silenceSeconds
        self.wholeSeconds = wholeSeconds
    }
}
