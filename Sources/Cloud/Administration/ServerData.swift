import Accounts
import AssetStorage
import Audit
import CloudModel
import Cryptography
import Delivery
import RequestRecords
import Storage
import Telemetry

/// All that a server keeps, as its operators act on it, whatever engine keeps it.
///
/// Everything here blocks, may be called from several threads at once, and has its outcome on disk when
/// it returns.
package protocol ServerData: AnyObject, Sendable {
    var clock: Clock { get }
    var limits: ServiceLimits { get }
    var containers: Containers { get }
    var apiTokens: APITokens { get }
    var serverKeys: ServerKeys { get }
    var users: Users { get }
    var webTokens: WebTokens { get }
    /// What people do with accounts by themselves.
    var accountUseCases: AccountUseCases { get }
    /// By which the server pushes.
    var pushKeys: PushKeys { get }
    /// Seals what has to be read back.
    var secrets: SealedSecrets { get }
    var random: RandomSource { get }

    /// Refuses when the keys that seal were changed where they are kept since they were read.
    ///
    /// What is sealed now might open no more then.
    func requireKeysAsKept() throws

    /// The container environments that have data, by the containers' folded names; searched by these.
    ///
    /// - Throws: `UnusableCursor`.
    func environments(_ request: ListRequest) throws -> ListPage<ContainerEnvironment>

    /// What is there of the data of container environments.
    func findings(
        of targets: [ContainerEnvironment]
    ) throws -> [ContainerEnvironment: StoreFinding]

    /// The store of a container environment, made when it is asked for the first time.
    ///
    /// - Throws: `CatalogRefusal.containerUnknown`; `StorageFailure`.
    func store(
        of container: ContainerID, in environment: Environment
    ) throws -> any Store

    /// What a container environment takes on the disk; it stays open as long as anybody keeps this.
    ///
    /// - Throws: as `store`.
    func space(of target: ContainerEnvironment) throws -> any SpaceKeeping

    /// The assets of a container environment.
    func assetStore(of target: ContainerEnvironment) -> AssetStore

    /// Forgets a container and removes its data; after a crash in between, the next start goes on.
    ///
    /// - Throws: `CatalogRefusal.containerUnknown`.
    func deleteContainer(_ container: ContainerID) throws

    /// Resets an environment to a schema and nothing else; after a crash it is as it was, or reset.
    func reset(_ target: ContainerEnvironment, to beginning: EnvironmentBeginning) throws

    /// Copies everything, also while it is in use.
    ///
    func backUp(to destination: any BackupDestination) throws -> BackupReport

    /// Opens a backup in a folder beside the data, without who was erased since, and removes the folder again.
    ///
    /// - Throws: `RestoreRefusal`, for somebody who was erased and where there is no backup; what restoring reports;
    ///   what `body` throws.
    func readBackup<Result>(
        _ request: BackupRequest, _ body: (OpenedBackup) throws -> Result
    ) throws -> Result

    /// Copies containers, which nobody may use here from then on, to another server's data, and goes on where an earlier
    /// call was cut short.
    ///
    /// - Throws: what says in one line why they were not copied; then nobody may use them here either, until `reopen`.
    func copyStorage(_ request: CopyRequest, _ progress: CheckProgress) throws -> CopyReport

    /// Has containers used here again that were copied elsewhere or were to be, in another life.
    ///
    /// - Parameters:
    ///   - container: nil for all.
    ///   - source: where the data are, as the operator named it.
    /// - Returns: those that were not in use.
    func reopen(_ container: ContainerID?, in source: StorageAddress) throws -> [ContainerID]

    /// Hands a notice to its webhook once, beside what waits for it, and waits for what comes of it.
    ///
    /// - Throws: what the machinery reports.
    func sendOnce(_ notice: OutgoingNotice) throws -> DeliveryOutcome

    /// What asks another service that an operator names, to take records over from it.
    ///
    /// - Throws: what the machinery reports.
    func sourceRequests() throws -> any SourceRequests

    /// Why nothing that an operator names would be sent to a URL as things are; nil when it would.
    ///
    /// Looks its name up.
    func obstacle(to url: String) -> String?

    /// What was counted of requests and notices.
    ///
    /// - Throws: `EngineFault`, where it cannot be opened.
    func telemetry() throws -> any TelemetryStorage

    /// Tells of an alert, and waits until that is done.
    ///
    /// - Throws: what says in one line what has not taken it.
    func tell(_ message: AlertMessage, by rule: AlertRule) throws

    /// What is noted of operators' actions, the newest entries on the first page.
    ///
    /// - Parameters:
    ///   - end: `next` of the page before; nil for the first page.
    ///   - since: entries before it are left out.
    /// - Throws: `AuditFailure`.
    func auditPage(
        before end: Int64?, since: Milliseconds, prefix: String, limit: Int
    ) throws -> AuditPage

    /// The lines of requests that are kept, with those of all that have ended here so far, and elsewhere a second ago;
    /// nil where none are kept.
    ///
    /// - Throws: what the file system or the database reports.
    func requests() throws -> (any RequestStorage)?

    /// Notes for ever that an account is erased, before anything of it goes.
    ///
    /// No restore takes it back: what an older backup brings of the account is erased again.
    func noteErasure(of account: AccountID, publicRecords: PublicRecordsFate) throws

    /// Overwrites what was deleted before in a container environment, wherever its store has kept it.
    ///
    /// - Parameter goesOn: asked before each step.
    /// - Throws: `ErasePerson.Interrupted`, and as a write.
    func overwriteDeleted(
        in target: ContainerEnvironment, while goesOn: @Sendable () -> Bool) throws

    /// As `overwriteDeleted`, for what belongs to the server.
    func overwriteDeletedInCatalog(while goesOn: @Sendable () -> Bool) throws

    /// In how many parts `problems` and `mendSums` go through everything.
    func checkedParts() throws -> Int

    /// Reads everything.
    ///
    /// - Returns: a line for each thing that is wrong, which names where; empty when nothing is.
    /// - Throws: `CheckProgress.Abandoned`.
    func problems(_ progress: CheckProgress) throws -> [String]

    /// Looks at what surrounds the data: disk, network, what letters and backups need.
    func examine() throws -> [Finding]

    /// Makes checksums of assets again that are missing, torn or wrong while the contents are whole.
    ///
    /// - Returns: of how many assets.
    /// - Throws: `CheckProgress.Abandoned`.
    func mendSums(_ progress: CheckProgress) throws -> Int

    /// Which server this is, and how its backups stand.
    var serverState: ServerState { get }

    /// Every setting as the process that has the data began with it, and where it was said.
    var settingsInForce: [SettingInForce] { get }

    /// Has the server make a backup now; does not wait for it.
    ///
    /// - Throws: what says in one line why none is made.
    func askForBackup() throws

    /// Sends a letter that says that letters come, and waits until it is handed on.
    ///
    /// - Throws: `AccountsRefusal.emailIllegal`; what says in one line why it could not.
    func sendTestLetter(to text: String) throws

    /// How many files of assets lie in the trash.
    func trashedAssets() throws -> Int
}

