/// The pure half of reading requests: bytes in, whole requests or a refusal out.
///
/// It holds nothing between requests and, of a head not yet whole, only how far it was scanned; the
/// bytes stay with the caller. However the bytes are split, the events are the same.
package struct RequestParser {
    /// What was found in the bytes.
    package enum Event {
        case needsMore
        /// The client waits for a 100 before it sends the body (RFC 9110 §10.1.1).
        case expectsContinue
        case request(IncomingRequest)
        case rejected(WireFault)
    }

    private var scanner = HeadScanner()
    private var hasSkippedLine = false
    private var assembly: BodyAssembly?

    package init() {}

    /// True when nothing of a next request has come.
    package var isBetweenRequests: Bool { assembly == nil && scanner.isFresh }
    /// True when the head is in and the body is not.
    package var isInBody: Bool { assembly != nil }

    /// Gives the next event of the bytes from a position, and moves the position behind what was
    /// taken.
    ///
    /// Bytes not taken come again, in front of those that follow. After a refusal the parser is not
    /// to be used again.
    package mutating func next(
        _ bytes: UnsafeRawBufferPointer, at position: inout Int, limits: WireLimits
    ) -> Event {
        do throws(WireFault) {
            if assembly != nil { return try nextOfBody(bytes, at: &position, limits) }
            return try nextOfHead(bytes, at: &position, limits)
        } catch {
            return .rejected(error)
        }
    }

    private mutating func nextOfHead(
        _ bytes: UnsafeRawBufferPointer, at position: inout Int, _ limits: WireLimits
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
        case .complete(let count):
            let head = try HeadParser.parse(
                UnsafeRawBufferPointer(rebasing: rest[..<count]), limits: limits)
            position += count
            scanner = HeadScanner()
            hasSkippedLine = false
            return try beginBody(head, bytes, at: &position, limits)
        }
    }

    private mutating func beginBody(
        _ head: RequestHead, _ bytes: UnsafeRawBufferPointer, at position: inout Int,
        _ limits: WireLimits
    ) throws(WireFault) -> Event {
        switch head.framing {
        case .none:
            return .request(IncomingRequest(head: head, body: []))
        case .length(let length) where !head.isGzipped && bytes.count - position >= length:
            let body = Array(
                UnsafeRawBufferPointer(rebasing: bytes[position..<position + length]))
            position += length
            return .request(IncomingRequest(head: head, body: body))
        case .length, .chunked:
            assembly = BodyAssembly(head: head)
            if head.expectsContinue && !head.isVersion10 && position == bytes.count {
                return .expectsContinue
            }
            return try nextOfBody(bytes, at: &position, limits)
        }
    }

    private mutating func nextOfBody(
        _ bytes: UnsafeRawBufferPointer, at position: inout Int, _ limits: WireLimits
    ) throws(WireFault) -> Event {
        guard let assembly else { return .needsMore }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[position...])
        let (usedCount, body) = try assembly.feed(rest, limits: limits)
        position += usedCount
        guard let body else { return .needsMore }
        self.assembly = nil
        return .request(IncomingRequest(head: assembly.head, body: body))
    }
}
