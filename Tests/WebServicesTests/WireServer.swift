import Accounts
import AssetStorage
import CloudDatabase
import CloudModel
import Cryptography
import Dispatch
import EngineUnderTest
import Fairness
import Foundation
import HTTP
import JSON
import SQLiteStorage
import Storage
import Synchronization
import Testing
import WebServices

/// The protocol without sockets: requests go in as values, and answers come back.
///
/// Stores, catalog and credentials are real, in a folder of the server's own; the time is the test's.
final class WireServer: Sendable {
    static let tea = "iCloud.org.example.Tea"
    static let mate = "iCloud.org.example.Mate"

    let folder: URL
    let catalog: any CatalogStorage
    /// In place of files, where TEST_ENGINE names one, and where several servers share it.
    private let other: OtherEngine?
    /// The server whose people, tokens and files it shares; nil for one that has its own.
    private let first: WireServer?
    let web: ProtocolResponder
    let clock: SettableClock
    let observed = Observed()
    let limits: ServiceLimits
    let accounts: AccountsSettings
    private let stores: OpenedStores
    /// Which stores requests have asked for.
    let reached = ReachedStores()
    /// API tokens by container and environment.
    let apiTokens: [String: String]
    /// The threads that requests come in by as if they were event loops, by the loops' numbers.
    private let loops = Mutex<[Int: ObjectIdentifier]>([:])

    /// Sends a request in by an event loop, or by none where another thread is at that one: a loop is one thread.
    func respond(from loop: Int, by send: (Int) -> Void) {
        let thread = ObjectIdentifier(Thread.current)
        let isTaken = loops.withLock { loops in
            guard loops[loop] == nil else { return false }
            loops[loop] = thread
            return true
        }
        let isOwn = isTaken || loops.withLock { $0[loop] == thread }
        defer { if isTaken { loops.withLock { $0[loop] = nil } } }
        send(isOwn ? loop : Self.noLoop)
    }

    /// The number of an event loop that there is not.
    static let noLoop = -1

    /// - Parameters:
    ///   - storage: takes the place of every store, when given.
    ///   - rates: what callers may ask for in a second of the test's clock.
    ///   - kinds: of the destinations that something carries notices to.
    ///   - engine: taken in place of one of its own.
    ///   - first: a server on the same data.
    ///   - opening: what is done whenever the protocol asks for a store that it has not opened yet.
    ///   - change: lowers limits. Those of time are so long that no busy machine reaches them: a test that
    ///     means one sets it.
    init(
        accounts: AccountsSettings = AccountsSettings(), storage: (any Store)? = nil,
        assets assetOptions: AssetOptions = AssetOptions(baseURL: "https://sync.example"),
        assetKey: AssetKey? = nil, rates: RateLimits? = nil, processCount: Int = 1,
        work: WorkOptions = WorkOptions(),
        kinds: Set<DestinationKind>? = nil, engine: OtherEngine? = nil,
        beside first: WireServer? = nil, opening: OpeningAction? = nil,
        limits change: (inout ServiceLimits) -> Void = { _ in }
    ) throws {
        self.first = first
        folder = try first?.folder ?? Self.makeFolder()
        let clock = first?.clock ?? SettableClock()
        let other =
            try engine
            ?? OtherEngine.open(
                clock: Clock { clock.now }, random: { RandomSource.system.bytes($0) })
        self.other = other
        let path = folder.appending(path: "catalog.sqlite").path
        let catalog =
            try other?.engine.catalog ?? SQLiteCatalog(path: path, onIndeterminate: { _ in })
        var limits = Self.patientLimits
        change(&limits)
        let authenticator = try Authenticator(
            catalog: catalog, settings: accounts, publicBaseURL: "https://sync.example",
            report: { _ in })
        let stores = OpenedStores(
            folder: folder, other: other?.engine, clock: clock, assetKey: assetKey, limits: limits,
            hasEnded: DestinationSessions(
                catalog: catalog, clock: Clock { clock.now }
            ).hasEnded)
        apiTokens = try first?.apiTokens ?? Self.makeTokens(catalog, now: clock.now)
        self.clock = clock
        self.catalog = catalog
        self.limits = limits
        self.accounts = accounts
        if let storage { AttachedWork.attach(OpenedStores.runner(storage, limits), to: storage) }
        self.stores = stores
        var dependencies = ProtocolResponder.Dependencies(
            limits: limits, clock: Clock { clock.now }, random: .system,
            authenticator: authenticator, catalog: catalog,
            stores: TestStores(
                prepare: { opening?.run() },
                find: { [reached] in
                    reached.note(StoreKey($0, $1))
                    return try storage ?? stores.store($0, $1)
                },
                assetStore: { stores.assetStore($0, $1) }, assets: assetOptions),
            assets: assetOptions,
            observer: observed, workers: work,
            loopCount: 1)
        if let kinds { dependencies.destinationKinds = kinds }
        dependencies.processCount = { processCount }
        if let rates {
            dependencies.rates = rates
            dependencies.uptime = { UInt64(clock.now) * 1_000_000 }
        }
        web = ProtocolResponder(dependencies)
    }