/// One environment of a container.
package struct ContainerEnvironment: Hashable, Sendable {
    package let container: ContainerID
    package let environment: Environment

    package init(_ container: ContainerID, _ environment: Environment) {
        self.container = container
        self.environment = environment
    }
}

extension ServerData {
    /// Goes through the container environments that have data, but for those of containers that have moved elsewhere.
    func forEachEnvironment(_ body: (ContainerEnvironment) throws -> Void) throws {
        let catalog = accountUseCases.catalog
        try ListPage.forEachPage(environments) { targets in
            let containers = try catalog.containers(Set(targets.map(\.container)))
            for target in targets where containers[target.container]?.isElsewhere != true {
                try body(target)
            }
        }
    }

    /// The environments of a container that have data.
    func environments(of container: ContainerID) throws -> [ContainerEnvironment] {
        // No name comes before the prefix itself.
        let request = ListRequest(limit: Environment.allCases.count, prefix: container.folded)
        return try environments(request).items.filter { $0.container == container }
    }

    /// What is there of the data of containers, in each of their environments.
    func findings(
        of containers: Set<ContainerID>
    ) throws -> [ContainerEnvironment: StoreFinding] {
        try findings(
            of: containers.flatMap { container in
                Environment.allCases.map { ContainerEnvironment(container, $0) }
            })
    }
}

extension [ContainerEnvironment: StoreFinding] {
    /// The environments of a container of which that is there.
    func environments(of container: ContainerID, _ finding: StoreFinding) -> [Environment] {
        Environment.allCases.filter { self[ContainerEnvironment(container, $0)] == finding }
    }
}

/// What an environment that is reset begins with.
package struct EnvironmentBeginning: Sendable {
    package let schema: Schema
    /// The name of the operator in the schema's history.
    package let author: String
    /// What the history says about the reset, one line each.
    package let difference: [String]

    package init(schema: Schema, author: String, difference: [String]) {
        self.schema = schema
        self.author = author
        self.difference = difference
    }
}

/// What is in a copy, and what is not.
package struct BackupReport: Sendable {
    /// A line for each asset that is not there or damaged; everything else is in the copy.
    package let problems: [String]
    /// Where the key of sealed secrets lies that is not in the copy; nil when it is.
    package let secretKeyPath: String?

    package init(problems: [String], secretKeyPath: String?) {
        self.problems = problems
        self.secretKeyPath = secretKeyPath
    }
}

/// Where a backup is made, and who takes its parts as they are whole.
package protocol BackupDestination {
    /// Parts are made below it, with a data folder's layout.
    var path: String { get }

    /// A file below `path` is whole and not needed there any more.
    func handOver(_ file: String) throws

    /// As `handOver`, for each file below a folder; for none where there is no such folder.
    func handOverFiles(below folder: String) throws

    /// Makes one file of it piece by piece, without keeping what goes elsewhere.
    func stream(_ name: String, _ body: (@escaping ([UInt8]) throws -> Void) throws -> Void) throws
}
