import Dispatch

/// The limits of groups, and of what waits for them.
package struct GroupOptions: Sendable {
    /// The most cost, as submitters count it, that one commit holds; a dearer job goes alone.
    ///
    /// A commit of so many takes as long as `millisecondsMax` allows on a fast machine.
    package var operationsMax = 20_000
    /// The most bytes, as submitters count them, that one commit holds; a larger job goes alone.
    ///
    /// With more, writing the log takes longer than its sync.
    package var bytesMax = 4_194_304
    /// For how long a group takes in further jobs; what it has not come to is for the next.
    ///
    /// Where commits take long, a group may go on for twice as long as they do. It then stays, with its commit,
    /// within three times this.
    package var millisecondsMax = 20
    /// The most jobs that may wait, and the most bytes that they may bring; of one caller an eighth.
    package var waitingJobsMax = 8_192
    package var waitingBytesMax = 268_435_456
    /// How long writes are refused after there was no room, before one is tried again.
    package var fullProbeSeconds = 1.0
    /// A monotonic clock, in nanoseconds.
    package var now: @Sendable () -> UInt64 = { DispatchTime.now().uptimeNanoseconds }

    package init() {}
}
