import AssetStorage
import CloudModel
import HTTP

/// Answers one GET or HEAD of an asset: the whole file, a range, several ranges, or "not modified".
///
/// Whatever the bytes are, they cannot act in the server's origin. They come as an attachment, sandboxed and
/// of a type that runs nothing, and browsers may not guess another type.
struct AssetDownload {
    let digest: AssetDigest
    /// The file name that the client put in place of `${f}`, percent-encoded.
    let name: ArraySlice<UInt8>
    /// For how many more seconds the link is good; a cache may keep the answer for as long.
    let secondsLeft: Int64

    /// Counts how downloads go.
    let counters: AssetCounters

    /// Answers on the calling thread, or elsewhere if that would block.
    ///
    /// It sends nothing before it knows that the first bytes are those that were stored.
    ///
    /// - Parameter blocking: runs work that waits for disks or other servers.
    func answer(
        _ exchange: Exchange, from storage: any AssetBlobStore,
        blocking: (@escaping @Sendable () -> Void) throws -> Void
    ) {
        do {
            guard storage.isLocal else {
                return try blocking { answerFromElsewhere(exchange, storage) }
            }
            guard let reader = try storage.open(digest) else { throw AssetResponder.notFound }
            if isKnown(to: exchange) { return exchange.answer(unchanged(exchange)) }
            let ranges = wanted(exchange.request, size: reader.byteCount)
            guard reader.descriptor != nil, reader.wasChecked(Self.first(of: ranges, reader))
            else {
                return try blocking { answerChecked(exchange, reader, ranges) }
            }
            exchange.answer(response(exchange, reader, ranges, begun: []))
        } catch {
            fail(exchange, error)
        }
    }

    private func answerFromElsewhere(_ exchange: Exchange, _ storage: any AssetBlobStore) {
        let fileName = AssetFileName(encoded: name)
        let presentation = AssetPresentation(
            type: fileName.type, disposition: fileName.disposition)
        if exchange.request.method == .get,
            let address = storage.address(
                of: digest, presentation: presentation,
                seconds: min(secondsLeft, Self.addressSecondsMax))
        {
            return exchange.answer(redirection(to: address, exchange))
        }
        do {
            guard let reader = try storage.open(digest) else { throw AssetResponder.notFound }
            if isKnown(to: exchange) { return exchange.answer(unchanged(exchange)) }
            answerChecked(exchange, reader, wanted(exchange.request, size: reader.byteCount))
        } catch {
            fail(exchange, error)
        }
    }

    /// Blocks.
    private func answerChecked(
        _ exchange: Exchange, _ reader: any AssetReader, _ ranges: ByteRanges
    ) {
        do {
            let first = Self.first(of: ranges, reader)
            try reader.check(first)
            let begun =
                reader.descriptor == nil && exchange.request.method == .get
                ? try reader.read(at: first.lowerBound, count: first.count) : []
            exchange.answer(response(exchange, reader, ranges, begun: begun))
        } catch {
            fail(exchange, error)
        }
    }

    /// Whether the client says that it has the file already.
    private func isKnown(to exchange: Exchange) -> Bool {
        exchange.request.headers["if-none-match"].map { Self.lists($0, etag) } ?? false
    }

    private func unchanged(_ exchange: Exchange) -> HTTPResponse {
        HTTPResponse(status: 304, headers: commonFields(exchange))
    }

    private func fail(_ exchange: Exchange, _ error: any Error) {
        if case AssetFailure.damaged = error { counters.change { $0.damaged += 1 } }
        exchange.fail(error)
    }

    /// What a request asks for.
    private func wanted(_ request: HTTPRequest, size: Int) -> ByteRanges {
        // RFC 9110 §14.2: a range means nothing to a HEAD.
        let range = request.method == .get ? request.headers["range"] : nil
        // A file that has changed is sent whole; a date in `If-Range` says nothing here.
        if let condition = request.headers["if-range"], condition != etag { return .whole }
        return ByteRanges(range, size: size)
    }

    /// The bytes that the answer begins with, as many as are sent at a time.
    private static func first(of ranges: ByteRanges, _ reader: any AssetReader) -> Range<Int> {
        let range =
            switch ranges {
            case .whole: 0..<reader.byteCount
            case .some(let ranges): ranges.first ?? 0..<0
            case .unsatisfiable: 0..<0
            }
        return range.lowerBound..<min(range.upperBound, range.lowerBound + firstBytesMax)
    }

