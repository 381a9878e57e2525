import CloudModel

/// Makes a segment's blocks from lines that wait: each text becomes its number.
///
/// What says who asked and for what is the same in many lines: it is looked up as a whole.
struct LineEncoder {
    /// The texts of many lines, as numbers.
    private struct Head {
        /// Where its numbers are among those of all.
        var start: Int
        var count = 0
        /// Those of the first zone, which follow.
        var zoneCount = 0
        /// What lines with it are found by.
        var user: UInt64?
        var device: UInt64?
    }

    /// More heads are not remembered at once.
    private static let headsMax = 8_192
    /// A block ends with so many bytes.
    private static let blockBytes = 262_144
    /// Of 32 bits, seven in a byte.
    private static let numberBytesMax = 5

    var index: SegmentIndex
    /// The block that lines are appended to, and where in the segment it begins.
    private var block = GrowingBytes()
    private var start = 0
    private var texts = TextTable()
    private var heads = TextTable()
    private var known: [Head] = []
    private var headNumbers = GrowingBytes()

    init(_ index: SegmentIndex) { self.index = index }

    /// Takes a text that the segment has already.
    mutating func note(_ text: ArraySlice<UInt8>, at offset: Int) {
        text.withUnsafeBytes { _ = texts.add($0, TextTable.hash($0)) }
        index.texts.append(UInt32(truncatingIfNeeded: offset))
    }

    /// Forgets the block, and leaves room for the head of the next.
    private mutating func beginBlock(at start: Int) {
        block.removeAll()
        SegmentForm.begin(&block)
        self.start = start
    }

    /// Hands over blocks with lines.
    ///
    /// - Parameters:
    ///   - start: where in the segment the first of them begins.
    ///   - scratch: memory for a line.
    mutating func append<Failure>(
        _ lines: WaitingLines, from start: Int, by scratch: UnsafeMutableRawPointer,
        _ write: (borrowing GrowingBytes) throws(Failure) -> Void
    ) throws(Failure) {
        beginBlock(at: start)
        try lines.forEach { line throws(Failure) in
            append(line, by: scratch)
            guard block.count >= Self.blockBytes else { return }
            SegmentForm.end(&block)
            try write(block)
            beginBlock(at: self.start + block.count)
        }
        guard block.count > SegmentForm.blockHeadBytes else { return }
        SegmentForm.end(&block)
        try write(block)
    }

    /// Appends a line to the block, and before it the texts that are new to the segment.
    ///
    /// - Parameter scratch: memory for a line.
    private mutating func append(_ waiting: WaitingLine, by scratch: UnsafeMutableRawPointer) {
        let head = head(of: waiting)
        var line = LineCursor(scratch)
        line.number(UInt64(waiting.parts.rawValue))
        line.signed(waiting.time &- index.base)
        line.raw(waiting.idAndPlace)
        let zoneAt = head.start + head.count
        appendHeadNumbers(head.start..<zoneAt, to: &line)
        line.raw(waiting.numbers)
        appendRest(of: waiting, zoneAt..<zoneAt + head.zoneCount, to: &line)
        index.note(
            waiting.time, user: head.user, device: head.device, at: start + block.count)
        block.append(.line, UnsafeRawBufferPointer(start: scratch, count: line.at - scratch))
    }

    private mutating func head(of waiting: WaitingLine) -> Head {
        if let found = heads.number(of: waiting.head, waiting.headHash) {
            return known[Int(found)]
        }
        if known.count >= Self.headsMax {
            (heads, known, headNumbers) = (TextTable(), [], GrowingBytes())
        }
        var head = Head(start: headNumbers.count)
        var at = waiting.start + WaitingLine.textsAt
        for part in LineParts.texts where waiting.textParts.contains(part) {
            let text = Self.takeText(&at)
            appendHeadNumber(of: text)
            if part == .user { head.user = SegmentIndex.key(user: text) }
            if part == .device { head.device = SegmentIndex.key(device: text) }
        }
        head.count = headNumbers.count - head.start
        for part in [.zones, .zoneOwner] as [LineParts] where waiting.textParts.contains(part) {
            appendHeadNumber(of: Self.takeText(&at))
        }
        head.zoneCount = headNumbers.count - head.start - head.count
        known.append(head)
        _ = heads.add(waiting.head, waiting.headHash)
        return head
    }

    private mutating func appendHeadNumber(of text: UnsafeRawBufferPointer) {
        let number = number(of: text)
        headNumbers.append(atMost: Self.numberBytesMax) { start in
            var cursor = LineCursor(start)
            cursor.number(UInt64(number))
            return cursor.at - start
        }
    }

    private func appendHeadNumbers(_ range: Range<Int>, to line: inout LineCursor) {
        headNumbers.memory.withUnsafeBytes {
            line.raw(UnsafeRawBufferPointer(rebasing: $0[range]))
        }
    }

    /// - Parameter firstZone: where the numbers of its texts are among those of heads.
    private mutating func appendRest(
        of waiting: WaitingLine, _ firstZone: Range<Int>, to line: inout LineCursor
    ) {
        var at = waiting.rest
        if waiting.zoneCount > 0 { line.count(waiting.zoneCount) }
        for index in 0..<waiting.zoneCount {
            let parts = LineZoneParts(rawValue: Self.takeByte(&at))
            line.byte(parts.rawValue)
            if index == 0 {
                appendHeadNumbers(firstZone, to: &line)
            } else {
                for _ in 0..<(parts.contains(.owner) ? 2 : 1) {
                    line.number(UInt64(number(of: Self.takeText(&at))))
                }
            }
            line.raw(Self.takeText(&at))
        }
        if waiting.failureCount > 0 { line.count(waiting.failureCount) }
        for _ in 0..<waiting.failureCount {
            let hasReason = Self.takeByte(&at) > 0
            line.number(UInt64(number(of: Self.takeText(&at))))
            if hasReason {
                let reason = number(of: Self.takeText(&at))
                line.number(UInt64(reason) + 1)
            } else {
                line.byte(0)
            }
            line.raw(Self.takeText(&at))
        }
        if waiting.parts.contains(.saved) { line.raw(Self.takeText(&at)) }
    }

    private mutating func number(of text: UnsafeRawBufferPointer) -> UInt32 {
        let hash = TextTable.hash(text)
        if let known = texts.number(of: text, hash) { return known }
        index.texts.append(UInt32(truncatingIfNeeded: start + block.count))
        block.append(.text, text)
        return texts.add(text, hash)
    }

    private static func takeByte(_ at: inout UnsafeRawPointer) -> UInt8 {
        defer { at += 1 }
        return at.load(as: UInt8.self)
    }

    /// What has its length before it.
    private static func takeText(_ at: inout UnsafeRawPointer) -> UnsafeRawBufferPointer {
        let count = Int(takeByte(&at))
        defer { at += count }
        return UnsafeRawBufferPointer(start: at, count: count)
    }
}
