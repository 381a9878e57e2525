/// Takes the chunk framing off a body as it arrives (RFC 9112 §7.1), strictly.
///
/// Extensions and trailers are checked and dropped; together they are held to the limits of a head.
package struct ChunkDecoder: Sendable {
    package enum Event: Equatable {
        /// Bytes of the body, as a range of the bytes handed in.
        case data(Range<Int>)
        case needsMore
        case end
    }

    private enum State {
        case sizeStart, size, chunkExtension, sizeLineFeed
        case data, dataReturn, dataLineFeed
        case trailerStart, trailerName, trailerValue, trailerLineFeed, lastLineFeed
        case end
    }

    private static let sizeDigitsMax = 16

    private var state = State.sizeStart
    private var remaining = 0
    private var digitCount = 0
    private var totalBytes = 0
    private var overheadBytes = 0
    private var trailerCount = 0

    package init() {}

    /// Gives the next event of the bytes from a position, and moves the position behind it.
    ///
    /// - Throws: 400 for what breaks the framing, 413 and 431 for what is beyond the limits.
    package mutating func next(
        _ bytes: UnsafeRawBufferPointer, at position: inout Int, limits: WireLimits
    ) throws(WireFault) -> Event {
        while state != .end {
            if position == bytes.count { return .needsMore }
            if state == .data {
                let end = min(bytes.count, position + remaining)
                let range = position..<end
                remaining -= range.count
                position = end
                if remaining == 0 { state = .dataReturn }
                return .data(range)
            }
            let byte = bytes[position]
            position += 1
            try step(byte, limits)
        }
        return .end
    }

    private mutating func step(_ byte: UInt8, _ limits: WireLimits) throws(WireFault) {
        switch state {
        case .sizeStart, .size: try stepSize(byte, limits)
        case .chunkExtension:
            if byte == 0x0D {
                state = .sizeLineFeed
            } else {
                try count(byte, limits)
            }
        case .sizeLineFeed:
            guard byte == 0x0A else { throw .malformedChunk }
            state = remaining > 0 ? .data : .trailerStart
        case .dataReturn:
            guard byte == 0x0D else { throw .malformedChunk }
            state = .dataLineFeed
        case .dataLineFeed:
            guard byte == 0x0A else { throw .malformedChunk }
            state = .sizeStart
        case .trailerStart, .trailerName, .trailerValue, .trailerLineFeed, .lastLineFeed:
            try stepTrailer(byte, limits)
        case .data, .end:
            preconditionFailure("data is not taken byte by byte, and nothing follows the end")
        }
    }

    private mutating func stepSize(_ byte: UInt8, _ limits: WireLimits) throws(WireFault) {
        if let digit = Self.hexDigit(byte) {
            if state == .sizeStart {
                state = .size
                digitCount = 0
                remaining = 0
            }
            digitCount += 1
            if digitCount > Self.sizeDigitsMax { throw .malformedChunk }
            // The limit comes before the next digit, so that the number never overflows.
            if remaining > limits.bodyBytesMax >> 4 { throw .bodyTooLarge }
            remaining = remaining << 4 | digit
            return
        }
        guard state == .size else { throw .malformedChunk }
        guard remaining <= limits.bodyBytesMax - totalBytes else { throw .bodyTooLarge }
        totalBytes += remaining
        switch byte {
        case 0x0D: state = .sizeLineFeed
        case 0x3B: state = .chunkExtension
        default: throw .malformedChunk
        }
    }

    private mutating func stepTrailer(_ byte: UInt8, _ limits: WireLimits) throws(WireFault) {
        switch (state, byte) {
        case (.trailerStart, 0x0D): state = .lastLineFeed
        case (.trailerStart, _):
            guard HeadParser.isToken(byte) else { throw .malformedChunk }
            trailerCount += 1
            if trailerCount > limits.headerCountMax { throw .tooManyHeaders }
            try count(byte, limits)
            state = .trailerName
        case (.trailerName, 0x3A): state = .trailerValue
        case (.trailerName, _):
            guard HeadParser.isToken(byte) else { throw .malformedChunk }
            try count(byte, limits)
        case (.trailerValue, 0x0D): state = .trailerLineFeed
        case (.trailerValue, _): try count(byte, limits)
        case (.trailerLineFeed, 0x0A): state = .trailerStart
        case (.lastLineFeed, 0x0A): state = .end
        default: throw .malformedChunk
        }
    }

    private mutating func count(_ byte: UInt8, _ limits: WireLimits) throws(WireFault) {
        if (byte < 0x20 && byte != 0x09) || byte == 0x7F { throw .malformedChunk }
        overheadBytes += 1
        if overheadBytes > limits.headerBytesMax { throw .headersTooLarge }
    }

    private static func hexDigit(_ byte: UInt8) -> Int? {
        switch byte {
        case 0x30...0x39: Int(byte) - 0x30
        case 0x41...0x46: Int(byte) - 0x41 + 10
        case 0x61...0x66: Int(byte) - 0x61 + 10
        default: nil
        }
    }
}
