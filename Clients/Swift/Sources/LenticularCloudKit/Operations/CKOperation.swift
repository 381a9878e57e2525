import CloudKitStore
import Foundation

/// A request with callbacks, which can wait for others in a queue.
///
/// Callbacks come one after the other, never on the main thread; those of items before the one of the whole.
open class CKOperation: Operation, @unchecked Sendable {
    // Unchecked: settings are set before the operation is started, as natively; the rest is behind the lock.

    /// What an operation is known by.
    public typealias ID = String

    /// How an operation goes about its requests.
    ///
    /// What is not set comes from the operation's group, else it is as documented.
    public final class Configuration: NSObject, NSCopying, @unchecked Sendable {
        // Unchecked: as the operation's settings.

        /// What was set, and nothing else.
        struct Chosen {
            var quality: QualityOfService?
            var allowsCellular: Bool?
            var isLongLived: Bool?
            var requestSeconds: TimeInterval?
            var resourceSeconds: TimeInterval?
        }

        var chosen = Chosen()
        /// The container; set by `CKContainer.add`.
        public var container: CKContainer?
        /// How urgent it is: `.utility` and `.background` wait out failures of the network, others tell them.
        public var qualityOfService: QualityOfService {
            get { chosen.quality ?? .default }
            set { chosen.quality = newValue }
        }
        /// Whether it may use a network that costs.
        public var allowsCellularAccess: Bool {
            get { chosen.allowsCellular ?? true }
            set { chosen.allowsCellular = newValue }
        }
        /// Whether it is to outlive the process.
        public var isLongLived: Bool {
            get { chosen.isLongLived ?? false }
            set { chosen.isLongLived = newValue }
        }
        /// How long to wait while nothing comes or goes, in seconds; 60 unless set.
        public var timeoutIntervalForRequest: TimeInterval {
            get { chosen.requestSeconds ?? 60 }
            set { chosen.requestSeconds = newValue }
        }
        /// How long all tries of one request may take, in seconds; a week unless set, and without an end for
        /// what somebody waits for.
        public var timeoutIntervalForResource: TimeInterval {
            get { chosen.resourceSeconds ?? 604_800 }
            set { chosen.resourceSeconds = newValue }
        }

        /// A copy that can be changed by itself.
        public func copy(with zone: NSZone? = nil) -> Any {
            let copy = Configuration()
            copy.container = container
            copy.chosen = chosen
            return copy
        }
    }

    /// What the operation is known by.
    public internal(set) var operationID: ID = UUID().uuidString
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// How it goes about its requests.
    public var configuration: Configuration! = Configuration()
    /// What it belongs to.
    public var group: CKOperationGroup?
    /// Told once a long-lived operation will go on in a later run of the program.
    @preconcurrency public var longLivedOperationWasPersistedBlock: (@Sendable () -> Void)?
    /// The answers of a long-lived operation.
    private var journal: OperationJournal?

    private enum Phase { case waiting, running, ended }
    private let lock = NSLock()
    private var phase = Phase.waiting
    private var task: Task<Void, Never>?

    /// True: it ends when its callbacks have been made.
    public override final var isAsynchronous: Bool { true }

    /// Whether its requests are under way.
    public override final var isExecuting: Bool { lock.withLock { phase == .running } }

    /// Whether its last callback has been made.
    public override final var isFinished: Bool { lock.withLock { phase == .ended } }

    /// Sends its requests; called by the queue.
    public override final func start() {
        guard enter(.running, "isExecuting") else { return }
        let task = Task {
            self.persist()
            await self.run()
            self.forget()
            _ = self.enter(.ended, "isExecuting", "isFinished")
        }
        lock.withLock { self.task = task }
        if isCancelled { task.cancel() }
    }

    /// Ends it with `operationCancelled`, whether it has begun or not.
    public override final func cancel() {
        super.cancel()
        forget()
        lock.withLock { task }?.cancel()
    }

    /// Sends the requests and makes the callbacks.
    func run() async {}

    /// What a later run of the program needs to make the operation anew; nil for one that cannot outlive it.
    var longLivedInput: LongLivedInput? { nil }

    private func persist() {
        guard outlivesTheProcess, let input = longLivedInput,
            let operations = try? StoredOperations(DeviceStore.store()),
            (try? operations.keep(input.stored(as: operationID), now: Date())) != nil,
            let journal = try? OperationJournal(operationID, operations)
        else { return }
        lock.withLock { self.journal = journal }
        longLivedOperationWasPersistedBlock?()
    }

    /// Its end was told: it does not come back.
    private func forget() {
        guard outlivesTheProcess, let operations = try? StoredOperations(DeviceStore.store()) else {
            return
        }
        try? operations.remove(operationID)
    }

    private var outlivesTheProcess: Bool {
        configuration?.chosen.isLongLived ?? group?.defaultConfiguration?.chosen.isLongLived
            ?? false
    }

    /// How the operation goes about its requests, from itself and from its group.
    var settings: RequestSettings {
        var own = configuration?.chosen ?? Configuration.Chosen()
        if own.quality == nil, qualityOfService != .default { own.quality = qualityOfService }
        let chosen = Configuration()
        chosen.chosen = own
        var settings = RequestSettings(chosen, group: group?.defaultConfiguration)
        settings.journal = lock.withLock { journal }
        return settings
    }

    /// - Throws: `CKError` `operationCancelled` once the operation has been cancelled.
    func checkCancellation() throws {
        if isCancelled { throw CKError(.operationCancelled, "the operation was cancelled") }
    }

    private func enter(_ next: Phase, _ keys: String...) -> Bool {
        let isNew = lock.withLock { phase != next && phase != .ended }
        guard isNew else { return false }
        for key in keys { willChange(key) }
        lock.withLock { phase = next }
        for key in keys { didChange(key) }
        return true
    }

    private func willChange(_ key: String) {
        #if os(Linux)
            if key == "isFinished" {
                willChangeValue(for: \.isFinished)
            } else {
                willChangeValue(for: \.isExecuting)
            }
        #else
            willChangeValue(forKey: key)
        #endif
    }

    private func didChange(_ key: String) {
        #if os(Linux)
            if key == "isFinished" {
                didChangeValue(for: \.isFinished)
            } else {
                didChangeValue(for: \.isExecuting)
            }
        #else
            didChangeValue(forKey: key)
        #endif
    }
}

/// An operation on one database.
open class CKDatabaseOperation: CKOperation, @unchecked Sendable {
    // Unchecked: as its parent.

    /// Set by `CKDatabase.add`, or by the app when it adds the operation to a queue of its own.
    public var database: CKDatabase?

    /// - Throws: `CKError` `badDatabase` when none was set.
    func requiredDatabase() throws -> CKDatabase {
        try checkCancellation()
        guard let database else { throw CKError(.badDatabase, "the operation has no database") }
        return database.with(settings)
    }
}

extension CKDatabase {
    private static let queue = OperationQueue()

    /// Starts an operation once those that it waits for have ended.
    public func add(_ operation: CKDatabaseOperation) {
        operation.database = self
        Self.queue.addOperation(operation)
    }
}