    private static func makeFolder() throws -> URL {
        let memory = URL(filePath: "/dev/shm")
        let isWritable = FileManager.default.isWritableFile(atPath: memory.path)
        let location = isWritable ? memory : FileManager.default.temporaryDirectory
        let folder = location.appending(path: "wire-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    private static func makeTokens(
        _ catalog: any CatalogStorage, now: Milliseconds
    ) throws -> [String: String] {
        var tokens: [String: String] = [:]
        for container in [Self.tea, Self.mate] {
            let id = try Containers(catalog: catalog).create(container, now: now).id
            for environment in CloudModel.Environment.allCases {
                tokens["\(container)/\(environment.rawValue)"] = try APITokens(catalog: catalog)
                    .create(container: id, environment: environment, now: now).token
            }
        }
        return tokens
    }

    deinit {
        stores.close()
        other?.end()
        guard first == nil else { return }
        try? FileManager.default.removeItem(at: folder)
    }

    /// Where files are fastest.
    private static var memoryFolder: URL {
        let memory = URL(filePath: "/dev/shm")
        let isWritable = FileManager.default.isWritableFile(atPath: memory.path)
        return isWritable ? memory : FileManager.default.temporaryDirectory
    }

    /// A request that a busy machine held up comes out as any other.
    private static var patientLimits: ServiceLimits {
        var limits = ServiceLimits()
        // What took longer in the writer would be decided beside it, after what came later, and would be
        // given up when others are faster too often.
        limits.writerMillisecondsMax = 600_000
        limits.decisionAttemptsMax = 1_000
        limits.queryMillisecondsMax = 600_000
        limits.handoverMilliseconds = 150_000
        limits.indexWaitMilliseconds = 600_000
        limits.sharedPageHoldMilliseconds = 30_000
        limits.courierPollSeconds = 600
        return limits
    }

    func store(
        _ container: String = tea, _ environment: CloudModel.Environment = .development
    ) throws -> any EngineStore {
        try stores.store(try Self.id(container), environment)
    }

    /// The assets of a store.
    func assetStore(
        _ container: String = tea, _ environment: CloudModel.Environment = .development
    ) throws -> AssetStore {
        stores.assetStore(try Self.id(container), environment)
    }

    /// Where a store's file is; of the engine that keeps files.
    func storePath(
        _ container: String = tea, _ environment: CloudModel.Environment = .development
    ) throws -> String { stores.path(try Self.id(container), environment) }

    /// What `check` finds in a store; empty when nothing is wrong.
    func problems(
        _ container: String = tea, _ environment: CloudModel.Environment = .development
    ) throws -> [String] {
        _ = try store(container, environment)
        let id = try Self.id(container)
        if let other {
            return try other.engine.problems(
                of: .store(StoreKey(id, environment)), lossesSince: 0)
        }
        return try StoreCheck(path: stores.path(id, environment)).problems()
    }

    /// What `check` finds in the catalog.
    func catalogProblems() throws -> [String] {
        if let other { return try other.engine.problems(of: .catalog, lossesSince: 0) }
        return try CatalogCheck(path: folder.appending(path: "catalog.sqlite").path).problems()
    }

    /// Waits until what deletions of public records have left of others' is deleted.
    func finishDeletions(
        _ container: String = tea, _ environment: CloudModel.Environment = .development
    ) throws {
        let store = try store(container, environment)
        try until {
            try store.writeAndWait { transaction in
                var turn = WorkTurn(WorkHolder(9), [.deleteSources])
                return try transaction.takeWork(&turn) == nil
            }
        }
    }

    /// Closes a store, lets its file be changed, and goes on with what is there then.
    func restart(
        _ container: String = tea, _ environment: CloudModel.Environment = .development,
        _ change: (_ path: String) throws -> Void
    ) throws {
        let id = try Self.id(container)
        try stores.close(id, environment)
        try change(stores.path(id, environment))
    }

    /// Changes a bit of a record's present version, as a disk that decays does.
    func damage(_ name: String) throws {
        if let other { return try other.damage(name) }
        try restart { path in try StoreDecay(store: path).damage(name) }
    }

    /// Removes tombstones older than a moment, in steps of `limit` until nothing is left.
    func collect(olderThan moment: Milliseconds, limit: Int = 1_000) throws {
        let store = try store()
        var more = true
        while more {
            let done = Waiting<Result<Bool, any Error>>()
            store.write(cost: 1, frees: true) {
                try $0.collect(olderThan: moment, limit: limit)
            } completion: {
                done.arrive($0)
            }
            more = try done.wait().get()
        }
    }

    static func id(_ container: String) throws -> ContainerID {
        guard let id = ContainerID(container) else { throw WireFailure("no container name") }
        return id
    }
}

struct WireFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The stores that requests have asked for.
final class ReachedStores: Sendable {
    private let keys = Mutex<Set<StoreKey>>([])

