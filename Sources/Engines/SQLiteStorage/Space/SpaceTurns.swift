import CloudModel

/// Whether others write while pages are given back.
struct SpaceTurns {
    /// How long the next step waits while others do.
    static let pauseMilliseconds: Milliseconds = 1_000

    /// Jobs of the writer so far.
    private var jobs: UInt64 = 0
    private var jobsAtStep: UInt64 = 0
    private(set) var isBusy = false

    mutating func jobBegan() { jobs &+= 1 }

    /// Takes note of a step; a job of its own tells nothing.
    mutating func stepBegan() {
        isBusy = jobs &- jobsAtStep > 1 && jobsAtStep > 0
        jobsAtStep = jobs
    }
}
