import CloudModel
import Storage

/// The stored records that refer to a name, as far as they were read.
struct SourceRun {
    struct Key: Hashable {
        let target: RecordKey
        let kinds: ClosedRange<LinkKind>
    }

    private(set) var sources: [(RecordKey, LinkKind)] = []
    private var isWhole = false
    private var limit = 8
    /// What was read of them together with those of other targets, at most `aheadMax`.
    private let ahead: [LinkSource]

    /// As many as a run reads at first.
    static let aheadMax = 32

    init(ahead: [LinkSource]) { self.ahead = ahead }

    /// Reads more of them.
    ///
    /// - Parameter most: reads at most this many, and one more to tell whether there are more.
    /// - Returns: whether there were more.
    mutating func grow(
        _ key: Key, _ stored: any StoreSnapshot, upTo most: Int
    ) throws -> Bool {
        guard !isWhole else { return false }
        limit = min(limit * 4, sources.count + most + 1)
        let read =
            if limit <= Self.aheadMax {
                Array(ahead.prefix(limit))
            } else {
                try stored.sources(
                    of: key.target.name, in: key.target.zone, kinds: key.kinds, limit: limit)
            }
        isWhole = read.count < limit
        let known = sources.count
        sources += read.dropFirst(known).map {
            (RecordKey(zone: $0.zone, name: $0.name), $0.kind)
        }
        return sources.count > known
    }
}

/// What refers to each of the targets that a batch has looked at.
struct SourceRuns {
    private var runs: [SourceRun.Key: SourceRun] = [:]
    private var newSources: [RecordKey] = []

    /// How many targets are asked for at once.
    private static let targetsMax = 400
    /// How many parents are asked for their children at once: some have many, which nobody may want.
    static let parentsMax = 200

    subscript(_ key: SourceRun.Key) -> SourceRun? {
        get { runs[key] }
        set {
            let known = runs[key]?.sources.count ?? 0
            newSources += newValue?.sources.dropFirst(known).map(\.0) ?? []
            runs[key] = newValue
        }
    }

    /// The sources that were found since this was last called.
    mutating func takeNewSources() -> [RecordKey] {
        defer { newSources = [] }
        return newSources
    }

    /// The run of a target; the first time, it is read with those of others of which the same will be asked: targets
    /// beside it, and what was found to refer to any.
    mutating func run(
        _ key: SourceRun.Key, _ stored: any StoreSnapshot, beside others: () -> [RecordName]
    ) throws -> SourceRun {
        if let known = runs[key] { return known }
        let zone = key.target.zone
        var names = Set(others())
        for (source, _) in runs.values.lazy.flatMap(\.sources) where source.zone == zone {
            guard names.count < Self.targetsMax else { break }
            names.insert(source.name)
        }
        names.insert(key.target.name)
        let keys = names.map {
            SourceRun.Key(target: RecordKey(zone: zone, name: $0), kinds: key.kinds)
        }.filter { runs[$0] == nil }
        let read = try stored.sources(
            of: keys.map(\.target.name), in: zone, kinds: key.kinds, after: RecordNumber(.min),
            limit: SourceRun.aheadMax)
        for (key, sources) in zip(keys, read) { runs[key] = SourceRun(ahead: sources) }
        return runs[key] ?? SourceRun(ahead: [])
    }

    /// The targets whose sources were looked at, or read with those of others.
    var targets: Set<RecordKey> { Set(runs.keys.map(\.target)) }

    /// The sources that were looked at.
    var sources: Set<RecordKey> {
        Set(runs.values.lazy.flatMap { $0.sources.lazy.map(\.0) })
    }
}
