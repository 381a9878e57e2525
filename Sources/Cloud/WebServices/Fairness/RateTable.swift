/// The budgets of the callers that were here last, in memory that never grows.
///
/// A caller is known by a hash with a secret of the process, and may be in one of eight places. When all
/// eight are taken, a new caller gets the place of the one whose budgets are nearest to full. So little is
/// forgotten. And somebody who calls from ever new addresses mostly pushes out their own entries.
package struct RateTable {
    /// The moments at which a caller's budgets are full again.
    package struct Entry: Sendable {
        fileprivate var hash: UInt64 = 0
        package var requests: UInt64 = 0
        package var records: UInt64 = 0
        package var bytes: UInt64 = 0

        fileprivate var fullAt: UInt64 { max(requests, records, bytes) }
    }

    private static let ways = 8
    private var entries: [Entry]
    private let setMask: UInt64

    /// - Parameter callersMax: how many entries there are; rounded up to a power of two, at least 8.
    package init(callersMax: Int) {
        var sets = 1
        while sets * Self.ways < callersMax { sets *= 2 }
        entries = [Entry](repeating: Entry(), count: sets * Self.ways)
        setMask = UInt64(sets - 1)
    }

    package var capacity: Int { entries.count }

    /// The place of a caller, cleared when it was another one's.
    package mutating func withEntry<Value>(
        _ hash: UInt64, _ body: (inout Entry) throws -> Value
    ) rethrows -> Value {
        // 0 marks a place that nobody has had.
        let hash = hash | 1
        let start = Int((hash >> 1) & setMask) * Self.ways
        var found = start
        for index in start..<start + Self.ways {
            if entries[index].hash == hash { return try body(&entries[index]) }
            if entries[index].fullAt < entries[found].fullAt { found = index }
        }
        entries[found] = Entry()
        entries[found].hash = hash
        return try body(&entries[found])
    }
}