    /// - Parameter begun: the first bytes of the first range, where they are at hand.
    private func response(
        _ exchange: Exchange, _ reader: any AssetReader, _ ranges: ByteRanges, begun: [UInt8]
    ) -> HTTPResponse {
        var fields = commonFields(exchange)
        let fileName = AssetFileName(encoded: name)
        fields.append(("Content-Disposition", fileName.disposition))
        let size = reader.byteCount
        let source = AssetSource(reader: reader, exchange: exchange, counters: counters)
        switch ranges {
        case .whole:
            fields.append(("Content-Type", fileName.type))
            return Self.response(200, fields, exchange, source.parts(0..<size, begun: begun))
        case .unsatisfiable:
            fields.append(("Content-Range", "bytes */\(size)"))
            return HTTPResponse(status: 416, headers: fields)
        case .some(let ranges) where ranges.count == 1:
            fields.append(("Content-Type", fileName.type))
            fields.append(("Content-Range", Self.contentRange(ranges[0], of: size)))
            return Self.response(206, fields, exchange, source.parts(ranges[0], begun: begun))
        case .some(let ranges):
            // No file that was stored before this request can contain the request's id.
            let boundary = exchange.request.id
            fields.append(("Content-Type", "multipart/byteranges; boundary=\(boundary)"))
            var parts: [StreamedBody.Part] = []
            for (index, range) in ranges.enumerated() {
                let head =
                    "\r\n--\(boundary)\r\nContent-Type: \(fileName.type)\r\n"
                    + "Content-Range: \(Self.contentRange(range, of: size))\r\n\r\n"
                parts.append(.bytes(Array(head.utf8)))
                parts += source.parts(range, begun: index == 0 ? begun : [])
            }
            parts.append(.bytes(Array("\r\n--\(boundary)--\r\n".utf8)))
            return Self.response(206, fields, exchange, parts)
        }
    }

    /// How many seconds an address at another store is good; nobody can take it back.
    static let addressSecondsMax: Int64 = 60
    /// How many bytes are checked before an answer begins.
    private static let firstBytesMax = AssetParts.byteCount

    /// Redirects to a store elsewhere.
    ///
    /// Anyone who has the address gets in, as with the link, so no cache may keep either.
    private func redirection(to address: String, _ exchange: Exchange) -> HTTPResponse {
        var fields = [
            ("Location", address), ("Cache-Control", "no-store"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Apple-Request-UUID", exchange.request.id), ("Vary", "Origin"),
        ]
        if let origin = exchange.note({ $0.allowedOrigin }) {
            fields.append(("Access-Control-Allow-Origin", origin))
        }
        return HTTPResponse(status: 307, headers: fields.map { (name: $0.0, value: $0.1) })
    }

    private var etag: String { "\"\(digest.hexadecimal.prefix(40))\"" }

    private func commonFields(_ exchange: Exchange) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = [
            ("ETag", etag), ("Accept-Ranges", "bytes"),
            ("Cache-Control", "private, max-age=\(secondsLeft), immutable"),
            ("X-Content-Type-Options", "nosniff"),
            (
                "Content-Security-Policy",
                "sandbox; default-src 'none'; frame-ancestors 'none'; base-uri 'none'"
            ),
            ("Cross-Origin-Resource-Policy", "cross-origin"),
            ("Referrer-Policy", "no-referrer"),
            // Also when the request names no origin: a cache must not give that answer to a page with one.
            ("Vary", "Origin"),
            ("X-Apple-Request-UUID", exchange.request.id),
        ]
        if let origin = exchange.note({ $0.allowedOrigin }) {
            fields += [
                ("Access-Control-Allow-Origin", origin),
                (
                    "Access-Control-Expose-Headers",
                    "Accept-Ranges,Content-Disposition,Content-Length,Content-Range,ETag,"
                        + "X-Apple-Request-UUID"
                ),
            ]
        }
        return fields
    }

    private static func contentRange(_ range: Range<Int>, of size: Int) -> String {
        "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
    }

    private static func response(
        _ status: Int, _ fields: [(name: String, value: String)], _ exchange: Exchange,
        _ parts: [StreamedBody.Part]
    ) -> HTTPResponse {
        var response = HTTPResponse(status: status, headers: fields)
        response.stream = StreamedBody(parts, for: exchange.request.client)
        return response
    }

    /// Whether a list of entity tags has this one, by the weak comparison.
    private static func lists(_ header: String, _ etag: String) -> Bool {
        header.split(separator: ",").contains { part in
            let tag = part.filter { $0 != " " && $0 != "\t" }
            return tag == "*" || tag == etag || tag == "W/" + etag
        }
    }
}
