import CloudModel

/// Where the lines of a segment are: all of them, and those of each user and each device.
struct SegmentIndex: Sendable {
    /// Times of lines are told from it.
    var base: Milliseconds
    var lineCount = 0
    var first: Milliseconds = .max
    var last: Milliseconds = .min
    /// Where each text is, by its number.
    var texts: [UInt32] = []
    /// Which lines have which key, in their order.
    private var entries: [Entry] = []

    private struct Entry {
        let key: UInt64
        let offset: UInt32
    }

    init(base: Milliseconds) { self.base = base }

    /// - Parameters:
    ///   - user: the key of its user.
    ///   - device: the key of its device.
    mutating func note(_ time: Milliseconds, user: UInt64?, device: UInt64?, at offset: Int) {
        lineCount += 1
        first = min(first, time)
        last = max(last, time)
        let offset = UInt32(truncatingIfNeeded: offset)
        if let user { entries.append(Entry(key: user, offset: offset)) }
        if let device { entries.append(Entry(key: device, offset: offset)) }
    }

    /// Where the lines of a key are, in their order.
    func lines(of key: UInt64) -> [UInt32] {
        var found: [UInt32] = []
        for entry in entries where entry.key == key { found.append(entry.offset) }
        return found
    }

    /// The keys of all lines, each once.
    var keys: Set<UInt64> { Set(entries.map(\.key)) }

    static func key(user: String) -> UInt64 { hash(user.utf8, kind: 1) }
    static func key(device: String) -> UInt64 { hash(device.utf8, kind: 2) }
    static func key(user: UnsafeRawBufferPointer) -> UInt64 { hash(user, kind: 1) }
    static func key(device: UnsafeRawBufferPointer) -> UInt64 { hash(device, kind: 2) }

    /// Two texts may have one hash: a reader that finds a line by it looks at the line.
    private static func hash(_ text: some Sequence<UInt8>, kind: UInt8) -> UInt64 {
        var hash = (0xcbf2_9ce4_8422_2325 ^ UInt64(kind)) &* 0x100_0000_01b3
        for byte in text { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }

    static let keyBytes = 16
    static let headBytes = 8 + 4 + 8 + 8 + 4 + 4 + 4

    /// The index as it stands at the end of a segment: its counts, where texts are, the keys in their order, and the
    /// lines of each.
    var bytes: [UInt8] {
        let sorted = entries.sorted { ($0.key, $0.offset) < ($1.key, $1.offset) }
        var keys: [(key: UInt64, start: Int)] = []
        for (number, entry) in sorted.enumerated() where keys.last?.key != entry.key {
            keys.append((entry.key, number))
        }
        var out = LineBytes()
        out.reserve(
            Self.headBytes + texts.count * 4 + keys.count * Self.keyBytes + sorted.count * 4)
        out.fixed(UInt64(bitPattern: base))
        out.fixed(UInt32(truncatingIfNeeded: lineCount))
        out.fixed(UInt64(bitPattern: first))
        out.fixed(UInt64(bitPattern: last))
        for part in [texts.count, keys.count, sorted.count] {
            out.fixed(UInt32(truncatingIfNeeded: part))
        }
        for offset in texts { out.fixed(offset) }
        for (number, key) in keys.enumerated() {
            let end = number + 1 < keys.count ? keys[number + 1].start : sorted.count
            out.fixed(key.key)
            out.fixed(UInt32(truncatingIfNeeded: key.start))
            out.fixed(UInt32(truncatingIfNeeded: end - key.start))
        }
        for entry in sorted { out.fixed(entry.offset) }
        return out.bytes
    }
}
