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

    /// Reads more of them.
    ///
    /// - Parameter most: reads at most this many, and one more to tell whether there are more.
    /// - Returns: whether there were more.
    mutating func grow(
        _ key: Key, _ stored: any StoreSnapshot, upTo most: Int
    ) throws -> Bool {
        guard !isWhole else { return false }
        limit = min(limit * 4, sources.count + most + 1)
        let read = try stored.sources(
            of: key.target.name, in: key.target.zone, kinds: key.kinds, limit: limit)
        isWhole = read.count < limit
        let known = sources.count
        sources += read.dropFirst(known).map {
            (RecordKey(zone: $0.zone, name: $0.name), $0.kind)
        }
        return sources.count > known
    }
}
