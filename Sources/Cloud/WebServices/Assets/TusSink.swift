import AssetStorage
import CloudModel
import Dispatch
import HTTP
import Synchronization

/// Receives the bytes of one request of a resumable upload.
///
/// The bytes that have arrived stay when the connection breaks: that is the purpose.
final class TusSink: BodySink {
    private let exchange: Exchange
    private let stream: BodyStream
    private let upload: ResumableUpload
    /// The offset at which the client continues, as the client believes.
    private let offset: Int
    /// Renews the upload's time and returns when it ends; nil when the upload is gone.
    private let renew: @Sendable () -> Milliseconds?
    private let isNew: Bool
    /// Of the request among those of the upload; nil before it begins and once it is answered.
    private let turn = Mutex<Int?>(nil)

    init(
        _ exchange: Exchange, stream: BodyStream, upload: ResumableUpload, offset: Int,
        isNew: Bool, renew: @escaping @Sendable () -> Milliseconds?
    ) {
        self.exchange = exchange
        self.stream = stream
        self.upload = upload
        self.offset = offset
        self.isNew = isNew
        self.renew = renew
    }

    /// Lets the request add to the upload, if it begins at the upload's offset.
    ///
    /// - Parameter count: how many bytes the request announces.
    func begin(count: Int) {
        upload.queue.async { [self] in
            do {
                let (reached, turn) = try upload.takeOver()
                guard offset == reached else {
                    throw Fault(
                        .conflict,
                        "Upload-Offset is \(offset), and \(reached) bytes have been received")
                }
                guard count <= upload.length - reached else {
                    throw StatusFault(
                        413,
                        .badRequest(
                            "the upload has \(upload.length) bytes (Upload-Length), \(reached) of "
                                + "which have been received; \(count) more are too many"))
                }
                // An upload begins with its file, so that anything left of an earlier one is removed.
                if isNew { try upload.append([], turn: turn) }
                self.turn.withLock { $0 = turn }
            } catch {
                exchange.fail(error)
            }
        }
    }

    func receive(_ piece: [UInt8]) {
        upload.queue.async { [self] in
            if let turn = turn.withLock({ $0 }) {
                // A request may take longer than the time that an upload waits for the next one.
                _ = renew()
                do {
                    exchange.note { $0.bytesStreamedIn += piece.count }
                    try upload.append(piece, turn: turn)
                } catch {
                    self.turn.withLock { $0 = nil }
                    exchange.fail(error)
                }
            }
            stream.consumed(piece.count)
        }
    }

    func end() {
        upload.queue.async { [self] in
            guard turn.withLock({ $0 }) != nil else { return }
            turn.withLock { $0 = nil }
            upload.settle { [exchange, renew, isNew] result in
                do {
                    var fields = exchange.bodilessHeaders
                    fields.append(("Upload-Offset", "\(try result.get())"))
                    if let expires = renew() {
                        fields.append(("Upload-Expires", HTTPDate.text(expires / 1_000)))
                    }
                    if isNew {
                        // The same URL, however it was reached.
                        let target = exchange.request.target
                        fields.append(("Location", String(decoding: target, as: UTF8.self)))
                    }
                    exchange.answer(HTTPResponse(status: isNew ? 201 : 204, headers: fields))
                } catch {
                    exchange.fail(error)
                }
            }
        }
    }

    func abort() { upload.queue.async { self.turn.withLock { $0 = nil } } }
}

/// A file that is begun when it is first used, on the thread that uses it.
final class DeferredUpload: AssetUpload {
    private let storage: any AssetBlobStore
    private let name: String
    private let byteCount: Int
    private var upload: (any AssetUpload)?

    /// - Parameter name: by which the next process finds it.
    init(_ storage: any AssetBlobStore, name: String, _ byteCount: Int) {
        self.storage = storage
        self.name = name
        self.byteCount = byteCount
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(AssetFailure) {
        let upload = try begun()
        if !bytes.isEmpty { try upload.append(bytes) }
    }

    func seal() throws(AssetFailure) -> AssetContent { try begun().seal() }

    func place() throws(AssetFailure) { try begun().place() }

    func discard() {
        upload?.discard()
        upload = nil
    }

    private func begun() throws(AssetFailure) -> any AssetUpload {
        if let upload { return upload }
        let made = try storage.begin(resumable: name, byteCount: byteCount)
        upload = made
        return made
    }
}
