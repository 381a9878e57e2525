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
    /// Where the lines of a key are, in their order.
    var lines: [UInt64: [UInt32]] = [:]

    init(base: Milliseconds) { self.base = base }

    mutating func note(_ entry: RequestEntry, at offset: Int) {
        lineCount += 1
        first = min(first, entry.time)
        last = max(last, entry.time)
        for key in Self.keys(of: entry) {
            lines[key, default: []].append(UInt32(truncatingIfNeeded: offset))
        }
    }

    /// What a line is found by.
    static func keys(of entry: RequestEntry) -> [UInt64] {
        [entry.user.map { key(user: $0) }, entry.device.map { key(device: $0) }].compactMap { $0 }
    }

    static func key(user: String) -> UInt64 { hash(user, kind: 1) }
    static func key(device: String) -> UInt64 { hash(device, kind: 2) }

    /// Two texts may have one hash: whoever finds a line by it looks at the line.
    private static func hash(_ text: String, kind: UInt8) -> UInt64 {
        var hash = (0xcbf2_9ce4_8422_2325 ^ UInt64(kind)) &* 0x100_0000_01b3
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }

    static let keyBytes = 16
    static let headBytes = 8 + 4 + 8 + 8 + 4 + 4 + 4

    /// The index as it stands at the end of a segment: its counts, where texts are, the keys in their order, and the
    /// lines of each.
    var bytes: [UInt8] {
        var out = LineBytes()
        let keys = lines.keys.sorted()
        let count = lines.values.reduce(0) { $0 + $1.count }
        out.reserve(Self.headBytes + texts.count * 4 + keys.count * Self.keyBytes + count * 4)
        out.fixed(UInt64(bitPattern: base))
        out.fixed(UInt32(truncatingIfNeeded: lineCount))
        out.fixed(UInt64(bitPattern: first))
        out.fixed(UInt64(bitPattern: last))
        for part in [texts.count, keys.count, count] { out.fixed(UInt32(truncatingIfNeeded: part)) }
        for offset in texts { out.fixed(offset) }
        var start: UInt32 = 0
        for key in keys {
            let count = UInt32(truncatingIfNeeded: lines[key]?.count ?? 0)
            out.fixed(key)
            out.fixed(start)
            out.fixed(count)
            start &+= count
        }
        for key in keys {
            for offset in lines[key] ?? [] { out.fixed(offset) }
        }
        return out.bytes
    }
}
