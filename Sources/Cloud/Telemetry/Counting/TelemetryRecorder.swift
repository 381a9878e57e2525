import CloudModel
import Synchronization

/// Counts finished requests and notices, in memory, until somebody takes a minute's worth of it.
///
/// Each event loop has counts of its own, so that none waits for another. `record` may be called from any thread and
/// takes well under a microsecond.
package final class TelemetryRecorder: Sendable {
    private struct Shard {
        var live: [LiveName: LiveTotals] = [:]
        /// Where requests count that have been seen in this minute.
        var byKey: [LiveKey: LiveEntry] = [:]
        /// The last of them: the next request is often of the same kind.
        var latest: LiveEntry?
        /// About how much memory all of it takes.
        var bytes = 0

        /// Counts a request where its kind counts; once there is no room for more, where all others do.
        mutating func note(
            _ request: borrowing MeasuredRequest, _ totals: LiveTotals, _ hash: UserHash,
            within bytesMax: Int
        ) {
            if bytes >= bytesMax, !totals.hasRoom(for: request) {
                bytes &+= self.totals(of: .other).note(request, hash)
            } else {
                bytes &+= totals.note(request, hash)
            }
        }

        mutating func totals(of name: LiveName) -> LiveTotals {
            if let known = live[name] { return known }
            let totals = LiveTotals()
            live[name] = totals
            bytes &+= LiveTotals.bytesMin
            return totals
        }

        /// Remembers where requests like this one count.
        mutating func remember(_ entry: LiveEntry, within bytesMax: Int) {
            latest = entry
            guard byKey.count < TelemetryRecorder.keysMax, bytes < bytesMax else { return }
            byKey[entry.key] = entry
            bytes &+= LiveEntry.bytes
        }
    }

    /// How many kinds of requests one loop remembers in a minute; for others it asks each time.
    private static let keysMax = 8_192

    /// A lock on the heap, as an array cannot hold one in place.
    private final class ShardBox: Sendable {
        let shard = Mutex(Shard())
    }

    private struct Minute {
        var start: Milliseconds
        var names: LiveNames
        var notices: [SeriesName: TelemetryTotals] = [:]
    }

    /// Containers that a request has shown to be there.
    private struct KnownContainers {
        static let countMax = 10_000
        var names: Set<String> = []
    }

    private let shards: [ShardBox]
    private let minute: Mutex<Minute>
    private let known = Mutex(KnownContainers())
    private let budget: TelemetryBudget
    private let hash: UserHash
    private let clock: Clock

    package init(
        _ budget: TelemetryBudget = TelemetryBudget(), hash: UserHash, clock: Clock,
        shardCount: Int = 16
    ) {
        self.budget = budget
        self.hash = hash
        self.clock = clock
        shards = (0..<max(1, shardCount)).map { _ in ShardBox() }
        minute = Mutex(
            Minute(
                start: TelemetryStep.minute.start(of: clock.now()), names: LiveNames(budget)))
    }

    /// Counts one finished request.
    ///
    /// - Parameter client: tells what sent it; asked when `softwareHash` is new.
    package func record(_ request: borrowing MeasuredRequest, from client: () -> MeasuredClient) {
        let box = shards[Int(request.loop.magnitude % UInt(shards.count))]
        let bytesMax = budget.bytesPerLoopMax
        let isCounted = box.shard.withLock { shard in
            if let latest = shard.latest, latest.takes(request) {
                shard.note(request, latest.totals, hash, within: bytesMax)
                return true
            }
            guard let entry = shard.byKey[LiveKey(request)] else { return false }
            shard.latest = entry
            shard.note(request, entry.totals, hash, within: bytesMax)
            return true
        }
        if isCounted { return }
        // The first of its kind in a minute.
        let name = admitted(LiveName(request, client()), isKnown: request.isKnown)
        box.shard.withLock { shard in
            let isFull = shard.bytes >= bytesMax && shard.live[name] == nil
            let totals = shard.totals(of: isFull ? .other : name)
            shard.remember(LiveEntry(LiveKey(request), totals), within: bytesMax)
            shard.note(request, totals, hash, within: bytesMax)
        }
    }

    private func admitted(_ name: LiveName, isKnown: Bool) -> LiveName {
        let isThere = known.withLock { known in
            if known.names.contains(name.container) { return true }
            guard isKnown, known.names.count < KnownContainers.countMax else { return false }
            known.names.insert(name.container)
            return true
        }
        guard isThere else { return .other }
        return minute.withLock { $0.names.admit(name) }
    }

    /// Counts what came of attempts to send notices of a container environment.
    package func recordNotices(
        of container: String, in environment: Environment, by carrier: String, sent: Int,
        failed: Int
    ) {
        let name = SeriesName(
            .notices, container: container.lowercased(), environment: environment.rawValue,
            operation: carrier)
        minute.withLock { minute in
            guard minute.notices[name] != nil || minute.notices.count < budget.seriesMax else {
                return
            }
            minute.notices[name, default: TelemetryTotals()].noticesSent &+= UInt64(max(0, sent))
            minute.notices[name, default: TelemetryTotals()].noticesFailed &+=
                UInt64(max(0, failed))
        }
    }

    /// About how much memory takes what was counted since it was last taken.
    package var byteCount: Int {
        shards.reduce(0) { sum, box in sum + box.shard.withLock { $0.bytes } }
    }

    /// Takes all that was counted since it was last taken, as the minute in which that began.
    package func take() -> TelemetryMinute {
        var taken = minute.withLock { minute in
            let taken = TelemetryMinute(start: minute.start, series: minute.notices)
            minute = Minute(
                start: TelemetryStep.minute.start(of: clock.now()), names: LiveNames(budget))
            return taken
        }
        for box in shards {
            let live = box.shard.withLock { shard in
                let live = shard.live.mapValues(\.totals)
                shard = Shard()
                return live
            }
            for (name, totals) in live {
                taken.series[name.requests, default: TelemetryTotals()].add(totals)
                guard let versions = name.versions else { continue }
                taken.series[versions, default: TelemetryTotals()].add(totals)
            }
        }
        return taken
    }
}
