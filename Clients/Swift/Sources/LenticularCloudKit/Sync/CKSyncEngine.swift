import CloudKitTransport
import CloudKitWire
import Foundation

/// What an app does for its sync engine: takes events, and hands over the records to send.
///
/// Calls come one after the other. Within one, `fetchChanges`, `sendChanges` and `cancelOperations` are refused:
/// they would wait for the very call that they are made in.
public protocol CKSyncEngineDelegate: AnyObject, Sendable {
    /// Takes an event; the next comes once this one is dealt with.
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async

    /// The next changes to send; nil when there are none.
    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch?

    /// Which changes to fetch next; asked before the records of zones are fetched.
    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions
}

extension CKSyncEngineDelegate {
    /// What was asked for: apps that do not care need not say anything.
    public func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        context.options
    }
}

/// Keeps an app's records and a database the same.
///
/// The app adds what it has changed to `state`, and hands over records when they are sent; the engine fetches
/// what others have changed, and tells everything by events. Nothing that was added is lost: it is in the state
/// until the server has answered.
public final class CKSyncEngine: Sendable {
    /// What an engine is made of.
    public struct Configuration: Sendable {
        /// The database to keep in step with.
        public var database: CKDatabase
        /// The last state that the app was given; nil on the first run.
        public var stateSerialization: State.Serialization?
        /// Who takes the events; not kept alive.
        public weak var delegate: (any CKSyncEngineDelegate)?
        /// Whether the engine sends and fetches by itself; otherwise it makes no request unasked.
        public var automaticallySync = true
        /// The subscription that the engine is to use, made when there is none of this name.
        ///
        /// Nil for any to the whole database. An engine that works by itself fetches as soon as it is told of a
        /// change.
        public var subscriptionID: CKSubscription.ID?

        /// Takes what every engine needs.
        public init(
            database: CKDatabase, stateSerialization: State.Serialization?,
            delegate: any CKSyncEngineDelegate
        ) {
            self.database = database
            self.stateSerialization = stateSerialization
            self.delegate = delegate
        }
    }

    /// The database that the engine keeps in step with.
    public let database: CKDatabase
    /// What waits to be sent.
    public let state: State
    let memory: EngineMemory
    /// The subscription that the app wants to be used.
    let subscriptionID: CKSubscription.ID?
    let server: any SyncServer
    private let delegate: WeakDelegate
    private let operations = OneAtATime()
    private let deliveries = OneAtATime()
    private let running = RunningTasks()
    let schedule: SyncSchedule

    /// Makes an engine, which begins at once when it is to work by itself.
    public convenience init(_ configuration: Configuration) {
        self.init(configuration) { try await Task.sleep(nanoseconds: UInt64($0 * 1e9)) }
    }

    /// - Parameter sleep: waits so many seconds; in tests as the test wants it.
    package convenience init(
        _ configuration: Configuration, sleep: @escaping @Sendable (Double) async throws -> Void
    ) {
        self.init(
            configuration, server: configuration.database,
            schedule: SyncSchedule(
                isOn: configuration.automaticallySync, timing: SyncTiming(), sleep: sleep))
    }

    init(_ configuration: Configuration, server: any SyncServer, schedule: SyncSchedule) {
        database = configuration.database
        subscriptionID = configuration.subscriptionID
        self.server = server
        self.schedule = schedule
        delegate = WeakDelegate(configuration.delegate)
        memory = EngineMemory(
            configuration.stateSerialization?.state.contents ?? EngineMemory.Contents())
        state = State(memory)
        memory.observe { [weak self] in
            guard let self else { return }
            Task { await self.tellState() }
            Task { await self.schedule.send(self) }
        }
        Task { await schedule.start(self) }
        account.observe(database.access.connection) { [weak self] in
            guard let self else { return }
            // The device may have been unlocked.
            memory.settle { $0.locked = [] }
            await schedule.look(self)
        }
    }

    private let account = AccountWatch()

    /// Fetches what others have changed; returns once the delegate has dealt with all of it.
    ///
    /// A call during another one joins that one when it fetches all that this one would. Without an account nothing is fetched.
    ///
    /// - Throws: `CKError`; `invalidArguments` from within a call of the delegate.
    public func fetchChanges(_ options: FetchChangesOptions = FetchChangesOptions()) async throws {
        try await fetch(FetchChangesContext(reason: .manual, options: options))
    }

    /// Sends what is waiting; returns once the delegate has dealt with the answers.
    ///
    /// - Throws: `CKError`, `partialFailure` when some of it was refused; `invalidArguments` from within a
    ///   call of the delegate.
    public func sendChanges(_ options: SendChangesOptions = SendChangesOptions()) async throws {
        try await send(SendChangesContext(reason: .manual, options: options))
    }

