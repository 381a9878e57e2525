import Accounts
import Audit
import CloudModel
import Configuration
import Control
import Cryptography
import Delivery
import Files
import Storage
import Synchronization

/// The folder that holds everything the server keeps, opened by the one process that may change it.
package final class DataFolder: Sendable {
    package let path: String
    package let configuration: ServerConfiguration
    package let limits: ServiceLimits
    package let engine: any StorageEngine
    package let stores: Stores
    let engineWords: EngineWords
    package let clock: Clock
    package let random: RandomSource
    let process: ProcessEnvironment
    package let containers: Containers
    package let apiTokens: APITokens
    package let serverKeys: ServerKeys
    package let users: Users
    package let webTokens: WebTokens
    package let pushKeys: PushKeys
    /// Seals what has to be read back, such as second factors.
    package let secrets: SealedSecrets
    /// Notes each action on other people's data, before it is done.
    package let audit: any AuditStorage
    /// Gives the lines of a ledger of erased people for those of all processes; nil where there is one process.
    let sharedErasures: (@Sendable ([String]) throws -> [String])?
    /// Hears of failed sign-ins.
    let failedSignIns: FailedSignIns
    /// What people do with accounts by themselves.
    package let accountUseCases: AccountUseCases
    let assetLocations: AssetLocations
    /// Where identity providers are asked from while a server runs.
    let providerAccess = ProviderAccess()
    /// Hears of requests that were sent to come back.
    let addressProbe = AddressProbe()
    /// What is known of the process that has the folder.
    package let serving = ServingNote()
    /// The lines of requests.
    let requestLines: RequestLines
    /// What was counted, for charts and alerts.
    let telemetryFile: TelemetryFile
    private let personalFiles = PersonalFiles()
    private let lock: Mutex<FileLock?>
    /// One at a time notes who is erased.
    let ledgerLock = Mutex(())

    private init(
        path: String, configuration: ServerConfiguration, limits: ServiceLimits, lock: FileLock,
        factory: any EngineFactory, isScratch: Bool,
        process: ProcessEnvironment, onIndeterminate: @escaping @Sendable (String) -> Void
    ) throws {
        self.path = path
        self.configuration = configuration
        self.limits = limits
        self.lock = Mutex(lock)
        self.process = process
        clock = process.clock
        let random = process.random
        self.random = random
        let reports = StoreReports()
        var options = EngineOptions(
            clock: clock, random: { random.bytes($0) }, report: { reports.tell($0, $1) },
            onIndeterminate: onIndeterminate)
        let identity = options.process
        requestLines = RequestLines {
            try configuration.openRequests("\(path)/\(RequestLines.folderName)", by: identity)
        }
        telemetryFile = TelemetryFile(Self.telemetryPath(in: path)) {
            try configuration.openTelemetry($0, by: identity)
        }
        secrets = try SecretKeys.open(configuration, of: path, random: random)
        sharedErasures = try configuration.sharedErasures(by: identity)
        audit = try configuration.openAudit(Self.auditPath(in: path), by: identity)
        let failedSignIns = FailedSignIns(audit: audit)
        self.failedSignIns = failedSignIns
        engineWords = factory.words
        let gone = GoneStores()
        options.onGone = { gone.tell($0) }
        engine = try Self.openEngine(
            factory, options, of: path, configuration, isScratch ? nil : secrets, random: random)
        let catalog = engine.catalog
        containers = Containers(catalog: catalog)
        apiTokens = APITokens(catalog: catalog, random: random)
        serverKeys = ServerKeys(catalog: catalog, random: random)
        users = Users(
            catalog: catalog, random: random, costs: configuration.accountsSettings.passwordCosts)
        accountUseCases = try AccountUseCases(
            catalog: catalog, random: random, secrets: secrets,
            settings: configuration.accountsSettings,
            signUp: SignUpMode(configuration.accounts.signUp),
            letterKinds: configuration.letterKinds, publicBaseURL: configuration.baseURL,
            processCount: { [engine] in engine.processes.count },
            note: Self.ownersNote(in: audit), failed: { failedSignIns.note($0) },
            export: { [personalFiles] in try personalFiles.make(of: $0) }, fetch: providerAccess)
        pushKeys = PushKeys(catalog: catalog, secrets: secrets)
        webTokens = try WebTokens(
            catalog: catalog, random: random, settings: configuration.accountsSettings)
        assetLocations = try AssetLocations(
            configuration, of: path, clock: clock, random: random, sharing: engine)
        stores = Stores(
            folder: path, engine: engine, words: engineWords, clock: clock,
            limits: configuration.storeLimits, assetLocations: assetLocations,
            assets: configuration.assetOptions, reports: reports)
        personalFiles.attach(self)
        gone.attach(stores)
    }

    /// Opens the engine as one of the processes that share its data, where they can.
    ///
    /// - Parameter secrets: nil where nothing that is sealed is looked at.
    private static func openEngine(
        _ factory: any EngineFactory, _ options: EngineOptions, of path: String,
        _ configuration: ServerConfiguration, _ secrets: SealedSecrets?, random: RandomSource
    ) throws -> any StorageEngine {
        var options = options
        options.programVersion = ProgramVersion.text
        options.assets = try AssetLocations.name(configuration, of: path, random: random)
        let engine = try factory.open(options)
        do {
            if let secrets {
                try SecretKeys.requireShared(secrets, configuration, of: path, with: engine)
            }
            try AssetLocations.requireSame(options.assets, of: path, as: engine.catalog)
            return engine
        } catch {
            engine.close()
            throw error
        }
    }

    /// Everything that belongs to the server and not to one container environment.
    package var catalog: any CatalogStorage { engine.catalog }

    /// Refuses a folder that has held data and whose catalog is not there.
    ///
    /// Served as a new one, it would show everybody an empty server. Also removes what a restore has left that
    /// was done but for that.
    static func requireWhole(_ path: String, _ factory: any EngineFactory) throws {
        let name = factory.words.catalog
        let restoring = DataBackup.restoringPath(in: path)
        let isRestoring = try FileSystem.kind(of: restoring) != nil
        if try factory.hasData() {
            if isRestoring { try FileSystem.removeTree(restoring) }
            return
        }
        if isRestoring {
            throw CommandFailure(
                "\(path) has no \(name) but restoring/: a restore did not come to its end. Run "
                    + "`lenticular restore` with the same backup again.")
        }
        let containers = "\(path)/containers"
        guard try FileSystem.kind(of: containers) == .folder,
            try FileSystem.names(in: containers).contains(where: { $0 != AssetLocations.markName })
        else { return }
        throw CommandFailure(
            "\(path) has containers/ but no \(name), without which nobody can be let in. Put "
                + "\(name) back, or restore a backup into an empty folder, or move containers/ "
                + "away to begin anew.")
    }

    /// Makes the folder when there is none: only a server's start and `restore` do.
    ///
    /// - Throws: `CommandFailure`.
    package static func make(_ path: String) throws {
        try FileSystem.makeFolder(path)
        try FolderAccess.require(path, names: [])
        try FileSystem.setMode(0o700, of: path)
    }

    /// Refuses a folder that no server has made.
    ///
    /// - Throws: `CommandFailure` that says where its path comes from.
    package static func requireMade(_ loaded: LoadedConfiguration) throws {
        let path = loaded.values.data
        try FolderAccess.require(path, names: [])
        let factory = try loaded.values.engineFactory(for: path) { _ in [] }
        guard try !factory.hasData() else { return }
        let location = factory.words.location(.catalog)
        let isInFolder = location.hasPrefix(path)
        throw CommandFailure(
            "\(path) is no data folder: "
                + (isInFolder ? "it has no \(factory.words.catalog)" : "\(location) is not there")
                + ". The path is "
                + "\(loaded.origin(of: "data")); name the server's folder by --data, LENTICULAR_DATA "
                + "or data in a --config file. A server makes it at its first start.")
    }

    /// Takes the lock of a folder and opens what is in it.
    ///
    /// - Parameters:
    ///   - limit: changes limits that are no settings; tests do.
    ///   - isScratch: whether they were restored to be looked into: nothing in them is unsealed, so any keys will do.
    ///   - onIndeterminate: called when a commit's outcome is unknown; the process must end.
    /// - Returns: nil while another process holds it.
    /// - Throws: `CommandFailure`, and what the databases report.
    package static func open(
        _ path: String, configuration: ServerConfiguration, process: ProcessEnvironment,
        limit: (inout ServiceLimits) -> Void = { _ in }, isScratch: Bool = false,
        onIndeterminate: @escaping @Sendable (String) -> Void
    ) throws -> DataFolder? {
        var limits = configuration.serviceLimits
        limit(&limits)
        let factory = try configuration.engineFactory(for: path) { process.random.bytes($0) }
        let catalogName = factory.words.catalog
        try FolderAccess.require(path, names: ["lock", catalogName, "containers"])
        do {
            let lock = try FileLock(path: lockPath(in: path))
            try CopyDestination.removeLeftovers(in: path)
            try removeUnfinishedChecks(in: path)
            try configuration.requireOneEngine(in: path)
            try requireWhole(path, factory)
            return try DataFolder(
                path: path, configuration: configuration, limits: limits, lock: lock,
                factory: factory, isScratch: isScratch, process: process,
                onIndeterminate: onIndeterminate)
        } catch FileLock.Failure.held {
            return nil
        } catch FileLock.Failure.unusable(let reason) {
            throw CommandFailure(reason)
        } catch let error as any EngineFault where error.isDamage {
            throw CommandFailure(
                "\(factory.words.location(.catalog)) is damaged (\(error)); move the data folder away "
                    + "and restore a backup")
        } catch let error as any EngineFault where error.finding == .foreign {
            throw CommandFailure("\(factory.words.location(.catalog)): \(error)")
        } catch StorageFailure.unavailable(.unreachable(let words)) {
            throw CommandFailure(
                "\(factory.words.location(.catalog)) does not answer: \(words)")
        }
    }

    /// Where the process that holds a folder takes commands.
    package static func controlSocketPath(in folder: String) -> String { "\(folder)/control.sock" }

    /// Below the data folder: who did what, line by line.
    static let auditName = "audit.log"

    /// Beside it: by which it is searched.
    static let auditIndexName = "\(auditName).index"

    static func auditPath(in folder: String) -> String { "\(folder)/\(auditName)" }

    static func telemetryPath(in folder: String) -> String { "\(folder)/telemetry.sqlite" }

    /// Space that is given up when the disk is full.
    static func reservePath(in folder: String) -> String { "\(folder)/reserve" }

    static func lockPath(in folder: String) -> String { "\(folder)/lock" }

    /// Forgets a container and removes its data.
    ///
    /// - Throws: `CatalogRefusal.containerUnknown`, `CommandFailure`.
    package func deleteContainer(_ id: ContainerID) throws {
        try stores.remove(id)
    }

    /// Closes the databases and lets go of the lock; the last use.
    package func close() {
        stores.close()
        telemetryFile.close()
        engine.close()
        lock.withLock { $0 = nil }
    }
}
