/// The pure half of reading requests: bytes in, whole requests or a refusal out.
///
/// It holds nothing between requests. Of a head that is not yet whole, it holds only how far it was
/// scanned. The bytes stay with the caller. However the bytes are split, the events are the same.
package struct RequestParser {
    /// What was found in the bytes.
    package enum Event {
        case needsMore
        /// One without a body, or with a plain one that had come with its head.
        case request(IncomingRequest)
        /// The head of a request whose body comes in pieces.
        ///
        /// - Parameter isHeld: whether it is limited and may be compressed; else it streams.
        case began(RequestHead, isHeld: Bool)
        /// A piece of that body, as a range of the bytes handed in.
        case piece(Range<Int>)
        /// That body is whole.
        case ended
        case rejected(WireFault)
    }

    private var scanner = HeadScanner()
    private var hasSkippedLine = false
    private var framing: PieceFraming?

    package init() {}

    /// True when nothing of a next request has come.
    package var isBetweenRequests: Bool { !isInBody && scanner.isFresh }
    /// True when the head is in and the body is not.
    package var isInBody: Bool { framing != nil }
    /// True when the last piece of a body was given and `ended` comes next, without further bytes.
    package var isStreamWhole: Bool { framing?.isWhole ?? false }

    /// Gives the next event of the bytes from a position, and moves the position behind what was
    /// taken.
    ///
    /// Bytes not taken come again, in front of those that follow. After a refusal the parser is not
    /// to be used again.
    ///
    /// - Parameter streams: whether the body of a request with that head may be of any length.
    package mutating func next(
        _ bytes: UnsafeRawBufferPointer, at position: inout Int, limits: WireLimits,
        streams: (RequestHead) -> Bool = { _ in false }
    ) -> Event {
        do throws(WireFault) {
            if framing != nil { return try nextOfBody(bytes, at: &position, limits) }
            return try nextOfHead(bytes, at: &position, limits, streams)
        } catch {
            return .rejected(error)
        }
    }

    private mutating func nextOfHead(
        _ bytes: UnsafeRawBufferPointer, at position: inout Int, _ limits: WireLimits,
        _ streams: (RequestHead) -> Bool
    ) throws(WireFault) -> Event {
        // RFC 9112 §2.2: one empty line before a request line is passed over.
        if !hasSkippedLine, scanner.isFresh, position + 1 < bytes.count, bytes[position] == 0x0D,
            bytes[position + 1] == 0x0A
        {
            hasSkippedLine = true
            position += 2
        }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[position...])
        switch scanner.scan(rest, limits: limits) {
        case .incomplete: return .needsMore
        case .rejected(let fault): throw fault
        case .complete(let count, let fieldCount):
            let head = try HeadParser.parse(
                UnsafeRawBufferPointer(rebasing: rest[..<count]),
                fieldCountMax: min(fieldCount, limits.headerCountMax),
                targetBytesMax: limits.targetBytesMax)
            position += count
            scanner = HeadScanner()
            hasSkippedLine = false
            if head.framing == .none {
                return .request(IncomingRequest(head: head, body: []))
            }
            if streams(head) { return try beginStream(head) }
            return try beginBody(head, bytes, at: &position, limits)
        }
    }

    private mutating func beginBody(
        _ head: RequestHead, _ bytes: UnsafeRawBufferPointer, at position: inout Int,
        _ limits: WireLimits
    ) throws(WireFault) -> Event {
        if case .length(let length) = head.framing {
            if length > limits.bodyBytesMax { throw .bodyTooLarge }
            if !head.isGzipped && bytes.count - position >= length {
                let body = Array(
                    UnsafeRawBufferPointer(rebasing: bytes[position..<position + length]))
                position += length
                return .request(IncomingRequest(head: head, body: body))
            }
        }
        framing = PieceFraming(head.framing, isLimited: true)
        return .began(head, isHeld: true)
    }

    private mutating func beginStream(_ head: RequestHead) throws(WireFault) -> Event {
        if head.isGzipped { throw .encodedStream }
        framing = PieceFraming(head.framing, isLimited: false)
        return .began(head, isHeld: false)
    }

    private mutating func nextOfBody(
        _ bytes: UnsafeRawBufferPointer, at position: inout Int, _ limits: WireLimits
    ) throws(WireFault) -> Event {
        switch try framing?.next(bytes, at: &position, limits: limits) ?? .end {
        case .data(let range): return .piece(range)
        case .needsMore: return .needsMore
        case .end:
            framing = nil
            return .ended
        }
    }
}

/// Where the body ends that is handed on in pieces, and what of the bytes belongs to it.
private struct PieceFraming {
    private var remaining = 0
    private var chunks: ChunkDecoder?
    private let isLimited: Bool

    init(_ framing: RequestHead.Framing, isLimited: Bool) {
        self.isLimited = isLimited
        switch framing {
        case .none: break
        case .length(let length): remaining = length
        case .chunked: chunks = ChunkDecoder()
        }
    }

    var isWhole: Bool { chunks == nil && remaining == 0 }

    mutating func next(
        _ bytes: UnsafeRawBufferPointer, at position: inout Int, limits: WireLimits
    ) throws(WireFault) -> ChunkDecoder.Event {
        if chunks != nil {
            var limits = limits
            // How long a body may be that streams is for its sink to say.
            if !isLimited { limits.bodyBytesMax = .max }
            return try chunks?.next(bytes, at: &position, limits: limits) ?? .end
        }
        if remaining == 0 { return .end }
        let end = position + min(remaining, bytes.count - position)
        let range = position..<end
        if range.isEmpty { return .needsMore }
        remaining -= range.count
        position = end
        return .data(range)
    }
}
