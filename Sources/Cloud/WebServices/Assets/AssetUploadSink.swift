import AssetStorage
import CloudDatabase
import CloudModel
import Cryptography
import HTTP
import JSON

/// Receives one upload: writes the bytes to a file piece by piece, and hashes them on the way.
final class AssetUploadSink: BodySink, @unchecked Sendable {
    // Unchecked: everything that changes is used on the queue alone.
    private let exchange: Exchange
    private let stream: BodyStream
    private let bytesMax: Int
    private let assetStore: AssetStore
    private let use: ReceiveAsset
    private let grant: AssetTokens.UploadGrant
    private let tokens: AssetTokens
    private let queue: AssetLine
    private let counters: AssetCounters
    private var form: MultipartForm?
    private var upload: (any AssetUpload)?
    private var byteCount = 0
    private var isOver = false

    init(
        _ exchange: Exchange, stream: BodyStream, form: MultipartForm?, bytesMax: Int,
        assetStore: AssetStore, use: ReceiveAsset, grant: AssetTokens.UploadGrant,
        tokens: AssetTokens,
        queue: AssetLine, counters: AssetCounters
    ) {
        self.exchange = exchange
        self.stream = stream
        self.form = form
        self.bytesMax = bytesMax
        self.assetStore = assetStore
        self.use = use
        self.grant = grant
        self.tokens = tokens
        self.queue = queue
        self.counters = counters
    }

    /// Makes room for the file, before anything else.
    func begin(expectedBytes: Int) {
        counters.change { $0.uploadsActive += 1 }
        queue.async {
            do {
                self.upload = try self.assetStore.storage.begin(expectedBytes: expectedBytes)
            } catch {
                self.fail(error)
            }
        }
    }

    func receive(_ piece: [UInt8]) {
        queue.async {
            self.take(piece)
            self.stream.consumed(piece.count)
        }
    }

    func end() { queue.async { self.finish() } }

    func abort() {
        queue.async {
            guard !self.isOver else { return }
            self.close()
            self.counters.change { $0.uploadsAborted += 1 }
        }
    }

    private func take(_ piece: [UInt8]) {
        guard !isOver else { return }
        exchange.note { $0.bytesStreamedIn += piece.count }
        do {
            if form != nil {
                try form?.take(piece) { try append($0) }
            } else {
                try piece.withUnsafeBytes { try append($0) }
            }
        } catch {
            fail(error)
        }
    }

    private func append(_ bytes: UnsafeRawBufferPointer) throws {
        byteCount += bytes.count
        guard byteCount <= bytesMax else { throw StatusFault.tooLarge(bytesMax: bytesMax) }
        try upload?.append(bytes)
    }

    private func finish() {
        guard !isOver, let upload else { return }
        do { try form?.finish() } catch { return fail(error) }
        isOver = true
        self.upload = nil
        let (received, counters) = (exchange.note { $0.bytesStreamedIn }, counters)
        use.run(upload, identity: grant.identity) { [exchange, tokens] result in
            counters.change {
                $0.uploadsActive -= 1
                $0.bytesReceived += received
            }
            // This may be the thread of the store's writer, for which others wait.
            exchange.wake {
                do {
                    let receipt = try result.get()
                    counters.change { $0.uploadsFinished += 1 }
                    exchange.succeed(Self.answer(receipt, tokens))
                } catch {
                    exchange.fail(error)
                }
            }
        }
    }

    private func fail(_ error: any Error) {
        close()
        exchange.fail(error)
    }

    private func close() {
        isOver = true
        upload?.discard()
        upload = nil
        let received = exchange.note { $0.bytesStreamedIn }
        counters.change {
            $0.uploadsActive -= 1
            $0.bytesReceived += received
        }
    }

    static func answer(_ receipt: AssetReceipt, _ tokens: AssetTokens) -> [UInt8] {
        var writer = JSONWriter(reserving: 400)
        writer.raw("{\"singleFile\":")
        AssetValueJSON.append(receipt, tokens, links: nil, to: &writer)
        writer.raw("}")
        return writer.bytes
    }
}

/// The JSON with which clients make an asset the value of a field.
enum AssetValueJSON {
    /// Appends all five keys, and a link where there is one to give.
    static func append(
        _ receipt: AssetReceipt, _ tokens: AssetTokens, links: AssetLinks?,
        to writer: inout JSONWriter
    ) {
        let digest = receipt.content.digest
        let companions = tokens.companions(of: digest)
        writer.raw("{\"wrappingKey\":")
        writer.string(Base64.encode(companions.wrappingKey))
        writer.member("fileChecksum", ReceiptText.checksum(of: digest))
        writer.member("receipt", ReceiptText.encode(receipt))
        writer.member("referenceChecksum", Base64.encode(companions.referenceChecksum))
        writer.member("size", receipt.content.size)
        if let links {
            writer.raw(",\"downloadURL\":\"")
            writer.bytes.append(contentsOf: links.text(of: digest))
            writer.raw("\"")
        }
        writer.raw("}")
    }
}
