/// Finds the end of a request head as its bytes arrive, and refuses what can never become one.
///
/// Each byte is looked at once, however the head is split. After a `.complete`, every line of the
/// head ends with CR LF, and holds no control character but the tab.
struct HeadScanner {
    enum Outcome: Equatable {
        case incomplete
        /// The number of bytes of the head, with its empty line, and of the lines between that and the first.
        case complete(Int, fieldCount: Int)
        case rejected(WireFault)
    }

    /// Room for the method, two spaces and the version around the longest target.
    static let requestLineBytesBeside = 64

    private var scannedCount = 0
    private var hasRequestLine = false
    private var fieldCount = 0

    /// True before the first byte.
    var isFresh: Bool { scannedCount == 0 && !hasRequestLine }

    /// - Parameter bytes: the head from its first byte, as far as it is there.
    mutating func scan(_ bytes: UnsafeRawBufferPointer, limits: WireLimits) -> Outcome {
        while true {
            let windowMax =
                hasRequestLine
                ? limits.headerBytesMax
                : min(limits.targetBytesMax + Self.requestLineBytesBeside, limits.headerBytesMax)
            let end = min(bytes.count, windowMax)
            let position = Self.firstSpecial(bytes, from: scannedCount, to: end)
            scannedCount = position
            if position == end || (bytes[position] == 0x0D && position + 1 == end) {
                if end < windowMax { return .incomplete }
                return .rejected(hasRequestLine ? .headersTooLarge : tooLong(limits))
            }
            guard bytes[position] == 0x0D, bytes[position + 1] == 0x0A else {
                return .rejected(.illegalByte)
            }
            if position == 0 { return .rejected(.malformedRequestLine) }
            scannedCount = position + 2
            if hasRequestLine {
                if bytes[position - 1] == 0x0A {
                    return .complete(position + 2, fieldCount: fieldCount)
                }
                fieldCount += 1
            }
            hasRequestLine = true
        }
    }

    private func tooLong(_ limits: WireLimits) -> WireFault {
        let isHeadShorter =
            limits.headerBytesMax < limits.targetBytesMax + Self.requestLineBytesBeside
        return isHeadShorter ? .headersTooLarge : .targetTooLong
    }

    /// The first byte that is a control character other than the tab, or the end.
    static func firstSpecial(
        _ bytes: UnsafeRawBufferPointer, from start: Int, to end: Int
    ) -> Int {
        bytes.firstIndex(
            from: start, to: end, where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F },
            mayStop: { $0.hasByte(below: 0x20) || $0.contains(0x7F) })
    }
}
