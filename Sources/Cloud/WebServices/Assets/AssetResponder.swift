import AssetStorage
import CloudDatabase
import CloudModel
import Cryptography
import Fairness
import HTTP
import Storage

/// Answers below `/assets/`: uploads and downloads, by addresses that the server has handed out.
///
/// It checks no credential. Everybody who has an address may use it while the address is good. The
/// user and the credential to which it was handed out must still exist.
final class AssetResponder: Sendable {
    private let stores: any StoreAccess
    private let options: AssetOptions
    private let clock: Clock
    private let random: RandomSource
    private let workers: AssetWorkers
    let counters = AssetCounters()
    private let tus: TusResponder
    private let origins: OriginValidity

    init(_ dependencies: ProtocolResponder.Dependencies) {
        stores = dependencies.stores
        options = dependencies.assets
        clock = dependencies.clock
        random = dependencies.random
        origins = OriginValidity(
            catalog: dependencies.catalog, limits: dependencies.limits)
        workers = AssetWorkers(name: "asset", Self.workOptions(options, dependencies.workers))
        tus = TusResponder(
            uploads: ResumableUploads(
                openMax: options.resumableUploadsMax, idleSeconds: options.resumeSeconds),
            bytesMax: options.bytesMax, clock: clock, counters: counters)
    }

    /// Removes all traces of uploads that nobody goes on with.
    func removeExpiredUploads() { tus.uploads.removeExpired(now: clock.now()) }

    private static func workOptions(
        _ options: AssetOptions, _ workers: WorkOptions
    ) -> WorkOptions {
        var own = workers
        own.shortThreads = options.workerCount
        // These threads are there to wait for disks and other servers.
        own.longNanoseconds = .max
        // There are many, and digests and files of one upload are work for long.
        own.shortNiceness = 15
        return own
    }

    /// A request without a body, or with one of no bytes.
    func respond(_ exchange: Exchange) {
        exchange.note {
            $0.operation = "assets"
            $0.allowedOrigin = exchange.request.headers["origin"]
        }
        if exchange.request.method == .options { return sendPreflight(exchange) }
        withStore(exchange) { try self.answer(exchange, $0, $1) }
    }

    private func answer(
        _ exchange: Exchange, _ address: AssetAddress, _ store: OpenStore
    ) throws {
        switch address.resource {
        case .upload(let token) where TusResponder.serves(exchange.request):
            try tus.respond(exchange, at: target(token, address, store, exchange))
        case .upload:
            let sink = try sink(for: exchange, address, store, stream: BodyStream { _ in })
            sink.end()
        case .file(let digest, let name, let proof):
            guard
                store.assetTokens.isLink(
                    to: digest, expires: proof.expires, origin: proof.origin,
                    signature: proof.signature)
            else { throw Self.notFound }
            guard clock.now() / 1_000 < proof.expires else {
                throw Fault(.accessDenied, "the link has expired; read the record again")
            }
            guard let origin = origins.origin(proof.origin, by: store.assetTokens) else {
                throw Self.notFound
            }
            try origins.require(
                origin, in: address.container, store.storage, loop: exchange.request.loop)
            exchange.note { $0.operation = "assets/download" }
            counters.change { $0.downloads += 1 }
            let download = AssetDownload(
                digest: digest, name: name, secondsLeft: proof.expires - clock.now() / 1_000,
                counters: counters)
            download.answer(exchange, from: store.assetStore.storage) { work in
                exchange.stopWhenAbandoned()
                try self.workers.submit(
                    .short, for: .reader(exchange.request.client), stop: exchange.stop, work)
            }
        }
    }

    /// A request whose body streams.
    func receive(_ exchange: Exchange, stream: BodyStream) -> (any BodySink)? {
        exchange.note {
            $0.operation = "assets"
            $0.allowedOrigin = exchange.request.headers["origin"]
        }
        let late = LateSink()
        let isKnown = withStore(exchange, whenRefused: { late.become(nil) }) { address, store in
            if case .upload(let token) = address.resource, TusResponder.serves(exchange.request) {
                late.become(
                    try self.tus.receive(
                        exchange, at: self.target(token, address, store, exchange), stream: stream))
            } else {
                late.become(try self.sink(for: exchange, address, store, stream: stream))
            }
        }
        return isKnown ? late : nil
    }

