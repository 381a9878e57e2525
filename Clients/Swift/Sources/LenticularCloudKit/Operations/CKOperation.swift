import Foundation

/// A request with callbacks, which can wait for others in a queue.
///
/// Callbacks come one after the other, never on the main thread; those of items before the one of the whole.
open class CKOperation: Operation, @unchecked Sendable {
    // Unchecked: settings are set before the operation is started, as natively; the rest is behind the lock.

    /// What an operation is known by.
    public typealias ID = String

    /// How an operation goes about its requests.
    public final class Configuration: NSObject, NSCopying, @unchecked Sendable {
        // Unchecked: as the operation's settings.
        /// The container; set by `CKContainer.add`.
        public var container: CKContainer?
        /// How urgent it is.
        public var qualityOfService = QualityOfService.default
        /// Whether it may use a network that costs.
        public var allowsCellularAccess = true
        /// Whether it is to outlive the process.
        public var isLongLived = false
        /// How long to wait for an answer to begin.
        public var timeoutIntervalForRequest: TimeInterval = 60
        /// How long all of it may take.
        public var timeoutIntervalForResource: TimeInterval = 604_800

        /// Itself: it does not change.
        public func copy(with zone: NSZone? = nil) -> Any {
            let copy = Configuration()
            copy.container = container
            copy.qualityOfService = qualityOfService
            copy.allowsCellularAccess = allowsCellularAccess
            copy.isLongLived = isLongLived
            copy.timeoutIntervalForRequest = timeoutIntervalForRequest
            copy.timeoutIntervalForResource = timeoutIntervalForResource
            return copy
        }
    }

    /// What the operation is known by.
    public let operationID: ID = UUID().uuidString
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// How it goes about its requests.
    public var configuration: Configuration! = Configuration()
    /// What it belongs to.
    public var group: CKOperationGroup?

    private enum Phase { case waiting, running, ended }
    private let lock = NSLock()
    private var phase = Phase.waiting
    private var task: Task<Void, Never>?

    public override final var isAsynchronous: Bool { true }

    public override final var isExecuting: Bool { lock.withLock { phase == .running } }

    public override final var isFinished: Bool { lock.withLock { phase == .ended } }

    public override final func start() {
        guard enter(.running, "isExecuting") else { return }
        let task = Task {
            await self.run()
            _ = self.enter(.ended, "isExecuting", "isFinished")
        }
        lock.withLock { self.task = task }
        if isCancelled { task.cancel() }
    }

    public override final func cancel() {
        super.cancel()
        lock.withLock { task }?.cancel()
    }

    /// Sends the requests and makes the callbacks.
    func run() async {}

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

/// Operations that belong together, and what they have in common.
public final class CKOperationGroup: NSObject, @unchecked Sendable {
    // Unchecked: set before its operations are started.
    /// What the group is known by.
    public let operationGroupID = UUID().uuidString
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// What its operations have in common.
    public var defaultConfiguration: CKOperation.Configuration! = CKOperation.Configuration()
    /// What the group is for, in the app's words.
    public var name: String?
    /// About how many bytes it is to move.
    public var quantity = 0
}

/// An operation on one database.
open class CKDatabaseOperation: CKOperation, @unchecked Sendable {
    // Unchecked: as its parent.

    /// Set by `CKDatabase.add`, or by whoever adds the operation to a queue of their own.
    public var database: CKDatabase?

    /// - Throws: `CKError` `badDatabase` when none was set.
    func requiredDatabase() throws -> CKDatabase {
        try checkCancellation()
        guard let database else { throw CKError(.badDatabase, "the operation has no database") }
        return database
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