    func note(_ key: StoreKey) { _ = keys.withLock { $0.insert(key) } }

    /// Those since this was called last.
    func take() -> Set<StoreKey> {
        keys.withLock { keys in
            defer { keys = [] }
            return keys
        }
    }
}

/// What a test does while a store is being opened, set once the server is there.
final class OpeningAction: Sendable {
    private let action = Mutex<@Sendable () -> Void>({})

    func set(_ action: @escaping @Sendable () -> Void) { self.action.withLock { $0 = action } }

    func run() { action.withLock { $0 }() }
}

/// The time of day that a test sets.
final class SettableClock: Sendable {
    private let moment = Mutex<Milliseconds>(1_767_225_600_000)  // 2026-01-01T00:00:00Z

    var now: Milliseconds { moment.withLock { $0 } }

    func advance(_ milliseconds: Milliseconds) { moment.withLock { $0 += milliseconds } }
}

/// What the observer was told.
final class Observed: RequestObserver, @unchecked Sendable {
    // Unchecked: what is kept is touched with the condition locked.
    private let condition = NSCondition()
    private var seen: [RequestObservation] = []
    private var broken: [String] = []

    func brokeOff(requestID: String, failure: String) {
        condition.lock()
        defer { condition.unlock() }
        broken.append(failure)
    }

    /// Why answers were not sent to their end, in order.
    var failuresUnderWay: [String] {
        condition.lock()
        defer { condition.unlock() }
        return broken
    }

    /// Whether a request has been told of.
    func knows(_ requestID: String) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        return seen.contains { $0.requestID == requestID }
    }

    func observe(_ request: RequestObservation) {
        condition.lock()
        defer { condition.unlock() }
        // Long runs need only the latest.
        if seen.count > 1_000 { seen.removeAll() }
        seen.append(request)
        condition.broadcast()
    }

    /// What was told of the request of an answer, which may come a moment after it.
    ///
    /// - Throws: when nothing has come after a minute.
    func told(of answer: Answer) throws -> RequestObservation {
        let deadline = Date(timeIntervalSinceNow: 60)
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let found = seen.last(where: { $0.requestID == answer.requestID }) { return found }
            guard condition.wait(until: deadline) else {
                throw WireFailure("the observer was not told")
            }
        }
    }
}

/// The stores of one server, opened when they are first reached.
private final class OpenedStores: Sendable {
    private let folder: URL
    private let other: (any StorageEngine)?
    private let clock: SettableClock
    private let assetKey: AssetKey?
    private let limits: ServiceLimits
    private let hasEnded: @Sendable (StoredDestination) throws -> Bool
    private let open = Mutex<[String: any EngineStore]>([:])
    private let assetStores = Mutex<[String: AssetStore]>([:])

    init(
        folder: URL, other: (any StorageEngine)?, clock: SettableClock, assetKey: AssetKey?,
        limits: ServiceLimits,
        hasEnded: @escaping @Sendable (StoredDestination) throws -> Bool
    ) {
        self.hasEnded = hasEnded
        self.limits = limits
        self.folder = folder
        self.other = other
        self.clock = clock
        self.assetKey = assetKey
    }

    func assetStore(_ container: ContainerID, _ environment: CloudModel.Environment) -> AssetStore {
        let path = path(container, environment) + "-assets"
        return assetStores.withLock { assetStores in
            if let known = assetStores[path] { return known }
            let assetStore = AssetStore(FolderAssets(path: path, key: assetKey))
            assetStores[path] = assetStore
            return assetStore
        }
    }

    func path(_ container: ContainerID, _ environment: CloudModel.Environment) -> String {
        folder.appending(path: "\(container.folded)-\(environment.rawValue).sqlite").path
    }

    static func runner(_ storage: any Store, _ limits: ServiceLimits) -> WorkRunner {
        var options = WorkRunner.Options()
        options.limits = limits
        return WorkRunner(storage, options)
    }

