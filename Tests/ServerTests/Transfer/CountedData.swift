import Accounts
import AssetStorage
import Audit
import CatalogSQL
import CloudModel
import Cryptography
import Delivery
import RequestRecords
import SQLite
import Storage
import Synchronization
import Telemetry

@testable import Administration
@testable import SQLiteStorage
@testable import Server

/// A server's data that count what is asked of the catalog and of stores.
final class CountedData: ServerData {
    private let folder: DataFolder
    private let catalog: CountedCatalog
    let accountUseCases: AccountUseCases
    let users: Users
    private let stores = Mutex<[CountedStore]>([])

    /// - Parameter path: of the folder.
    init(_ folder: DataFolder, at path: String) throws {
        self.folder = folder
        catalog = try CountedCatalog(path: path + "/catalog.sqlite")
        users = Users(catalog: catalog, random: folder.random)
        accountUseCases = try AccountUseCases(
            catalog: catalog, random: folder.random, secrets: folder.secrets, letterKinds: [],
            publicBaseURL: "http://127.0.0.1")
        _ = try users.derivedName(
            of: AccountRecord(
                id: AccountID("none"), givenName: nil, familyName: nil, addresses: [],
                password: nil, createdAt: 0), in: folder.containers.find("iCloud.a").id)
        catalog.session.withLock { $0.count = 0 }
    }

    /// How many statements the catalog has run.
    var statementCount: Int { catalog.session.withLock { $0.count } }

    /// How many snapshots and writes stores were asked for.
    var visitCount: Int {
        stores.withLock { $0.reduce(0) { $0 + $1.visits.withLock { $0 } } }
    }

    func store(of container: ContainerID, in environment: Environment) throws -> any Store {
        let store = CountedStore(try folder.store(of: container, in: environment))
        stores.withLock { $0.append(store) }
        return store
    }

    var clock: Clock { folder.clock }
    var limits: ServiceLimits { folder.limits }
    var containers: Containers { folder.containers }
    var apiTokens: APITokens { folder.apiTokens }
    var serverKeys: ServerKeys { folder.serverKeys }
    var webTokens: WebTokens { folder.webTokens }
    var pushKeys: PushKeys { folder.pushKeys }
    var secrets: SealedSecrets { folder.secrets }
    var random: RandomSource { folder.random }
    var serverState: ServerState { folder.serverState }
    var settingsInForce: [SettingInForce] { folder.settingsInForce }

    func requireKeysAsKept() throws { try folder.requireKeysAsKept() }

    func environments(_ request: ListRequest) throws -> ListPage<ContainerEnvironment> {
        try folder.environments(request)
    }

    func findings(
        of targets: [ContainerEnvironment]
    ) throws -> [ContainerEnvironment: StoreFinding] { try folder.findings(of: targets) }

    func space(of target: ContainerEnvironment) throws -> any SpaceKeeping {
        try folder.space(of: target)
    }

    func assetStore(of target: ContainerEnvironment) -> AssetStore {
        folder.assetStore(of: target)
    }

    func deleteContainer(_ container: ContainerID) throws {
        try folder.deleteContainer(container)
    }

    func reset(_ target: ContainerEnvironment, to beginning: EnvironmentBeginning) throws {
        try folder.reset(target, to: beginning)
    }

    func backUp(to destination: any BackupDestination) throws -> BackupReport {
        try folder.backUp(to: destination)
    }

    func readBackup<Result>(
        _ request: BackupRequest, _ body: (OpenedBackup) throws -> Result
    ) throws -> Result { try folder.readBackup(request, body) }

    func copyStorage(_ request: CopyRequest, _ progress: CheckProgress) throws -> CopyReport {
        try folder.copyStorage(request, progress)
    }

    func reopen(_ container: ContainerID?, in source: StorageAddress) throws -> [ContainerID] {
        try folder.reopen(container, in: source)
    }

    func sendOnce(_ notice: OutgoingNotice) throws -> DeliveryOutcome {
        try folder.sendOnce(notice)
    }