    /// Ends what is under way; changes that were being sent wait again.
    public func cancelOperations() async {
        // From within a call of the delegate the end cannot be waited for.
        await running.cancel(waits: !Self.isInDelegate)
    }

    func fetch(_ context: FetchChangesContext) async throws {
        try refuseWithinDelegate("fetchChanges")
        try await running.join(.fetch(context.options.scope)) {
            try await self.operations.run { try await SyncFetch(self, context).run() }
        }
    }

    /// Fetches by a run that begins now: one under way may have passed what has just changed.
    func fetchAnew() async throws {
        let context = FetchChangesContext(reason: .scheduled, options: FetchChangesOptions())
        try await running.start(.fetch(.all)) {
            try await self.operations.run { try await SyncFetch(self, context).run() }
        }
    }

    func send(_ context: SendChangesContext) async throws {
        try refuseWithinDelegate("sendChanges")
        try await running.start(.send) {
            try await self.operations.run { try await SyncSend(self, context).run() }
        }
    }

    // MARK: - The delegate

    @TaskLocal private static var delegateCall: DelegateCall?

    private static var isInDelegate: Bool { delegateCall?.isMadeByThisTask ?? false }

    private func refuseWithinDelegate(_ name: String) throws {
        guard Self.isInDelegate else { return }
        throw CKError(
            .invalidArguments,
            "\(name) within a call of the delegate would wait for itself; start a Task that the "
                + "call does not wait for")
    }

    /// Tells the delegate, and waits until it has dealt with it.
    func deliver(_ event: Event) async {
        await ask { delegate in await delegate.handleEvent(event, syncEngine: self) }
    }

    /// Tells the state as it is now, after everything that was told before.
    func tellState() async {
        await ask { delegate in
            let update = Event.StateUpdate(stateSerialization: self.memory.serialization)
            await delegate.handleEvent(.stateUpdate(update), syncEngine: self)
        }
    }

    func nextBatch(_ context: SendChangesContext) async -> RecordZoneChangeBatch? {
        await ask { delegate in
            await delegate.nextRecordZoneChangeBatch(context, syncEngine: self)
        } ?? nil
    }

    func nextOptions(_ context: FetchChangesContext) async -> FetchChangesOptions {
        await ask { delegate in
            await delegate.nextFetchChangesOptions(context, syncEngine: self)
        } ?? context.options
    }

    @discardableResult
    private func ask<Answer: Sendable>(
        _ question: @Sendable (any CKSyncEngineDelegate) async -> Answer
    ) async -> Answer? {
        guard let delegate = delegate.value else { return nil }
        return await deliveries.run {
            let call = DelegateCall()
            defer { call.end() }
            return await Self.$delegateCall.withValue(call) { await question(delegate) }
        }
    }
}

/// Waits for `CKAccountChanged` of one container while the engine lives.
private final class AccountWatch: Sendable {
    private let token = Locked<(any NSObjectProtocol)?>(nil)

    func observe(_ connection: ServiceConnection, _ body: @escaping @Sendable () async -> Void) {
        let observer = NotificationCenter.default.addObserver(
            forName: .CKAccountChanged, object: nil, queue: nil
        ) { notification in
            guard (notification.object as? CKContainer)?.connection === connection else { return }
            Task { await body() }
        }
        token.withLock { $0 = observer }
    }

    deinit {
        token.withLock { token in
            if let token { NotificationCenter.default.removeObserver(token) }
        }
    }
}

/// A call of the delegate while it lasts, and the task that makes it.
///
/// Tasks that the delegate starts inherit the call, but are free to wait for the engine: they are others.
private final class DelegateCall: Sendable {
    private let task = Locked(withUnsafeCurrentTask { $0?.hashValue })

    var isMadeByThisTask: Bool {
        guard let task = task.withLock({ $0 }) else { return false }
        return withUnsafeCurrentTask { $0?.hashValue } == task
    }

    func end() { task.withLock { $0 = nil } }
}

/// The delegate, which the engine does not keep alive.
private final class WeakDelegate: Sendable {
    private struct Contents {
        weak var delegate: (any CKSyncEngineDelegate)?
    }

    private let contents: Locked<Contents>

    init(_ delegate: (any CKSyncEngineDelegate)?) {
        contents = Locked(Contents(delegate: delegate))
    }

    var value: (any CKSyncEngineDelegate)? { contents.withLock { $0.delegate } }
}

extension CKSyncEngine: CustomStringConvertible {
    /// Which database it keeps in step with.
    public var description: String { "<CKSyncEngine of \(database.databaseScope.path)>" }
}
