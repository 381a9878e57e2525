import HTTP

/// Takes one answer apart as its bytes arrive (RFC 9112 §4-7), strictly.
///
/// What could be read in two ways is refused, as the server's own parser does with requests. It knows no
/// connection: bytes in, events out.
package struct ResponseParser: Sendable {
    package enum Event: Sendable {
        case needsMore
        case head(ResponseHead)
        /// Bytes of the body, as a range of the bytes handed in.
        case data(Range<Int>)
        case end
    }

    private enum State {
        case head
        case length(remaining: Int)
        case chunked(ChunkDecoder)
        case untilClose
        case end
    }

    private let limits: ResponseLimits
    private let isBodyless: Bool
    private var state = State.head
    private var headBytes: [UInt8] = []
    private var interimCount = 0

    /// - Parameter method: of the request; the answer to HEAD has no body.
    package init(method: String, limits: ResponseLimits = ResponseLimits()) {
        isBodyless = method == "HEAD"
        self.limits = limits
    }

    /// Gives the next event of the bytes from a position, and moves the position behind it.
    ///
    /// - Throws: `ClientFailure.malformed`.
    package mutating func next(
        _ bytes: UnsafeRawBufferPointer, at position: inout Int
    ) throws(ClientFailure) -> Event {
        switch state {
        case .head:
            while let head = try takeHead(bytes, at: &position) {
                // 1xx says only that the answer is on its way (RFC 9110 §15.2).
                guard (100..<200).contains(head.status) else {
                    begin(head)
                    return .head(head)
                }
                interimCount += 1
                guard head.status != 101, interimCount <= limits.interimCountMax else {
                    throw .malformed("status \(head.status) instead of an answer")
                }
            }
            return .needsMore
        case .length(let remaining):
            guard remaining > 0 else {
                state = .end
                return .end
            }
            let range = position..<min(bytes.count, position + min(remaining, bytes.count))
            guard !range.isEmpty else { return .needsMore }
            position = range.upperBound
            state = .length(remaining: remaining - range.count)
            return .data(range)
        case .chunked(let decoder): return try unchunk(decoder, bytes, at: &position)
        case .untilClose:
            let range = position..<bytes.count
            position = bytes.count
            return range.isEmpty ? .needsMore : .data(range)
        case .end: return .end
        }
    }

    /// The peer has ended its direction.
    ///
    /// - Throws: `ClientFailure.broken` when the answer was not whole.
    package mutating func finish() throws(ClientFailure) {
        switch state {
        case .untilClose, .end, .length(remaining: 0): state = .end
        case .head where headBytes.isEmpty: throw .broken("ended without an answer")
        case .head: throw .broken("ended within the answer's head")
        case .length, .chunked: throw .broken("ended within the answer's body")
        }
    }

    private mutating func begin(_ head: ResponseHead) {
        switch head.framing {
        case .none: state = .end
        case .length(let count): state = .length(remaining: count)
        case .chunked: state = .chunked(ChunkDecoder())
        case .untilClose: state = .untilClose
        }
    }

    private mutating func unchunk(
        _ decoder: ChunkDecoder, _ bytes: UnsafeRawBufferPointer, at position: inout Int
    ) throws(ClientFailure) -> Event {
        var decoder = decoder
        var wire = WireLimits()
        wire.bodyBytesMax = .max
        wire.headerBytesMax = limits.headBytesMax
        wire.headerCountMax = limits.fieldCountMax
        let event: ChunkDecoder.Event
        do throws(WireFault) {
            event = try decoder.next(bytes, at: &position, limits: wire)
        } catch {
            throw .malformed(error.reason)
        }
        state = .chunked(decoder)
        switch event {
        case .data(let range): return .data(range)
        case .needsMore: return .needsMore
        case .end:
            state = .end
            return .end
        }
    }

    /// A whole head, once its last byte is there.
    private mutating func takeHead(
        _ bytes: UnsafeRawBufferPointer, at position: inout Int
    ) throws(ClientFailure) -> ResponseHead? {
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            guard headBytes.count < limits.headBytesMax else {
                throw .malformed("the head is over \(limits.headBytesMax) bytes")
            }
            headBytes.append(byte)
            if byte == 0x0A, headBytes.suffix(4).elementsEqual([0x0D, 0x0A, 0x0D, 0x0A]) {
                defer { headBytes.removeAll(keepingCapacity: true) }
                return try ResponseHeadReader(limits: limits, isBodyless: isBodyless).read(
                    headBytes)
            }
        }
        return nil
    }
}