    func sourceRequests() throws -> any SourceRequests { try folder.sourceRequests() }
    func obstacle(to url: String) -> String? { folder.obstacle(to: url) }
    func telemetry() throws -> any TelemetryStorage { try folder.telemetry() }

    func tell(_ message: AlertMessage, by rule: AlertRule) throws {
        try folder.tell(message, by: rule)
    }

    func auditPage(
        before end: Int64?, since: Milliseconds, prefix: String, limit: Int
    ) throws -> AuditPage {
        try folder.auditPage(before: end, since: since, prefix: prefix, limit: limit)
    }

    func requests() throws -> (any RequestStorage)? { try folder.requests() }

    func noteErasure(of account: AccountID, publicRecords: PublicRecordsFate) throws {
        try folder.noteErasure(of: account, publicRecords: publicRecords)
    }

    func overwriteDeleted(
        in target: ContainerEnvironment, while goesOn: @Sendable () -> Bool
    ) throws { try folder.overwriteDeleted(in: target, while: goesOn) }

    func overwriteDeletedInCatalog(while goesOn: @Sendable () -> Bool) throws {
        try folder.overwriteDeletedInCatalog(while: goesOn)
    }

    func checkedParts() throws -> Int { try folder.checkedParts() }
    func problems(_ progress: CheckProgress) throws -> [String] { try folder.problems(progress) }
    func examine() throws -> [Finding] { try folder.examine() }
    func mendSums(_ progress: CheckProgress) throws -> Int { try folder.mendSums(progress) }
    func askForBackup() throws { try folder.askForBackup() }
    func sendTestLetter(to text: String) throws { try folder.sendTestLetter(to: text) }
    func trashedAssets() throws -> Int { try folder.trashedAssets() }
}

/// The catalog of a data folder by a connection of its own.
private final class CountedCatalog: SQLCatalog {
    final class Session: CatalogSession {
        private let session: SQLiteCatalogSession
        var count = 0

        init(_ session: SQLiteCatalogSession) { self.session = session }

        func run(_ sql: String, _ values: [CatalogValue]) throws -> Int {
            count += 1
            return try session.run(sql, values)
        }

        func visit(
            _ sql: String, _ values: [CatalogValue], _ row: (any CatalogRow) throws -> Void
        ) throws {
            count += 1
            try session.visit(sql, values, row)
        }
    }

    let session: Mutex<Session>

    init(path: String) throws {
        session = Mutex(
            Session(
                SQLiteCatalogSession(connection: try Connection(path: path, mode: .readWrite))))
    }

    let version = 1

    func read<Outcome: Sendable>(_ body: (CatalogConnection) throws -> Outcome) throws -> Outcome {
        try session.withLock { try body(CatalogConnection($0)) }
    }

    func write<Outcome: Sendable>(
        endsWhatWasTrue: Bool, _ body: (CatalogConnection) throws -> Outcome
    ) throws -> Outcome { try read(body) }

    func check(_ lease: LeaderLease, in catalog: CatalogConnection) throws {}

    func removeCopies() throws {}
}

private final class CountedStore: Store {
    private let store: any Store
    let visits = Mutex(0)

    init(_ store: any Store) { self.store = store }

    var readsAtOnce: Bool { store.readsAtOnce }
    var notices: CommitNotices { store.notices }

    func read<Value>(
        _ load: ReadLoad, _ body: (any StoreSnapshot) throws -> Value
    ) throws -> Value {
        visits.withLock { $0 += 1 }
        return try store.read(load, body)
    }

    func readTogether<Value: Sendable>(
        _ needs: @autoclosure () -> StoreNeeds, by caller: StoreCaller,
        _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        visits.withLock { $0 += 1 }
        store.readTogether(needs(), by: caller, body, completion: completion)
    }

    func write<Value: Sendable>(
        _ load: WriteLoad,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        visits.withLock { $0 += 1 }
        store.write(load, body, completion: completion)
    }

    func prepare(_ query: StoreQuery) throws -> Int? { try store.prepare(query) }
    func hold(_ duty: StoreDuty) throws -> StoreLease? { try store.hold(duty) }

    func maintain(while goesOn: () -> Bool) throws -> Bool {
        try store.maintain(while: goesOn)
    }
}
