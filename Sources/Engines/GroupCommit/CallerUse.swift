#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// How much of the writer's time each caller has had lately.
///
/// It tells callers who hold others up from those who are held up. What was used counts half as much
/// after each second. Confined to the committer's queue.
struct CallerUse {
    /// The time after which use counts half.
    private static let halfLifeNanoseconds = 1e9
    /// Who has had less than this, about a thirtieth of the writer, holds nobody up.
    private static let heavyNanosecondsMin = 5e7
    /// A caller is light beside another who has had so many times as much.
    private static let lightRatio = 8.0
    /// How many callers are remembered; past it those go who have hardly used anything.
    private static let callersMax = 4_096

    private struct Use {
        var nanoseconds: Double
        var at: UInt64
    }

    private var uses: [UInt64: Use] = [:]

    /// Notes that a caller's job has run.
    mutating func note(_ caller: UInt64, nanoseconds: UInt64, now: UInt64) {
        let before = used(by: caller, now: now)
        uses[caller] = Use(nanoseconds: before + Double(nanoseconds), at: now)
        guard uses.count > Self.callersMax else { return }
        uses = uses.filter { used(by: $0.key, now: now) > Self.heavyNanosecondsMin / 100 }
        if uses.count > Self.callersMax { uses = [:] }
    }

    /// How much a caller may have used the writer and still count as light beside these callers;
    /// nil when none of them holds others up.
    func lightBound(beside callers: some Sequence<UInt64>, now: UInt64) -> Double? {
        var heaviest = 0.0
        var last: UInt64?
        for caller in callers where caller != last {
            heaviest = max(heaviest, used(by: caller, now: now))
            last = caller
        }
        return heaviest < Self.heavyNanosecondsMin ? nil : heaviest / Self.lightRatio
    }

    /// The same beside all who have used it lately.
    func heaviestBound(now: UInt64) -> Double? { lightBound(beside: uses.keys, now: now) }

    /// Whether somebody has written within the last second who may be held up by those of whom the bound tells.
    func hasLight(bound: Double, now: UInt64) -> Bool {
        uses.contains { caller, use in
            now < use.at &+ Self.recentNanoseconds && isLight(caller, bound: bound, now: now)
        }
    }

    private static let recentNanoseconds: UInt64 = 1_000_000_000

    /// Whether a caller is held up by those of whom the bound tells; what the process does by itself is not.
    func isLight(_ caller: UInt64, bound: Double, now: UInt64) -> Bool {
        caller != PendingJob.background && used(by: caller, now: now) < bound
    }

    private func used(by caller: UInt64, now: UInt64) -> Double {
        guard let use = uses[caller] else { return 0 }
        let age = now > use.at ? Double(now - use.at) : 0
        return use.nanoseconds * exp2(-age / Self.halfLifeNanoseconds)
    }
}
