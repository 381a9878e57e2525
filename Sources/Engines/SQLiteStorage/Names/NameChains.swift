/// Records by the hashes of their names, in the order in which they were added, which is that of their numbers.
///
/// A table of chains: each entry leads to the one before it in the same bucket.
struct NameChains {
    struct Entry {
        let hash: Int64
        let record: Int64
        /// The one before it in its bucket, counted from 1; 0 for none.
        fileprivate var next: UInt32 = 0

        init(hash: Int64, record: Int64) { (self.hash, self.record) = (hash, record) }
    }

    /// The records that a name may be of.
    struct Candidates {
        /// The latest; nil for none.
        fileprivate(set) var first: Int64?
        /// Those before it, whose hashes are the same.
        fileprivate(set) var others: [Int64] = []
    }

    private(set) var entries: [Entry] = []
    /// The last entry of each bucket, counted from 1; 0 for none.
    private var buckets = [UInt32](repeating: 0, count: 1 << bucketBitsMin)
    private var bucketBits = bucketBitsMin

    private static let bucketBitsMin = 4

    init() {}

    /// Whether the next one takes long, because there is no room for it.
    var isFull: Bool { entries.count == buckets.count }

    /// - Parameter record: behind all that are there.
    mutating func add(_ hash: Int64, _ record: Int64) {
        if isFull { makeRoom() }
        entries.append(Entry(hash: hash, record: record))
        link(entries.count - 1)
    }

    func records(of hash: Int64) -> Candidates {
        var found = Candidates()
        var number = buckets[bucket(of: hash)]
        while number != 0 {
            let entry = entries[Int(number) - 1]
            if entry.hash == hash {
                if found.first == nil {
                    found.first = entry.record
                } else {
                    found.others.append(entry.record)
                }
            }
            number = entry.next
        }
        return found
    }

    /// Takes out the latest ones again.
    ///
    /// - Parameter count: how many stay.
    mutating func keep(_ count: Int) {
        while entries.count > count {
            let entry = entries.removeLast()
            buckets[bucket(of: entry.hash)] = entry.next
        }
    }

    /// The place of the first entry behind a record.
    func index(behind record: Int64) -> Int {
        var range = entries.indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if entries[middle].record > record {
                range = range.lowerBound..<middle
            } else {
                range = middle + 1..<range.upperBound
            }
        }
        return range.lowerBound
    }

    /// Without the records up to one.
    func behind(_ record: Int64) -> NameChains {
        var made = NameChains()
        made.entries = Array(entries[index(behind: record)...])
        made.makeRoom()
        return made
    }

    /// Makes room for as many entries as there are, at most, and links all of them again.
    mutating func makeRoom() {
        while 1 << bucketBits <= entries.count { bucketBits += 1 }
        entries.reserveCapacity(1 << bucketBits)
        buckets = [UInt32](repeating: 0, count: 1 << bucketBits)
        for index in entries.indices { link(index) }
    }

    private mutating func link(_ index: Int) {
        let bucket = bucket(of: entries[index].hash)
        entries[index].next = buckets[bucket]
        buckets[bucket] = UInt32(index + 1)
    }

    /// By the bits of a hash that are used even where few are.
    private func bucket(of hash: Int64) -> Int {
        Int(truncatingIfNeeded: UInt64(bitPattern: hash) &>> UInt64(64 - bucketBits))
    }
}
