/// A pass over `names` that brings in what waits, in order of the hash.
///
/// It is in memory alone. After a kill the next one begins again, with what is in `names` already and what is not.
struct NamePass {
    /// The records behind this one were not in `names` when it began.
    let after: Int64
    /// The last record that it brings in.
    let through: Int64
    /// In the order of hashes.
    private let entries: [NameChains.Entry]
    /// How many of them are in `names`, as the current group has it and as it was committed.
    private var done = 0
    private var committed = 0

    /// - Parameter entries: in the order of records.
    init(after: Int64, _ entries: [NameChains.Entry]) {
        (self.after, through) = (after, entries.last?.record ?? after)
        self.entries = Self.ordered(entries)
    }

    /// Entries in the order of the first bits of their hashes, in which neighbours share a page.
    ///
    /// All bits would take ten times as long, in one step.
    private static func ordered(_ entries: [NameChains.Entry]) -> [NameChains.Entry] {
        func digit(_ entry: NameChains.Entry) -> Int {
            Int(truncatingIfNeeded: UInt64(bitPattern: entry.hash ^ .min) &>> 48)
        }
        var offsets = [Int](repeating: 0, count: 1 << 16 + 1)
        for entry in entries { offsets[digit(entry) + 1] += 1 }
        for index in 1..<offsets.count { offsets[index] += offsets[index - 1] }
        var ordered = entries
        for entry in entries {
            ordered[offsets[digit(entry)]] = entry
            offsets[digit(entry)] += 1
        }
        return ordered
    }

    /// The next entries.
    mutating func take(_ limit: Int) -> ArraySlice<NameChains.Entry> {
        let first = done
        done = min(first + limit, entries.count)
        return entries[first..<done]
    }

    /// Whether all have been taken.
    var isDone: Bool { done == entries.count }

    mutating func noteCommit() { committed = done }

    /// What the group has taken may have been undone: it comes again, which does no harm to what was not.
    mutating func rolledBack() { done = committed }
}
