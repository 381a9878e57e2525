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
    private static let seed = UInt64(truncatingIfNeeded: Hasher().finalize())

    var count: Int { entries.count }

    /// - Parameter hash: that of the text.
    func number(of text: UnsafeRawBufferPointer, _ hash: UInt64) -> UInt32? {
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
    mutating func add(_ text: UnsafeRawBufferPointer, _ hash: UInt64) -> UInt32 {
        let number = UInt32(entries.count)
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

    /// Sixteen bytes at a time, and the last of them once more: with both halves of the products.
    static func hash(_ text: UnsafeRawBufferPointer) -> UInt64 {
        let seed = seed
        var hash = UInt64(text.count)
        func mix(_ first: UInt64, _ second: UInt64) {
            let product = (hash ^ first ^ 0x9e37_79b9_7f4a_7c15)
                .multipliedFullWidth(by: second ^ seed)
            hash = product.high ^ product.low ^ seed
        }
        func load(_ offset: Int) -> UInt64 {
            text.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        }
        guard text.count >= 16 else {
            // Some bytes are taken twice where there are not as many.
            switch text.count {
            case 8...: mix(load(0), load(text.count - 8))
            case 4...:
                mix(
                    UInt64(text.loadUnaligned(as: UInt32.self)),
                    UInt64(text.loadUnaligned(fromByteOffset: text.count - 4, as: UInt32.self)))
            case 1...:
                mix(
                    UInt64(text[0]),
                    UInt64(text[text.count / 2]) << 8 | UInt64(text[text.count - 1]))
            default: mix(0, 0)
            }
            return hash
        }
        var offset = 0
        while offset + 16 <= text.count {
            mix(load(offset), load(offset + 8))
            offset += 16
        }
        mix(load(text.count - 16), load(text.count - 8))
        return hash
    }
}