    func store(
        _ container: ContainerID, _ environment: CloudModel.Environment
    ) throws -> any EngineStore {
        let path = path(container, environment)
        return try open.withLock { open in
            if let store = open[path] { return store }
            let store = try make(StoreKey(container, environment))
            let source = NoticeSource(container: container, environment: environment)
            let limits = limits
            var told = NoticeRunner.Options { subscription, owner in
                subscription.storedQuery(of: owner.user, in: owner.scope, limits: limits)
            }
            told.limits = limits
            told.hasEnded = hasEnded
            let telling = NoticeRunner(store, at: source, told)
            AttachedWork.attach(Self.runner(store, limits), telling, to: store)
            open[path] = store
            return store
        }
    }

    private func make(_ key: StoreKey) throws -> any EngineStore {
        if let other { return try other.open(key, notices: CommitNotices()) }
        let clock = clock
        return try SQLiteStore(
            path: path(key.container, key.environment),
            options: SQLiteStore.Options(
                clock: Clock { clock.now }, random: { RandomSource.system.bytes($0) }),
            onIndeterminate: { _ in })
    }

    func close(_ container: ContainerID, _ environment: CloudModel.Environment) throws {
        open.withLock { $0.removeValue(forKey: path(container, environment)) }.map(close)
        _ = other?.close(StoreKey(container, environment), isUnused: false)
    }

    private func close(_ store: any EngineStore) {
        AttachedWork.stop(of: store)
        (store as? SQLiteStore)?.close()
    }

    func close() {
        open.withLock {
            for store in $0.values { close(store) }
            $0.removeAll()
        }
        guard let other, let known = try? other.stores(ListRequest()).items else { return }
        for store in known { _ = other.close(store.key, isUnused: false) }
    }
}

/// Stores that are opened once on a thread of their own, and not closed by themselves.
private final class TestStores: StoreAccess {
    private let prepare: @Sendable () -> Void
    private let find: @Sendable (ContainerID, CloudModel.Environment) throws -> any Store
    private let assetStore: @Sendable (ContainerID, CloudModel.Environment) -> AssetStore
    private let assets: AssetOptions
    private let opened = Mutex<Set<String>>([])

    init(
        prepare: @escaping @Sendable () -> Void,
        find: @escaping @Sendable (ContainerID, CloudModel.Environment) throws -> any Store,
        assetStore: @escaping @Sendable (ContainerID, CloudModel.Environment) -> AssetStore,
        assets: AssetOptions
    ) {
        self.prepare = prepare
        self.find = find
        self.assetStore = assetStore
        self.assets = assets
    }

    func known(_ container: ContainerID, _ environment: CloudModel.Environment) -> OpenStore? {
        guard opened.withLock({ $0.contains("\(container.folded) \(environment)") }) else {
            return nil
        }
        return try? seen(container, environment)
    }

    func open(
        _ container: ContainerID, _ environment: CloudModel.Environment,
        completion: @escaping @Sendable (Result<OpenStore, any Error>) -> Void
    ) {
        DispatchQueue(label: "test.open").async { [self] in
            prepare()
            let outcome = Result { try seen(container, environment) }
            if case .success = outcome {
                _ = opened.withLock { $0.insert("\(container.folded) \(environment)") }
            }
            completion(outcome)
        }
    }

    private func seen(
        _ container: ContainerID, _ environment: CloudModel.Environment
    ) throws -> OpenStore {
        try OpenStore(
            find(container, environment), of: container, in: environment,
            assetStore: assetStore(container, environment), assets: assets)
    }
}

extension WireServer {
    /// Waits, for a minute at most, until something that other threads do is done.
    func until(_ isSo: () throws -> Bool) throws {
        let end = ContinuousClock.now + .seconds(60)
        while try !isSo() {
            if ContinuousClock.now > end { throw WireFailure("waited in vain") }
            sched_yield()
        }
    }
}

/// A value that another thread hands in.
final class Waiting<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let arrived = DispatchSemaphore(value: 0)

    /// Whether nothing has come yet.
    var isEmpty: Bool { value.withLock { $0 == nil } }

    func arrive(_ value: Value) {
        self.value.withLock { $0 = value }
        arrived.signal()
    }

    /// Hands it on, once: an answer that stayed here would keep itself, with its files and its server.
    ///
    /// - Throws: when nothing has come after a minute, which means that nothing will.
    func wait() throws -> Value {
        guard arrived.wait(timeout: .now() + 60) == .success,
            let value = value.withLock({ $0.take() })
        else { throw WireFailure("no answer within a minute") }
        return value
    }
}
