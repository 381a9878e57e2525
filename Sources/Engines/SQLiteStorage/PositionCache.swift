import Storage
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Where the versions of names lie, as they were seen last, for all stores of an engine.
///
/// Each place is a hint. A reader that gets one looks whether a version of the name is there. As a version goes when
/// another takes its place, one that is there is the present one. So a hint that is wrong costs a look, and one that is
/// right saves the search for the name and for its head.
///
/// Places lie in buckets by their hashes, eight to a bucket. Whenever there are more than three to each, one bucket is
/// split in two ("Linear hashing", Litwin, 1980). So memory is taken as names come, up to the limit. From then on, new
/// places are kept instead of others. Any thread may call. Threads that meet in a bucket may lose a place, no more.
package final class PositionCache: @unchecked Sendable {
    // Unchecked: what the pointer leads to is changed by atomic operations alone, and goes with the object.

    private typealias Slot = Atomic<UInt64>

    private static let slotsOfBucket = 8
    private static let slotsWanted = 3
    private static let bucketBytes = slotsOfBucket * MemoryLayout<UInt64>.stride
    /// How many of a hash's last bits are the same for all of a bucket, however few there are.
    private static let bucketBits: UInt64 = 10

    /// Each with bits of the hash above the position; 0 for none.
    private let slots: UnsafeMutablePointer<Slot>?
    private let bucketsMax: Int
    private let buckets: Atomic<Int>
    private let filled = Atomic<Int>(0)
    private let splitting = Mutex(())

    /// - Parameter bytesMax: the memory that it takes at most; for fewer than 64 bytes it knows nothing.
    package init(bytesMax: Int) {
        let wanted = bytesMax / Self.bucketBytes
        // Memory that nobody has touched yet is none, and all zeros.
        let memory =
            wanted > 0
            ? mmap(
                nil, wanted * Self.bucketBytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED
        let isThere = memory != MAP_FAILED
        slots =
            isThere
            ? memory?.bindMemory(to: Slot.self, capacity: wanted * Self.slotsOfBucket) : nil
        bucketsMax = isThere ? wanted : 0
        buckets = Atomic(min(1 << Int(Self.bucketBits), bucketsMax))
    }

    deinit {
        if let slots { munmap(slots, bucketsMax * Self.bucketBytes) }
    }

    /// Where the version of a name was seen last; nil when that is not known.
    func position(of hash: Int64) -> Position? {
        guard let bucket = bucket(of: hash) else { return nil }
        let mark = Self.mark(of: hash)
        for number in 0..<Self.slotsOfBucket {
            let slot = bucket[number].load(ordering: .relaxed)
            if slot != 0, slot & ~Self.positionMask == mark {
                return Position(slot & Self.positionMask)
            }
        }
        return nil
    }

    /// Notes where the version of a name lies, also before it is committed.
    func note(_ hash: Int64, at position: Position) {
        guard let bucket = bucket(of: hash) else { return }
        let mark = Self.mark(of: hash)
        let slot = mark | UInt64(position)
        var free: Int?
        for number in 0..<Self.slotsOfBucket {
            let previous = bucket[number].load(ordering: .relaxed)
            if previous == 0 {
                free = free ?? number
            } else if previous & ~Self.positionMask == mark {
                return bucket[number].store(slot, ordering: .relaxed)
            }
        }
        // In a full one, any of them goes.
        let chosen = free ?? Int(position) & (Self.slotsOfBucket - 1)
        bucket[chosen].store(slot, ordering: .relaxed)
        if free != nil { noteFilled() }
    }

    // MARK: - Buckets

    private static let positionMask = UInt64(SQLiteSnapshot.positionMask)

    /// What a slot says of the hash beside its bucket.
    private static func mark(of hash: Int64) -> UInt64 {
        (UInt64(bitPattern: hash) >> bucketBits) << UInt64(SQLiteSnapshot.positionBits)
    }

    private func bucket(of hash: Int64) -> UnsafeMutablePointer<Slot>? {
        guard let slots else { return nil }
        let count = buckets.load(ordering: .relaxed)
        let round = Self.round(count)
        let bits = Int(truncatingIfNeeded: hash)
        let number = bits & (2 * round - 1)
        return slots + Self.slotsOfBucket * (number < count ? number : bits & (round - 1))
    }

    /// How many buckets there were when each had been split as often as any other.
    private static func round(_ count: Int) -> Int {
        1 << (Int.bitWidth - 1 - count.leadingZeroBitCount)
    }

    private func noteFilled() {
        let filled = filled.add(1, ordering: .relaxed).newValue
        guard filled > Self.slotsWanted * buckets.load(ordering: .relaxed) else { return }
        // Who comes meanwhile leaves it to the next one.
        _ = splitting.withLockIfAvailable { _ in split() }
    }

    /// Makes a bucket more, and moves into it what belongs there.
    private func split() {
        let count = buckets.load(ordering: .relaxed)
        guard let slots, count < bucketsMax else { return }
        let round = Self.round(count)
        let previous = slots + Self.slotsOfBucket * (count - round)
        let made = slots + Self.slotsOfBucket * count
        for number in 0..<Self.slotsOfBucket {
            let slot = previous[number].load(ordering: .relaxed)
            let above = Int(slot >> UInt64(SQLiteSnapshot.positionBits)) << Int(Self.bucketBits)
            let bits = above | (count - round) & ((1 << Int(Self.bucketBits)) - 1)
            guard slot != 0, bits & (2 * round - 1) == count else { continue }
            made[number].store(slot, ordering: .relaxed)
            previous[number].store(0, ordering: .relaxed)
        }
        buckets.store(count + 1, ordering: .relaxed)
    }
}
