import AssetStorage
import CloudModel
import HTTP

/// Answers one GET or HEAD of an asset: whole, a range, several ranges, or nothing new.
///
/// Whatever the bytes are, they cannot act in the server's origin: they come as an attachment, of a type
/// that runs nothing, sandboxed, and no browser may guess another type.
struct AssetDownload {
    let digest: AssetDigest
    /// What the client put for `${f}`, percent-encoded.
    let name: ArraySlice<UInt8>
    /// How long the link is good, and so the answer in a cache.
    let secondsLeft: Int64

    func answer(_ exchange: Exchange, from storage: any AssetStorage) {
        let fileName = AssetFileName(encoded: name)
        let presentation = AssetPresentation(
            type: fileName.type, disposition: fileName.disposition)
        if exchange.request.method == .get,
            let address = storage.address(
                of: digest, presentation: presentation, seconds: secondsLeft)
        {
            return exchange.answer(redirection(to: address, exchange))
        }
        do {
            guard let reader = try storage.open(digest) else { throw AssetResponder.notFound }
            exchange.answer(response(to: exchange.request, reader, exchange))
        } catch {
            exchange.fail(error)
        }
    }

    private func response(
        to request: HTTPRequest, _ reader: any AssetReader, _ exchange: Exchange
    ) -> HTTPResponse {
        let headers = request.headers
        var fields = commonFields(exchange)
        if let known = headers["if-none-match"], Self.lists(known, etag) {
            return HTTPResponse(status: 304, headers: fields)
        }
        let fileName = AssetFileName(encoded: name)
        fields.append(("Content-Disposition", fileName.disposition))
        let size = reader.byteCount
        // RFC 9110 §14.2: a range means nothing to a HEAD.
        var range = ByteRanges(request.method == .get ? headers["range"] : nil, size: size)
        // What has changed is sent whole; a date says nothing here.
        if let condition = headers["if-range"], condition != etag { range = .whole }
        switch range {
        case .whole:
            fields.append(("Content-Type", fileName.type))
            return Self.response(200, fields, [Self.part(reader, 0..<size)])
        case .unsatisfiable:
            fields.append(("Content-Range", "bytes */\(size)"))
            return HTTPResponse(status: 416, headers: fields)
        case .some(let ranges) where ranges.count == 1:
            fields.append(("Content-Type", fileName.type))
            fields.append(("Content-Range", Self.contentRange(ranges[0], of: size)))
            return Self.response(206, fields, [Self.part(reader, ranges[0])])
        case .some(let ranges):
            // The request's id is in no file that was stored before it.
            let boundary = request.id
            fields.append(("Content-Type", "multipart/byteranges; boundary=\(boundary)"))
            var parts: [StreamedBody.Part] = []
            for range in ranges {
                let head =
                    "\r\n--\(boundary)\r\nContent-Type: \(fileName.type)\r\n"
                    + "Content-Range: \(Self.contentRange(range, of: size))\r\n\r\n"
                parts += [.bytes(Array(head.utf8)), Self.part(reader, range)]
            }
            parts.append(.bytes(Array("\r\n--\(boundary)--\r\n".utf8)))
            return Self.response(206, fields, parts)
        }
    }

    /// The address is as good as the link, so that neither is to be kept by anybody.
    private func redirection(to address: String, _ exchange: Exchange) -> HTTPResponse {
        var fields = [
            ("Location", address), ("Cache-Control", "no-store"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Apple-Request-UUID", exchange.request.id), ("Vary", "Origin"),
        ]
        if let origin = exchange.allowedOrigin {
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
            // Also where no origin is named: a cache must not give that answer to a page of one.
            ("Vary", "Origin"),
            ("X-Apple-Request-UUID", exchange.request.id),
        ]
        if let origin = exchange.allowedOrigin {
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

    private static func part(_ reader: any AssetReader, _ range: Range<Int>) -> StreamedBody.Part {
        guard let descriptor = reader.descriptor else {
            return .made(ReadAsset(reader), offset: range.lowerBound, count: range.count)
        }
        return .file(
            FileSlice(
                descriptor: descriptor, owner: reader, offset: range.lowerBound,
                count: range.count))
    }

    private static func response(
        _ status: Int, _ fields: [(name: String, value: String)], _ parts: [StreamedBody.Part]
    ) -> HTTPResponse {
        var response = HTTPResponse(status: status, headers: fields)
        response.stream = StreamedBody(parts)
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

/// Reads an asset that cannot be sent from its file as it lies.
private struct ReadAsset: ByteMaker {
    private let reader: any AssetReader

    init(_ reader: any AssetReader) { self.reader = reader }

    func bytes(at offset: Int, count: Int) throws -> [UInt8] {
        try reader.read(at: offset, count: count)
    }
}

/// The name that a client gave to a file in its link, made harmless.
struct AssetFileName {
    private static let bytesMax = 200

    /// Nil when the client gave none that a file could have.
    private let text: String?

    /// - Parameter encoded: the last part of the path; with the placeholder it is no name.
    init(encoded: ArraySlice<UInt8>) {
        guard let decoded = PercentEncoding.text(encoded), decoded != "${f}" else {
            text = nil
            return
        }
        let last = decoded.split { $0 == "/" || $0 == "\\" }.last ?? ""
        let plain = last.unicodeScalars.filter {
            $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value)
                && $0.properties.generalCategory != .format
        }
        var name = String(String.UnicodeScalarView(plain))
        while name.utf8.count > Self.bytesMax { name.removeLast() }
        text = name.isEmpty || name == "." || name == ".." ? nil : name
    }

    /// The value of `Content-Disposition` (RFC 6266): never to be shown in place.
    var disposition: String {
        guard let text else { return "attachment" }
        let plain = text.unicodeScalars.map { Self.isPlain($0) || $0 == " " ? Character($0) : "_" }
        var encoded = ""
        for byte in text.utf8 {
            let scalar = Unicode.Scalar(byte)
            if Self.isPlain(scalar) {
                encoded.unicodeScalars.append(scalar)
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
            }
        }
        return "attachment; filename=\"\(String(plain))\"; filename*=UTF-8''\(encoded)"
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_": true
        default: false
        }
    }

    /// By the name's ending, of the few types in which nothing can be run; else just bytes.
    var type: String {
        let ending = text.flatMap { $0.split(separator: ".").last.map { $0.lowercased() } }
        return ending.flatMap { Self.types[$0] } ?? "application/octet-stream"
    }

    private static let types = [
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
        "webp": "image/webp", "avif": "image/avif", "heic": "image/heic", "mp3": "audio/mpeg",
        "m4a": "audio/mp4", "ogg": "audio/ogg", "wav": "audio/wav", "mp4": "video/mp4",
        "mov": "video/quicktime", "webm": "video/webm",
    ]
}
