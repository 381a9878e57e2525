import CloudModel

/// Makes a segment's lines from those that wait: each text becomes its number.
///
/// What says who asked and for what is the same in many lines: it is looked up as a whole.
struct LineEncoder {
    /// The texts of many lines, as numbers.
    private struct Head {
        var numbers = LineBytes()
        /// What lines with it are found by.
        var user: UInt64?
        var device: UInt64?
    }

    /// More heads are not remembered at once.
    private static let headsMax = 8_192

    private(set) var texts = TextTable()
    private var heads = TextTable()
    private var known: [Head] = []
    private var line = LineBytes()

    /// Takes a text that the segment has already.
    mutating func note(_ text: ArraySlice<UInt8>) {
        text.withUnsafeBytes { _ = texts.add($0) }
    }

    /// Appends a line to a payload, and before it the texts that are new to the segment.
    ///
    /// - Parameter start: where in the file the payload begins.
    mutating func append(
        _ waiting: WaitingLine, to payload: inout LineBytes, at start: Int,
        _ index: inout SegmentIndex
    ) {
        let head = number(ofHead: waiting, &payload, start, &index)
        line.removeAll()
        line.number(UInt64(waiting.parts.rawValue))
        line.signed(waiting.time &- index.base)
        line.raw(waiting.idAndPlace)
        known[head].numbers.withBytes { line.raw($0) }
        line.raw(waiting.numbers)
        appendRest(of: waiting, &payload, start, &index)
        index.note(
            waiting.time, user: known[head].user, device: known[head].device,
            at: start + payload.count)
        line.withBytes { payload.item(.line, $0) }
    }

    private mutating func number(
        ofHead waiting: WaitingLine, _ payload: inout LineBytes, _ start: Int,
        _ index: inout SegmentIndex
    ) -> Int {
        if let found = heads.number(of: waiting.head) { return Int(found) }
        if known.count >= Self.headsMax { (heads, known) = (TextTable(), []) }
        var head = Head()
        var at = waiting.start + WaitingLine.textsAt
        for part in LineParts.texts where waiting.textParts.contains(part) {
            let text = Self.takeText(&at)
            head.numbers.number(UInt64(number(of: text, &payload, start, &index)))
            if part == .user { head.user = SegmentIndex.key(user: text) }
            if part == .device { head.device = SegmentIndex.key(device: text) }
        }
        known.append(head)
        return Int(heads.add(waiting.head))
    }

    private mutating func appendRest(
        of waiting: WaitingLine, _ payload: inout LineBytes, _ start: Int,
        _ index: inout SegmentIndex
    ) {
        var at = waiting.rest
        if waiting.zoneCount > 0 { line.count(waiting.zoneCount) }
        for _ in 0..<waiting.zoneCount {
            let parts = LineZoneParts(rawValue: Self.takeByte(&at))
            line.byte(parts.rawValue)
            for _ in 0..<(parts.contains(.owner) ? 2 : 1) {
                line.number(UInt64(number(of: Self.takeText(&at), &payload, start, &index)))
            }
            line.raw(Self.takeText(&at))
        }
        if waiting.failureCount > 0 { line.count(waiting.failureCount) }
        for _ in 0..<waiting.failureCount {
            let hasReason = Self.takeByte(&at) > 0
            line.number(UInt64(number(of: Self.takeText(&at), &payload, start, &index)))
            if hasReason {
                let reason = number(of: Self.takeText(&at), &payload, start, &index)
                line.number(UInt64(reason) + 1)
            } else {
                line.byte(0)
            }
            line.raw(Self.takeText(&at))
        }
        if waiting.parts.contains(.saved) { line.raw(Self.takeText(&at)) }
    }

    private mutating func number(
        of text: UnsafeRawBufferPointer, _ payload: inout LineBytes, _ start: Int,
        _ index: inout SegmentIndex
    ) -> UInt32 {
        if let known = texts.number(of: text) { return known }
        index.texts.append(UInt32(truncatingIfNeeded: start + payload.count))
        payload.item(.text, text)
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
