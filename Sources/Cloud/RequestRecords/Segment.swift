import CloudModel

/// One segment as it is searched.
final class Segment {
    private let file: SegmentBytes
    private let index: Index
    private var texts: [UInt32: String] = [:]

    /// Where its index is.
    private enum Index {
        /// At its end.
        case stored(StoredIndex)
        /// It is being written.
        case memory(SegmentIndex)
    }

    /// The parts of an index at the end of a segment.
    private struct StoredIndex {
        let base: Milliseconds
        let first: Milliseconds
        let last: Milliseconds
        let textCount: Int
        let keyCount: Int
        let lineCount: Int
        let textsAt: Int
        let keysAt: Int
        let linesAt: Int
        /// Where blocks end.
        let start: Int
    }

    /// A segment that is being written, by its writer's index.
    init?(_ path: String, _ index: SegmentIndex) {
        guard let file = SegmentBytes(path) else { return nil }
        self.file = file
        self.index = .memory(index)
    }

    /// A segment that is full.
    ///
    /// - Returns: nil where it is not there any more, or has no index that can be read.
    convenience init?(full path: String) {
        guard let file = SegmentBytes(path) else { return nil }
        self.init(full: file)
    }

    /// - Returns: nil for what has no index that can be read.
    init?(full file: SegmentBytes) {
        do throws(DamagedLine) {
            index = .stored(try Self.index(of: file))
        } catch {
            return nil
        }
        self.file = file
    }

    private static func index(of file: SegmentBytes) throws(DamagedLine) -> StoredIndex {
        let tailAt = file.byteCount - SegmentForm.tailBytes
        guard tailAt > SegmentForm.headBytes else { throw DamagedLine() }
        guard try file.bytes(at: 0, count: 8).elementsEqual(SegmentForm.magic) else {
            throw DamagedLine()
        }
        var tail = LineReader(try file.bytes(at: tailAt, count: SegmentForm.tailBytes))
        let start = try tail.fixed64()
        guard try tail.raw(8).elementsEqual(SegmentForm.endMagic), start < UInt64(tailAt) else {
            throw DamagedLine()
        }
        let indexAt = Int(start)
        var head = LineReader(try file.bytes(at: indexAt, count: SegmentIndex.headBytes))
        let base = Int64(bitPattern: try head.fixed64())
        _ = try head.fixed32()
        let first = Int64(bitPattern: try head.fixed64())
        let last = Int64(bitPattern: try head.fixed64())
        let textCount = Int(try head.fixed32())
        let keyCount = Int(try head.fixed32())
        let lineCount = Int(try head.fixed32())
        let textsAt = indexAt + SegmentIndex.headBytes
        let keysAt = textsAt + textCount * 4
        let linesAt = keysAt + keyCount * SegmentIndex.keyBytes
        guard linesAt + lineCount * 4 == tailAt else { throw DamagedLine() }
        return StoredIndex(
            base: base, first: first, last: last, textCount: textCount, keyCount: keyCount,
            lineCount: lineCount, textsAt: textsAt, keysAt: keysAt, linesAt: linesAt,
            start: indexAt)
    }

    /// The moments of its first and its last line.
    var times: (first: Milliseconds, last: Milliseconds) {
        switch index {
        case .stored(let stored): (stored.first, stored.last)
        case .memory(let index): (index.first, index.last)
        }
    }

    /// Where the lines of a key are.
    func lines(of key: UInt64) throws(DamagedLine) -> [UInt32] {
        switch index {
        case .memory(let index): return index.lines(of: key)
        case .stored(let stored):
            var (low, high) = (0, stored.keyCount)
            while low < high {
                let middle = (low + high) / 2
                var reader = LineReader(
                    try file.bytes(
                        at: stored.keysAt + middle * SegmentIndex.keyBytes,
                        count: SegmentIndex.keyBytes))
                let found = try reader.fixed64()
                let (start, count) = (Int(try reader.fixed32()), Int(try reader.fixed32()))
                if found == key { return try lines(start, count, stored) }
                if found < key { low = middle + 1 } else { high = middle }
            }
            return []
        }
    }

    private func lines(
        _ start: Int, _ count: Int, _ stored: StoredIndex
    ) throws(DamagedLine) -> [UInt32] {
        guard start + count <= stored.lineCount else { throw DamagedLine() }
        var reader = LineReader(try file.bytes(at: stored.linesAt + start * 4, count: count * 4))
        var found: [UInt32] = []
        found.reserveCapacity(count)
        for _ in 0..<count { found.append(try reader.fixed32()) }
        return found
    }

    /// Where all its lines are.
    ///
    /// Reads all of it.
    func allLines() throws(DamagedLine) -> [UInt32] {
        try file.readWhole()
        var found: [UInt32] = []
        let end =
            switch index {
            case .stored(let stored): stored.start
            case .memory: file.byteCount
            }
        try Self.forEachItem(of: file, through: end) { kind, _, offset in
            if kind == .line { found.append(UInt32(truncatingIfNeeded: offset)) }
        }
        return found
    }

    /// Visits what the blocks hold; a block that is not whole, or not what was written, ends it.
    ///
    /// - Returns: where the last whole block ends.
    @discardableResult
    static func forEachItem(
        of file: SegmentBytes, through end: Int,
        _ visit: (SegmentForm.Item, ArraySlice<UInt8>, Int) throws(DamagedLine) -> Void
    ) throws(DamagedLine) -> Int {
        var offset = SegmentForm.headBytes
        while offset + SegmentForm.blockHeadBytes <= end {
            var head = LineReader(try file.bytes(at: offset, count: SegmentForm.blockHeadBytes))
            let (count, sum) = (Int(try head.fixed32()), try head.fixed32())
            let start = offset + SegmentForm.blockHeadBytes
            guard count > 0, count <= SegmentForm.blockBytesMax, start + count <= end,
                SegmentForm.checksum(try file.bytes(at: start, count: count)) == sum
            else { return offset }
            var item = start
            while item < start + count {
                let found = try file.item(at: item)
                guard found.end <= start + count else { throw DamagedLine() }
                try visit(found.kind, found.bytes, item)
                item = found.end
            }
            offset = start + count
        }
        return offset
    }

    /// The line at a place.
    func entry(at offset: UInt32) throws(DamagedLine) -> RequestEntry {
        let item = try file.item(at: Int(offset))
        guard item.kind == .line else { throw DamagedLine() }
        let base =
            switch index {
            case .stored(let stored): stored.base
            case .memory(let index): index.base
            }
        return try LineCodec.entry(item.bytes, since: base) { number throws(DamagedLine) in
            try self.text(number)
        }
    }

    private func text(_ number: UInt32) throws(DamagedLine) -> String {
        if let known = texts[number] { return known }
        let offset: Int
        switch index {
        case .memory(let index):
            guard Int(number) < index.texts.count else { throw DamagedLine() }
            offset = Int(index.texts[Int(number)])
        case .stored(let stored):
            guard Int(number) < stored.textCount else { throw DamagedLine() }
            var reader = LineReader(
                try file.bytes(at: stored.textsAt + Int(number) * 4, count: 4))
            offset = Int(try reader.fixed32())
        }
        let item = try file.item(at: offset)
        guard item.kind == .text else { throw DamagedLine() }
        let text = String(decoding: item.bytes, as: UTF8.self)
        texts[number] = text
        return text
    }
}
