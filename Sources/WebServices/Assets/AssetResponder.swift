import AssetStorage
import CloudDatabase
import CloudModel
import Cryptography
import Dispatch
import HTTP
import Storage
import Synchronization

/// Answers below `/assets/`: uploads and downloads, by the addresses that the server has handed out.
///
/// No credential is looked at here: whoever has the address may use it while it is good.
final class AssetResponder: Sendable {
    private let stores: OpenStores
    private let options: AssetOptions
    private let clock: Clock
    private let random: RandomSource
    private let workers: [DispatchQueue]
    private let nextWorker = Atomic<Int>(0)
    let counters = AssetCounters()
    private let tus: TusResponder

    init(_ stores: OpenStores, _ dependencies: ProtocolResponder.Dependencies) {
        self.stores = stores
        options = dependencies.assets
        clock = dependencies.clock
        random = dependencies.random
        // An upload stays with one of them.
        workers = (0..<max(1, options.workerCount)).map { DispatchQueue(label: "web.asset.\($0)") }
        tus = TusResponder(
            uploads: ResumableUploads(
                openMax: options.resumableUploadsMax, idleSeconds: options.resumeSeconds),
            bytesMax: options.bytesMax, clock: clock, counters: counters)
    }

    /// Leaves nothing of uploads that nobody goes on with.
    func removeExpiredUploads() { tus.uploads.removeExpired(now: clock.now()) }

    private var worker: DispatchQueue {
        let number = nextWorker.wrappingAdd(1, ordering: .relaxed).oldValue
        return workers[Int(UInt(bitPattern: number) % UInt(workers.count))]
    }

    /// A request without a body, or with one of no bytes.
    func respond(_ exchange: Exchange) {
        exchange.operation = "assets"
        exchange.allowedOrigin = exchange.request.headers["origin"]
        if exchange.request.method == .options { return sendPreflight(exchange) }
        do {
            let (address, store) = try find(exchange)
            let allowed = address.place.methods
            guard allowed.contains(exchange.request.method) else {
                return exchange.refuseMethod(allowed)
            }
            switch address.place {
            case .upload(let token) where TusResponder.serves(exchange.request):
                try tus.respond(exchange, at: place(token, store, exchange))
            case .upload:
                let sink = try sink(for: exchange, address, store, stream: BodyStream { _ in })
                sink.end()
            case .file(let digest, let name, let expires, let signature):
                guard store.assetTokens.isLink(to: digest, expires: expires, signature: signature)
                else { throw Self.notFound }
                guard clock.now() / 1_000 < expires else {
                    throw Fault(.accessDenied, "the link has expired; read the record again")
                }
                exchange.operation = "assets/download"
                counters.change { $0.downloads += 1 }
                let download = AssetDownload(
                    digest: digest, name: name, secondsLeft: expires - clock.now() / 1_000)
                guard store.depot.storage.isLocal else {
                    return worker.async { download.answer(exchange, from: store.depot.storage) }
                }
                download.answer(exchange, from: store.depot.storage)
            }
        } catch {
            exchange.fail(error)
        }
    }

    /// A request whose body streams.
    func receive(_ exchange: Exchange, stream: BodyStream) -> (any BodySink)? {
        exchange.operation = "assets"
        exchange.allowedOrigin = exchange.request.headers["origin"]
        do {
            let (address, store) = try find(exchange)
            let allowed = address.place.methods
            guard allowed.contains(exchange.request.method) else {
                exchange.refuseMethod(allowed)
                return nil
            }
            if case .upload(let token) = address.place, TusResponder.serves(exchange.request) {
                return try tus.receive(
                    exchange, at: place(token, store, exchange), stream: stream)
            }
            return try sink(for: exchange, address, store, stream: stream)
        } catch {
            exchange.fail(error)
        }
        return nil
    }

    private func find(
        _ exchange: Exchange
    ) throws -> (AssetAddress, OpenStores.OpenStore) {
        guard let address = AssetAddress(target: exchange.request.target) else {
            throw Self.notFound
        }
        do {
            let store = try stores.store(address.container, address.environment)
            exchange.address = RequestAddress(address)
            return (address, store)
        } catch is CatalogRefusal {
            throw Self.notFound
        }
    }

    private func sendPreflight(_ exchange: Exchange) {
        exchange.moreHeaders = TusResponder.preflightFields(bytesMax: options.bytesMax)
        exchange.sendPreflight(methods: AllowedMethods.upload.text)
    }

    /// - Throws: `Fault` NOT_FOUND for what is no upload URL of this store.
    private func place(
        _ token: String, _ store: OpenStores.OpenStore, _ exchange: Exchange
    ) throws(Fault) -> TusResponder.Place {
        guard store.assetTokens.uploadGrant(token) != nil else { throw Self.notFound }
        exchange.operation = "assets/receive"
        return TusResponder.Place(
            token: token, store: store, use: receiving(store), queue: worker)
    }

    private func receiving(_ store: OpenStores.OpenStore) -> ReceiveAsset {
        ReceiveAsset(
            store.storage, depot: store.depot, tokens: store.assetTokens, random: random)
    }

    private func sink(
        for exchange: Exchange, _ address: AssetAddress, _ store: OpenStores.OpenStore,
        stream: BodyStream
    ) throws -> AssetUploadSink {
        let request = exchange.request
        guard case .upload(let token) = address.place,
            request.method == .post || request.method == .put
        else { throw Fault.badRequest("an asset is uploaded by POST or PUT to its upload URL") }
        guard let grant = store.assetTokens.uploadGrant(token) else { throw Self.notFound }
        guard clock.now() / 1_000 < grant.expires else { throw Self.expiredUpload }
        exchange.operation = "assets/receive"
        let form = try MultipartForm(contentType: request.headers["content-type"])
        // Digits, as the parser has seen to: what is no number here is too large for one.
        let length = request.headers["content-length"].map { Int($0) ?? .max }
        let room = form == nil ? 0 : MultipartForm.overheadBytesMax
        if let length, length - room > options.bytesMax {
            throw StatusFault.tooLarge(bytesMax: options.bytesMax)
        }
        let sink = AssetUploadSink(
            exchange, stream: stream, form: form, bytesMax: options.bytesMax,
            depot: store.depot, use: receiving(store),
            grant: grant, tokens: store.assetTokens, queue: worker, counters: counters)
        sink.begin(expectedBytes: length ?? 0)
        return sink
    }

    /// For whatever the server has not handed out, and for files that have gone.
    static let notFound = Fault(.notFound, "no such asset")
    static let expiredUpload = Fault(
        .accessDenied, "the upload URL has expired; ask assets/upload for another")
}
