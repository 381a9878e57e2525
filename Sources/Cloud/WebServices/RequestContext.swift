import Accounts
import CloudDatabase
import CloudModel
import Cryptography
import HTTP
import RecordDecoding
import Storage

/// One admitted request on its way through an endpoint: the store that it is about is open.
struct RequestContext: Sendable {
    private let responder: ProtocolResponder
    private let admitted: AdmittedRequest
    let store: OpenStore
    let executor: Executor

    init(
        _ admitted: AdmittedRequest, of responder: ProtocolResponder, store: OpenStore,
        executor: Executor
    ) {
        self.responder = responder
        self.admitted = admitted
        self.store = store
        self.executor = executor
    }

    var exchange: Exchange { admitted.exchange }
    var request: HTTPRequest { admitted.exchange.request }
    var address: RequestAddress { admitted.address }
    var identified: Identified { admitted.identified }
    /// The parameters of the request's target.
    var query: QueryString { exchange.query }
    var limits: ServiceLimits { responder.dependencies.limits }
    var random: RandomSource { responder.dependencies.random }
    var clock: Clock { responder.dependencies.clock }
    var assets: AssetOptions { responder.dependencies.assets }
    /// Where clients reach the server, without a slash at the end.
    var courierBaseURL: String { responder.dependencies.courierBaseURL ?? assets.baseURL }
    /// Whether notices get to destinations of a kind.
    func reaches(_ kind: DestinationKind) -> Bool {
        responder.dependencies.destinationKinds.contains(kind)
    }
    var authenticator: Authenticator { responder.dependencies.authenticator }
    var catalog: any CatalogStorage { responder.dependencies.catalog }
    var people: KnownPeople { responder.people }
    /// Addresses that each user looks up within a day.
    var discoveries: DailyBudgets { responder.discoveries }
    /// Where a decision goes on that takes longer than the writer may be held up.
    var longWork: LongWork { responder.longWork(of: admitted) }

    /// The event loop whose thread this is; nil on a worker.
    var loop: Int? { executor.loop }

    /// Reads one moment of the store, until nobody waits for the answer or it must make room.
    ///
    /// - Parameter isOfFeed: as of `ReadLoad`.
    func read<Value>(
        isOfFeed: Bool = false, _ body: (any StoreSnapshot) throws -> Value
    ) throws -> Value {
        // Nothing is long on a loop.
        let load = ReadLoad(
            by: StoreReader(loop: loop), until: loop == nil ? exchange.stop : nil,
            isOfFeed: isOfFeed)
        return try store.storage.read(load, body)
    }

    /// Whether this thread may wait for the store.
    var mayWait: Bool { loop == nil || store.storage.readsAtOnce }

    /// Makes a short answer from one moment of the store; where this thread may not wait, from one that many share.
    ///
    /// - Parameter needs: what it will ask for, and little else.
    func answerTogether(
        _ database: Database, _ needs: @autoclosure () -> StoreNeeds,
        _ body: @escaping @Sendable (any StoreSnapshot) throws -> NextStep
    ) throws -> NextStep {
        guard !mayWait else { return try read(body) }
        database.readTogether(needs(), body) { [responder, admitted, executor] result in
            responder.proceed(with: admitted, result, from: executor)
        }
        return .handedOn
    }

    /// Whether so many items are too many for an event loop.
    func holdsUp(items count: Int) -> Bool { loop != nil && count > RequestContext.loopItemsMax }

    var caller: Caller { identified.caller }

    /// The database of the path.
    ///
    /// - Throws: `Fault` BAD_REQUEST for a path that names none.
    func database() throws(Fault) -> Database {
        guard let scope = address.database else {
            throw .badRequest("the path names no database: expected public, private or shared")
        }
        // NB: a container whose own limits cannot be read now is held to the server's.
        let own = try? responder.containers.limits(of: address.container)
        return Database(
            scope: scope, container: address.container, environment: address.environment,
            caller: caller, limits: own?.service ?? limits, storage: store.storage,
            stop: loop == nil ? exchange.stop : nil,
            identities: people.people(of: address.container), random: random,
            assets: AssetAccess(store.assetTokens, now: clock.now()) { [identified] in
                AssetOrigin(identified)
            },
            shareAddresses: store.shareAddresses.below(authenticator.publicBaseURL),
            quota: own.flatMap {
                $0.totalQuotaBytes > 0
                    ? TotalQuota(bytes: $0.totalQuotaBytes, of: store.total) : nil
            },
            author: { [exchange] user in
                ChangeAuthor(
                    user: user, device: DeviceName.read(exchange.query),
                    trace: exchange.request.headers["traceparent"].flatMap { TraceParent($0)?.text }
                )
            })
    }

    /// Counts records that the request is about to save or delete; it is not refused for them any more.
    func charge(records: Int) {
        // NB: what cannot be counted now is not; the request has been admitted.
        try? responder.containers.charge(address.container, records: records)
        if let principal = admitted.counted { responder.rates.charge(principal, records: records) }
    }

    /// How this request's zones are to be read.
    var zones: ZoneReader { ZoneReader(caller: caller, scope: address.database) }

    /// Whether the container lets its public database be followed (rulings.md 31).
    func servesPublicChanges() throws -> Bool {
        let settings = try catalog.container(address.container)?.settings
        return settings?[ContainerSetting.publicChanges.rawValue] == "true"
    }

    /// The body as an object.
    func body() throws(Fault) -> RequestObject { try RequestObject(body: request.body) }

    /// What one answer may take: little on an event loop, which must not be held up.
    var budget: PageBudget {
        let rows = max(limits.feedRowsPerPageMax, limits.recordsPerResponseMax)
        guard loop != nil else { return PageBudget(bytes: limits.pageBytesMax, rows: rows) }
        return PageBudget(
            bytes: RequestContext.loopBytesMax, rows: min(rows, RequestContext.loopRowsMax))
    }

    /// A longer answer is made by a worker.
    static let loopBytesMax = 262_144
    /// A longer request is read by a worker.
    static let loopBodyBytesMax = 16_384
    /// More records, zones or operations are dealt with by a worker.
    static let loopItemsMax = 8
    /// More zones of a database's feed are read by a worker.
    static let loopZonesMax = 32
    /// More records of a feed are read by a worker.
    static let loopRecordsMax = 400
    /// More rows of a feed, shown or not, are looked at by a worker.
    static let loopRowsMax = 1_000

    /// The `deviceID` of what this request saves.
    var device: String { namedDevice ?? "iCloud" }

    /// The request's `clientId`; nil when it names none.
    var namedDevice: String? { DeviceName.read(query) }

    /// The request's `writeId`, by which a client that has lost the answer knows its own write again.
    var namedWrite: String? {
        query.text("writeId").flatMap(DeviceName.read).flatMap {
            $0.utf8.count <= Self.writeNameBytesMax ? $0 : nil
        }
    }

    /// Every record that is saved carries it.
    private static let writeNameBytesMax = 64
}

extension QueryString {
    /// The first value under a name, with percent signs undone; nil when absent, or when it is no UTF-8.
    func text(_ name: StaticString) -> String? { value(name).flatMap { PercentEncoding.text($0) } }
}