    /// Hands over the store that a request is about: at once when it is open, else as soon as it is.
    ///
    /// - Parameter whenRefused: called when the request was answered instead.
    /// - Returns: false when the request was answered at once.
    @discardableResult
    private func withStore(
        _ exchange: Exchange, whenRefused: @escaping @Sendable () -> Void = {},
        _ body: @escaping @Sendable (AssetAddress, OpenStore) throws -> Void
    ) -> Bool {
        guard let address = AssetAddress(exchange.query) else {
            exchange.fail(Self.notFound)
            return false
        }
        let goOn: @Sendable (Result<OpenStore, any Error>) -> Bool = { result in
            do {
                let store = try result.get()
                exchange.note {
                    $0.address = RequestAddress(address.container, address.environment)
                }
                let allowed = address.resource.methods
                guard allowed.contains(exchange.request.method) else {
                    exchange.refuseMethod(allowed)
                    whenRefused()
                    return false
                }
                try body(address, store)
                return true
            } catch is CatalogRefusal {
                exchange.fail(Self.notFound)
            } catch {
                exchange.fail(error)
            }
            whenRefused()
            return false
        }
        if let store = stores.known(address.container, address.environment) {
            return goOn(.success(store))
        }
        exchange.stopWhenAbandoned()
        stores.open(address.container, address.environment) { result in _ = goOn(result) }
        return true
    }

    private func sendPreflight(_ exchange: Exchange) {
        let fields = TusResponder.preflightFields(bytesMax: options.bytesMax)
        exchange.note { $0.moreHeaders = fields }
        exchange.sendPreflight(methods: AllowedMethods.upload.text)
    }

    /// - Throws: `Fault` NOT_FOUND when this is not an upload URL of this store; as `OriginValidity`.
    private func target(
        _ token: String, _ address: AssetAddress, _ store: OpenStore,
        _ exchange: Exchange
    ) throws -> TusResponder.Target {
        guard let grant = store.assetTokens.uploadGrant(token) else { throw Self.notFound }
        try origins.require(
            grant.origin, in: address.container, store.storage, loop: exchange.request.loop)
        exchange.note { $0.operation = "assets/receive" }
        return TusResponder.Target(
            token: token, store: store, use: receiving(store, grant, address),
            queue: line(of: grant), uploader: grant.identity)
    }

    private func line(of grant: AssetTokens.UploadGrant) -> AssetLine {
        AssetLine(workers, .short, for: .uploader(grant.identity))
    }

    private func receiving(
        _ store: OpenStore, _ grant: AssetTokens.UploadGrant, _ address: AssetAddress
    ) -> ReceiveAsset {
        ReceiveAsset(
            store.storage, assetStore: store.assetStore, tokens: store.assetTokens, random: random
        ) { [origins] in
            try origins.requireKnown(grant.origin, in: address.container)
        }
    }

    private func sink(
        for exchange: Exchange, _ address: AssetAddress, _ store: OpenStore,
        stream: BodyStream
    ) throws -> AssetUploadSink {
        let request = exchange.request
        guard case .upload(let token) = address.resource,
            request.method == .post || request.method == .put
        else { throw Fault.badRequest("an asset is uploaded by POST or PUT to its upload URL") }
        guard let grant = store.assetTokens.uploadGrant(token) else { throw Self.notFound }
        guard clock.now() / 1_000 < grant.expires else { throw Self.expiredUpload }
        try origins.require(
            grant.origin, in: address.container, store.storage, loop: exchange.request.loop)
        exchange.note { $0.operation = "assets/receive" }
        let form = try MultipartForm(contentType: request.headers["content-type"])
        // The parser has made sure of digits. So if this is not a number here, it is too large for one.
        let length = request.headers["content-length"].map { Int($0) ?? .max }
        let room = form == nil ? 0 : MultipartForm.overheadBytesMax
        if let length, length - room > options.bytesMax {
            throw StatusFault.tooLarge(bytesMax: options.bytesMax)
        }
        let sink = AssetUploadSink(
            exchange, stream: stream, form: form, bytesMax: options.bytesMax,
            assetStore: store.assetStore, use: receiving(store, grant, address),
            grant: grant, tokens: store.assetTokens, queue: line(of: grant), counters: counters)
        sink.begin(expectedBytes: length ?? 0)
        return sink
    }

    /// The answer for addresses that the server has not handed out, and for files that are gone.
    static let notFound = Fault(.notFound, "no such asset")
    static let expiredUpload = Fault(
        .accessDenied, "the upload URL has expired; ask assets/upload for another")
}
