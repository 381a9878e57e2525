/// An answer whose head has come, and whose body comes as it is read.
///
/// Used by one thread at a time.
package final class ClientResponse {
    private static let pieceBytes = 64 * 1024

    private let client: BlockingHTTPClient
    private var connection: ClientConnection?
    private var parser: ResponseParser
    private var received = [UInt8](repeating: 0, count: ClientResponse.pieceBytes)
    private var position = 0
    private var end = 0
    private var isWholeRequestSent = false
    private var isAtEnd = false
    private var found: ResponseHead?

    init(on connection: ClientConnection, of client: BlockingHTTPClient, parser: ResponseParser) {
        self.client = client
        self.connection = connection
        self.parser = parser
    }

    /// The status, zero before the head has come.
    package var status: Int { found?.status ?? 0 }

    /// The first value of a field, its name in lower case.
    package func header(_ name: String) -> String? { found?.headers[name] }

    /// The length that the body has, or would have had if the request had not been HEAD.
    package var contentLength: Int? { found?.contentLength }

    /// Up to that many bytes of the body; none at its end.
    ///
    /// - Throws: `broken`, `timedOut` and `malformed`; the answer is over then.
    package func read(upTo count: Int) throws(ClientFailure) -> [UInt8] {
        do throws(ClientFailure) {
            return try readPiece(count)
        } catch {
            close()
            throw error
        }
    }

    /// The whole body, for those that are short.
    ///
    /// - Throws: as `read`, and `malformed` for a body that is over the limit.
    package func readAll(bytesMax: Int) throws(ClientFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let piece = try read(upTo: Self.pieceBytes)
            if piece.isEmpty { return bytes }
            guard bytes.count + piece.count <= bytesMax else {
                close()
                throw .malformed("the body is over \(bytesMax) bytes")
            }
            bytes += piece
        }
    }

    /// Ends the answer here; a connection in the middle of one is of no more use.
    package func close() {
        connection = nil
        isAtEnd = true
    }

    /// Sends head and body, or as much as the server wants to have.
    func transmit(_ head: [UInt8], _ body: ClientBody) throws(ClientFailure) {
        guard let connection else { throw .broken("closed") }
        var piece = head
        var offset = 0
        // A short body goes with the head in one packet.
        if body.byteCount > 0, body.byteCount <= 16_384 {
            piece += try Self.read(body, at: 0)
            offset = piece.count - head.count
        }
        while true {
            try Self.send(piece, on: connection)
            guard offset < body.byteCount else { break }
            if try hasAnswer(on: connection) { return }
            piece = try Self.read(body, at: offset)
            offset += piece.count
        }
        isWholeRequestSent = true
    }

    // NB: typed errors do not pass through the standard library's closures.
    private static func send(
        _ bytes: [UInt8], on connection: ClientConnection
    ) throws(ClientFailure) {
        var failure: ClientFailure?
        bytes.withUnsafeBytes { bytes in
            do throws(ClientFailure) { try connection.send(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    private static func read(_ body: ClientBody, at offset: Int) throws(ClientFailure) -> [UInt8] {
        let wanted = min(256 * 1024, body.byteCount - offset)
        let piece: [UInt8]
        do { piece = try body.read(offset, wanted) } catch { throw .unreadableBody("\(error)") }
        guard !piece.isEmpty, piece.count <= wanted else {
            throw .unreadableBody("it is shorter than it was said to be")
        }
        return piece
    }

    /// Whether the server answers already, while the request is being sent.
    private func hasAnswer(on connection: ClientConnection) throws(ClientFailure) -> Bool {
        if end > position { return true }
        guard
            let count = try receive({ bytes throws(ClientFailure) in
                try connection.receiveAtOnce(into: bytes)
            })
        else { return false }
        guard count > 0 else { throw .broken("ended while the request was sent") }
        (position, end) = (0, count)
        return true
    }

    /// Waits for the head.
    func receiveHead() throws(ClientFailure) {
        if case .head(let head) = try nextEvent() {
            found = head
            return
        }
        throw .malformed("no head")
    }

    private func readPiece(_ count: Int) throws(ClientFailure) -> [UInt8] {
        guard !isAtEnd, count > 0 else { return [] }
        // What was received and not taken yet is the parser's again: it is asked for less.
        switch try nextEvent(bytesMax: count) {
        case .data(let range): return Array(received[range])
        case .end:
            finish()
            return []
        case .head, .needsMore: throw .malformed("two heads")
        }
    }

    private func nextEvent(bytesMax: Int = .max) throws(ClientFailure) -> ResponseParser.Event {
        while true {
            if let event = try parse(bytesMax) { return event }
            guard let connection else { throw .broken("closed") }
            let count =
                try receive { bytes throws(ClientFailure) in
                    try connection.receive(into: bytes)
                } ?? 0
            (position, end) = (0, count)
            if count == 0 {
                try parser.finish()
                return .end
            }
        }
    }

    private func parse(_ bytesMax: Int) throws(ClientFailure) -> ResponseParser.Event? {
        var failure: ClientFailure?
        var event = ResponseParser.Event.needsMore
        let visibleEnd = bytesMax < end - position ? position + bytesMax : end
        received.withUnsafeBytes { bytes in
            let visible = UnsafeRawBufferPointer(rebasing: bytes[..<visibleEnd])
            do throws(ClientFailure) {
                event = try parser.next(visible, at: &position)
                // A window that ends within framing says nothing of what lies behind it.
                while case .needsMore = event, position < end {
                    event = try parser.next(
                        UnsafeRawBufferPointer(rebasing: bytes[..<min(end, position + bytesMax)]),
                        at: &position)
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        if case .needsMore = event { return nil }
        return event
    }

    private func receive(
        _ body: (UnsafeMutableRawBufferPointer) throws(ClientFailure) -> Int?
    ) throws(ClientFailure) -> Int? {
        var failure: ClientFailure?
        var count: Int?
        received.withUnsafeMutableBytes { bytes in
            do throws(ClientFailure) { count = try body(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
        return count
    }

    /// The body is over: the connection is good for another request, if both sides left it so.
    private func finish() {
        isAtEnd = true
        defer { connection = nil }
        guard let connection, isWholeRequestSent, found?.keepsAlive == true, position == end else {
            return
        }
        client.keep(connection)
    }
}
