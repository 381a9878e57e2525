/// How much is counted apart in one minute; the rest folds into `other`.
package struct TelemetryBudget: Sendable {
    /// Series of requests.
    package var seriesMax = 2_000
    /// Versions of one kind of client, in one container environment.
    package var versionsMax = 50
    /// Of series with a version each; as many again are counted without one.
    package var namesMax: Int { seriesMax }
    /// Memory for what one event loop counts in a minute: 2,000 series whose latencies are from 1 ms to 4 s have room in it.
    package var bytesPerLoopMax = 8_388_608

    package init(seriesMax: Int = 2_000) { self.seriesMax = seriesMax }
}

/// Which series of a minute are counted by themselves; asked when one is new to an event loop.
struct LiveNames {
    private let budget: TelemetryBudget
    private var names: Set<LiveName> = []
    private var series: Set<SeriesName> = []
    private var versions: Set<SeriesName> = []
    private var versionCounts: [SeriesName: Int] = [:]

    init(_ budget: TelemetryBudget) { self.budget = budget }

    /// By which name a request counts: its own, the same without the version, or the one of all others.
    mutating func admit(_ name: LiveName) -> LiveName {
        if names.contains(name) { return name }
        guard hasRoom(for: name.requests) else { return .other }
        guard let version = name.versions, version.version != SeriesName.other else { return name }
        guard names.count < budget.namesMax, hasRoom(forVersion: version) else {
            var folded = name
            folded.version = SeriesName.other
            return folded
        }
        names.insert(name)
        return name
    }

    private mutating func hasRoom(for name: SeriesName) -> Bool {
        guard !series.contains(name) else { return true }
        guard series.count < budget.seriesMax else { return false }
        series.insert(name)
        return true
    }

    private mutating func hasRoom(forVersion name: SeriesName) -> Bool {
        guard !versions.contains(name) else { return true }
        var client = name
        client.version = ""
        guard versionCounts[client, default: 0] < budget.versionsMax else { return false }
        versionCounts[client, default: 0] += 1
        versions.insert(name)
        return true
    }
}
