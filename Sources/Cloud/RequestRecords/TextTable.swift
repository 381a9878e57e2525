import Platform

/// Texts and their numbers, from 0 in the order in which they came.
struct TextTable {
    private struct Entry {
        let hash: UInt64
        let start: Int
        let count: Int
    }

    /// A number and 1 for each text, by its hash; 0 where there is none.
    private var slots: [UInt32] = Array(repeating: 0, count: 256)
    private var entries: [Entry] = []
    private var bytes: [UInt8] = []
    /// Of this process alone: nobody can make texts that meet.
    private let seed = UInt64(truncatingIfNeeded: Hasher().finalize())

    var count: Int { entries.count }

    func number(of text: UnsafeRawBufferPointer) -> UInt32? {
        let hash = Self.hash(text, seed)
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] > 0 {
            let number = slots[slot] - 1
            let entry = entries[Int(number)]
            if entry.hash == hash, isSame(entry, text) { return number }
            slot = (slot + 1) & mask
        }
        return nil
    }

    private func isSame(_ entry: Entry, _ text: UnsafeRawBufferPointer) -> Bool {
        guard entry.count == text.count, let other = text.baseAddress else {
            return entry.count == text.count
        }
        return bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map { memcmp($0 + entry.start, other, entry.count) == 0 } ?? false
        }
    }

    /// Gives a text the next number.
    mutating func add(_ text: UnsafeRawBufferPointer) -> UInt32 {
        let number = UInt32(entries.count)
        let hash = Self.hash(text, seed)
        entries.append(Entry(hash: hash, start: bytes.count, count: text.count))
        bytes.append(contentsOf: text)
        if entries.count * 2 > slots.count {
            slots = Array(repeating: 0, count: slots.count * 2)
            for (number, entry) in entries.enumerated() { insert(UInt32(number), entry.hash) }
        } else {
            insert(number, hash)
        }
        return number
    }

    private mutating func insert(_ number: UInt32, _ hash: UInt64) {
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] > 0 { slot = (slot + 1) & mask }
        slots[slot] = number + 1
    }

    /// Eight bytes at a time: each is multiplied in, with both halves of the product.
    private static func hash(_ text: UnsafeRawBufferPointer, _ seed: UInt64) -> UInt64 {
        var hash = seed ^ UInt64(text.count)
        func mix(_ word: UInt64) {
            let product = (hash ^ word).multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
            hash = product.high ^ product.low ^ seed
        }
        var offset = 0
        while offset + 8 <= text.count {
            mix(text.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var last: UInt64 = 0
        while offset < text.count {
            last = last << 8 | UInt64(text[offset])
            offset += 1
        }
        mix(last)
        return hash
    }
}
