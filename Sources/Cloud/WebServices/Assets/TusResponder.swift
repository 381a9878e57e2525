import AssetStorage
import CloudDatabase
import CloudModel
import Cryptography
import HTTP

/// Resumable uploads by the tus protocol 1.0, on the same URLs as uploads in one piece.
///
/// The core with `creation`, `creation-with-upload`, `expiration` and `termination`. A `GET` gives the
/// value for the field once all bytes are there.
struct TusResponder {
    static let version = "1.0.0"
    private static let extensions = "creation,creation-with-upload,expiration,termination"
    private static let mediaType = "application/offset+octet-stream"

    let uploads: ResumableUploads
    let bytesMax: Int
    let clock: Clock
    let counters: AssetCounters

    /// What an upload URL leads to.
    struct Target {
        let token: String
        let store: OpenStore
        let use: ReceiveAsset
        /// The queue for an upload that begins.
        let queue: AssetLine
        /// Whom the upload counts to.
        let uploader: [UInt8]
    }

    /// Whether a request on an upload URL is one of this protocol.
    static func serves(_ request: HTTPRequest) -> Bool {
        switch request.method {
        case .head, .get, .delete, .other("PATCH"): true
        case .post: request.headers["tus-resumable"] != nil
        default: false
        }
    }

    /// The header fields that an answer to OPTIONS has for this protocol.
    static func preflightFields(bytesMax: Int) -> [(name: String, value: String)] {
        [
            ("Tus-Resumable", version), ("Tus-Version", version), ("Tus-Extension", extensions),
            ("Tus-Max-Size", "\(bytesMax)"),
        ]
    }

    /// The name under which the storage knows the upload of a token, which begins with whose it is
    /// (`ErasePerson` removes it by that).
    ///
    /// Those who see the files do not learn the token from it.
    private static func name(of token: String, _ identity: [UInt8]) -> String {
        Hexadecimal.encode(identity + SHA256.digest(Array(token.utf8)).prefix(16))
    }

    /// A request without a body.
    func respond(_ exchange: Exchange, at target: Target) throws {
        let request = exchange.request
        switch request.method {
        case .get:
            let (upload, _) = try find(target)
            upload.queue.async {
                upload.finished { outcome in
                    exchange.finish(
                        outcome.map {
                            AssetUploadSink.answer($0, target.store.assetTokens)
                        })
                }
            }
        case .head:
            try checkVersion(exchange)
            let (upload, expires) = try find(target)
            upload.queue.async { self.answerOffset(exchange, of: upload, expires: expires) }
        case .delete:
            try checkVersion(exchange)
            let (upload, _) = try find(target)
            uploads.end(upload, target.token) {
                exchange.answer(HTTPResponse(status: 204, headers: exchange.bodilessHeaders))
            }
        default:
            let sink = try receive(exchange, at: target, stream: BodyStream { _ in })
            sink.end()
        }
    }

    /// A request that brings bytes.
    func receive(
        _ exchange: Exchange, at target: Target, stream: BodyStream
    ) throws -> any BodySink {
        try checkVersion(exchange)
        let request = exchange.request
        let sink: TusSink
        if request.method == .post {
            sink = try create(exchange, at: target, stream: stream)
        } else {
            guard request.method == .other("PATCH") else {
                throw Fault.badRequest("this request has no body")
            }
            try checkType(request)
            guard let offset = Self.number(request.headers["upload-offset"]) else {
                throw Fault.badRequest("Upload-Offset: expected the number of bytes sent so far")
            }
            let (upload, _) = try find(target)
            sink = TusSink(
                exchange, stream: stream, upload: upload, offset: offset, isNew: false,
                renew: renewal(of: upload, target.token))
        }
        sink.begin(count: Self.number(request.headers["content-length"]) ?? 0)
        return sink
    }

