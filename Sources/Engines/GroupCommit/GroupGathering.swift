/// Decides how long a group waits for the submitters that were answered just before.
///
/// Clients that wait for their answers come back together. Without a wait they fall into two
/// halves, and each half hears only after the other half's commit. So the next group waits until as
/// many jobs are there as the last group had and left behind. It waits at most for a part of what a
/// commit takes. It does not wait when the last waits were in vain, and never for a single
/// submitter. Confined to the committer's queue.
struct GroupGathering {
    /// When a usual commit is shorter than this, nobody waits.
    ///
    /// While one half is committed, the other half's answers and requests keep the processors busy,
    /// and that is worth more.
    private static let commitNanosecondsMin = 1_000_000.0
    /// The part of a usual commit that a wait may take.
    private static let commitShare = 0.25
    /// The longest wait.
    private static let nanosecondsMax: UInt64 = 5_000_000
    /// The most groups that go without a wait after waits in vain.
    private static let skippedMax = 64

    private var commitNanoseconds = 0.0
    private var expected = 0
    private var skipping = 0
    private var toSkip = 0

    /// How many to wait for, and how long; nil starts the group with what is there.
    mutating func wait(waiting: Int) -> (jobs: Int, nanoseconds: UInt64)? {
        guard expected > 1, waiting < expected, commitNanoseconds >= Self.commitNanosecondsMin
        else { return nil }
        guard toSkip == 0 else {
            toSkip -= 1
            return nil
        }
        return (
            expected, min(Self.nanosecondsMax, UInt64(commitNanoseconds * Self.commitShare))
        )
    }

    /// Takes note of what a wait brought.
    mutating func waited(from before: Int, to after: Int) {
        // Half of the missing is worth the time that all of the others spend on it.
        if (after - before) * 2 >= expected - before {
            skipping = 0
        } else {
            skipping = min(Self.skippedMax, max(1, skipping * 2))
            toSkip = skipping
        }
    }

    /// Takes note of a group's commit and of those that came meanwhile.
    mutating func committed(jobs: Int, waiting: Int, nanoseconds: UInt64) {
        expected = jobs + waiting
        commitNanoseconds += (Double(nanoseconds) - commitNanoseconds) / 8
    }
}
