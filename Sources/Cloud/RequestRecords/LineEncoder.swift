import CloudModel

/// Makes a segment's lines from those that wait: each text becomes its number.
///
/// What says who asked and for what is the same in many lines: it is looked up as a whole.
struct LineEncoder {
    /// The texts of many lines, as numbers.
    private struct Head {
        /// Where its numbers are among those of all.
        var start: Int
        var count = 0
        /// What lines with it are found by.
        var user: UInt64?
        var device: UInt64?
    }

    /// More heads are not remembered at once.
    private static let headsMax = 8_192
    /// Of 32 bits, seven in a byte.
    private static let numberBytesMax = 5

    private(set) var texts = TextTable()
    private var heads = TextTable()
    private var known: [Head] = []
    private var headNumbers = GrowingBytes()

    /// Takes a text that the segment has already.
    mutating func note(_ text: ArraySlice<UInt8>) {
        text.withUnsafeBytes { _ = texts.add($0) }
    }

    /// Appends a line to a block, and before it the texts that are new to the segment.
    ///
    /// - Parameters:
    ///   - start: where in the file the block begins.
    ///   - scratch: memory for a line.
    mutating func append(
        _ waiting: WaitingLine, to block: inout GrowingBytes, at start: Int,
        _ index: inout SegmentIndex, by scratch: UnsafeMutableRawPointer
    ) {
        let head = head(of: waiting, &block, start, &index)
        var line = LineCursor(scratch)
        line.number(UInt64(waiting.parts.rawValue))
        line.signed(waiting.time &- index.base)
        line.raw(waiting.idAndPlace)
        headNumbers.memory.withUnsafeBytes { numbers in
            line.raw(
                UnsafeRawBufferPointer(rebasing: numbers[head.start..<head.start + head.count]))
        }
        line.raw(waiting.numbers)
        appendRest(of: waiting, to: &line, &block, start, &index)
        index.note(
            waiting.time, user: head.user, device: head.device, at: start + block.count)
        block.append(.line, UnsafeRawBufferPointer(start: scratch, count: line.at - scratch))
    }

    private mutating func head(
        of waiting: WaitingLine, _ block: inout GrowingBytes, _ start: Int,
        _ index: inout SegmentIndex
    ) -> Head {
        if let found = heads.number(of: waiting.head) { return known[Int(found)] }
        if known.count >= Self.headsMax {
            (heads, known, headNumbers) = (TextTable(), [], GrowingBytes())
        }
        var head = Head(start: headNumbers.count)
        var at = waiting.start + WaitingLine.textsAt
        for part in LineParts.texts where waiting.textParts.contains(part) {
            let text = Self.takeText(&at)
            let number = number(of: text, &block, start, &index)
            headNumbers.append(atMost: Self.numberBytesMax) { start in
                var cursor = LineCursor(start)
                cursor.number(UInt64(number))
                return cursor.at - start
            }
            if part == .user { head.user = SegmentIndex.key(user: text) }
            if part == .device { head.device = SegmentIndex.key(device: text) }
        }
        head.count = headNumbers.count - head.start
        known.append(head)
        _ = heads.add(waiting.head)
        return head
    }

    private mutating func appendRest(
        of waiting: WaitingLine, to line: inout LineCursor, _ block: inout GrowingBytes,
        _ start: Int, _ index: inout SegmentIndex
    ) {
        var at = waiting.rest
        if waiting.zoneCount > 0 { line.count(waiting.zoneCount) }
        for _ in 0..<waiting.zoneCount {
            let parts = LineZoneParts(rawValue: Self.takeByte(&at))
            line.byte(parts.rawValue)
            for _ in 0..<(parts.contains(.owner) ? 2 : 1) {
                line.number(UInt64(number(of: Self.takeText(&at), &block, start, &index)))
            }
            line.raw(Self.takeText(&at))
        }
        if waiting.failureCount > 0 { line.count(waiting.failureCount) }
        for _ in 0..<waiting.failureCount {
            let hasReason = Self.takeByte(&at) > 0
            line.number(UInt64(number(of: Self.takeText(&at), &block, start, &index)))
            if hasReason {
                let reason = number(of: Self.takeText(&at), &block, start, &index)
                line.number(UInt64(reason) + 1)
            } else {
                line.byte(0)
            }
            line.raw(Self.takeText(&at))
        }
        if waiting.parts.contains(.saved) { line.raw(Self.takeText(&at)) }
    }

    private mutating func number(
        of text: UnsafeRawBufferPointer, _ block: inout GrowingBytes, _ start: Int,
        _ index: inout SegmentIndex
    ) -> UInt32 {
        if let known = texts.number(of: text) { return known }
        index.texts.append(UInt32(truncatingIfNeeded: start + block.count))
        block.append(.text, text)
        return texts.add(text)
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