    /// Begins an upload, with its first bytes if the request has some.
    private func create(
        _ exchange: Exchange, at target: Target, stream: BodyStream
    ) throws -> TusSink {
        let request = exchange.request
        guard let grant = target.store.assetTokens.uploadGrant(target.token),
            clock.now() / 1_000 < grant.expires
        else { throw AssetResponder.expiredUpload }
        guard let length = Self.number(request.headers["upload-length"]) else {
            throw Fault.badRequest("Upload-Length: expected the number of bytes of the whole file")
        }
        guard length <= bytesMax else { throw StatusFault.tooLarge(bytesMax: bytesMax) }
        if request.headers["content-length"] != "0", request.headers["content-type"] != nil {
            try checkType(request)
        }
        try uploads.reserve(for: target.uploader)
        // Only on the queue may a storage take its time: the file is begun there.
        let upload = ResumableUpload(
            DeferredUpload(
                target.store.assetStore.storage, name: Self.name(of: target.token, grant.identity),
                length),
            length: length,
            identity: grant.identity, use: target.use, queue: target.queue, counters: counters,
            onOver: { [uploads] in uploads.release(of: target.uploader) })
        uploads.add(upload, target.token, now: clock.now())
        return TusSink(
            exchange, stream: stream, upload: upload, offset: 0, isNew: true,
            renew: renewal(of: upload, target.token))
    }

    private func renewal(
        of upload: ResumableUpload, _ token: String
    ) -> @Sendable () -> Milliseconds? {
        { [uploads, clock] in
            // NB: an upload that has ended has no time left; the request learns of the end in other ways.
            guard let found = try? uploads.find(token, now: clock.now()),
                found.upload === upload
            else { return nil }
            return found.expires
        }
    }

    private func answerOffset(
        _ exchange: Exchange, of upload: ResumableUpload, expires: Milliseconds
    ) {
        do {
            let (offset, _) = try upload.takeOver()
            exchange.answer(
                HTTPResponse(
                    status: 200,
                    headers: exchange.bodilessHeaders + [
                        ("Upload-Offset", "\(offset)"), ("Upload-Length", "\(upload.length)"),
                        ("Upload-Expires", HTTPDate.text(expires / 1_000)),
                    ]))
        } catch {
            exchange.fail(error)
        }
    }

    private func find(
        _ target: Target
    ) throws(Fault) -> (upload: ResumableUpload, expires: Milliseconds) {
        if let found = try uploads.find(target.token, now: clock.now()) { return found }
        let storage = target.store.assetStore.storage
        guard let grant = target.store.assetTokens.uploadGrant(target.token) else {
            throw ResumableUpload.gone
        }
        let name = Self.name(of: target.token, grant.identity)
        guard storage.canResume(name) else { throw ResumableUpload.gone }
        return try uploads.findOrAdd(target.token, of: target.uploader, now: clock.now()) {
            ResumableUpload(
                resuming: { try storage.resume(name) }, identity: grant.identity, use: target.use,
                queue: target.queue, counters: counters,
                onOver: { [uploads] in uploads.release(of: target.uploader) })
        }
    }

    private func checkVersion(_ exchange: Exchange) throws {
        exchange.becomeTus()
        guard exchange.request.headers["tus-resumable"] == Self.version else {
            exchange.note { $0.moreHeaders.append(("Tus-Version", Self.version)) }
            throw StatusFault(412, .badRequest("Tus-Resumable: expected \(Self.version)"))
        }
    }

    private func checkType(_ request: HTTPRequest) throws {
        guard request.headers["content-type"]?.lowercased() == Self.mediaType else {
            throw StatusFault(415, .badRequest("Content-Type: expected \(Self.mediaType)"))
        }
    }

    /// Decimal digits, and nothing else.
    private static func number(_ text: String?) -> Int? {
        guard let text, !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }
}

extension Exchange {
    /// Marks the answer as one of this protocol, whatever it will be.
    func becomeTus() {
        note {
            guard $0.moreHeaders.isEmpty else { return }
            $0.moreHeaders = [
                ("Tus-Resumable", TusResponder.version), ("Cache-Control", "no-store"),
            ]
            $0.exposedHeaders =
                "Location,Tus-Extension,Tus-Max-Size,Tus-Resumable,Tus-Version,Upload-Expires,"
                + "Upload-Length,Upload-Offset,X-Apple-Request-UUID"
        }
    }

    /// Of an answer without a body.
    var bodilessHeaders: [(name: String, value: String)] {
        headers.filter { $0.name != "Content-Type" }
    }

    /// Answers with a body, or the failure.
    func finish(_ result: Result<[UInt8], any Error>) {
        do { succeed(try result.get()) } catch { fail(error) }
    }
}
