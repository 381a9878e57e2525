/// Decides for how long a group takes in further jobs, by what commits cost.
///
/// A commit writes each page once and waits for the disk once, whatever the group holds. Where that takes long, a group of
/// the usual length would leave most of the time to commits. So a group may take in jobs for twice as long as commits
/// have taken lately. But it must end, with its commit, within a goal, because all of its jobs wait for both.
///
/// Confined to the committer's queue.
struct GroupTime {
    /// For how many times as long as its commit a group may go on.
    private static let commitRatio = 2.0
    /// The goal for a group and its commit, in usual lengths of a group.
    private static let goalRatio = 3.0

    /// The usual length.
    private let usual: Double
    private var commit = 0.0

    /// - Parameter milliseconds: for how long groups go on where commits are quick.
    init(milliseconds: Int) { usual = Double(max(0, milliseconds)) * 1e6 }

    /// For how long the next group goes on.
    var nanoseconds: UInt64 {
        let goal = Self.goalRatio * usual
        return UInt64(max(usual, min(Self.commitRatio * commit, goal - commit)))
    }

    /// For how long the next group goes on whose callers hold others up, while these are about.
    ///
    /// They come in the middle of such a group or of its commit, which grows with the group, and wait for its end.
    var nanosecondsBesideOthers: UInt64 {
        let goal = Self.goalRatio * usual / 2
        return UInt64(max(usual / 4, min(commit, goal - commit)))
    }

    /// Takes note of a group's commit.
    mutating func committed(nanoseconds: UInt64) {
        commit += (Double(nanoseconds) - commit) / 8
    }
}
