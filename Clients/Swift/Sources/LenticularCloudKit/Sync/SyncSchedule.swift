import Foundation

/// How long the engine waits before it does something by itself, in seconds.
struct SyncTiming: Sendable {
    /// After a change was added: more may come with it.
    var beforeSending = 0.3
    /// Between looking for changes of others.
    var betweenFetches = 30.0
    /// After a failure that passes, when the server has not said how long; doubled each time.
    var afterFailure = 2.0
    var afterFailureMax = 300.0
}

/// Sends and fetches by itself, when the engine is to.
actor SyncSchedule {
    private let isOn: Bool
    private let timing: SyncTiming
    private let sleep: @Sendable (Double) async throws -> Void
    private var sending: Task<Void, Never>?
    private var fetching: Task<Void, Never>?
    private var listening: Task<Void, Never>?
    private var failures = 0
    /// Whether something was added since the last run of sending began.
    private var isAsked = false

    init(
        isOn: Bool, timing: SyncTiming, sleep: @escaping @Sendable (Double) async throws -> Void
    ) {
        self.isOn = isOn
        self.timing = timing
        self.sleep = sleep
    }

    deinit {
        sending?.cancel()
        fetching?.cancel()
        listening?.cancel()
    }

    /// Begins to fetch, and sends what a former run has left.
    func start(_ engine: CKSyncEngine) {
        guard isOn, fetching == nil else { return }
        fetching = Task { [weak self, weak engine, timing, sleep] in
            while !Task.isCancelled {
                guard let engine else { return }
                await self?.attempt {
                    try await engine.fetch(.init(reason: .scheduled, options: .init()))
                }
                await self?.listen(engine)
                if (try? await sleep(timing.betweenFetches)) == nil { return }
            }
        }
        if engine.memory.read({ !$0.records.changes.isEmpty || !$0.database.changes.isEmpty }) {
            send(engine)
        }
    }

    /// Fetches whenever the server tells of a change, until it has no more to say.
    private func listen(_ engine: CKSyncEngine) {
        guard listening == nil, engine.memory.read({ $0.subscription != nil }) else { return }
        let signs = engine.server.signs()
        listening = Task { [weak self, weak engine] in
            do {
                for try await sign in signs {
                    guard let engine else { return }
                    if case .told(let notification) = sign,
                        notification.subscriptionID != engine.memory.read(\.subscription)
                    {
                        continue
                    }
                    await self?.look(engine)
                }
            } catch {
                // NB: The next turn of the timer tries again.
            }
            await self?.listeningEnds()
        }
    }

    private func listeningEnds() { listening = nil }

    /// Looks at once, out of turn: somebody else may be signed in, or something has changed.
    func look(_ engine: CKSyncEngine) async {
        guard isOn else { return }
        await attempt { try await engine.fetch(.init(reason: .scheduled, options: .init())) }
        if engine.memory.read({ !$0.records.changes.isEmpty || !$0.database.changes.isEmpty }) {
            send(engine)
        }
    }

    /// Sends soon, unless that is to happen already.
    func send(_ engine: CKSyncEngine) {
        isAsked = true
        guard isOn, sending == nil else { return }
        sending = Task { [weak self, weak engine, timing, sleep] in
            var delay: Double? = timing.beforeSending
            while let seconds = delay, (try? await sleep(seconds)) != nil, let engine {
                await self?.sendingBegins()
                let again = await self?.attempt {
                    try await engine.send(.init(reason: .scheduled, options: .init()))
                }
                delay = await self?.nextDelay(again ?? nil)
            }
            await self?.sendingEnds()
        }
    }

    private func sendingBegins() { isAsked = false }

    /// What was added while changes were being sent may have come too late for that run.
    private func nextDelay(_ retry: Double?) -> Double? {
        if let retry { return retry }
        if isAsked { return timing.beforeSending }
        sending = nil
        return nil
    }

    private func sendingEnds() { sending = nil }

    /// - Returns: when to try again; nil when there is no need, or no use.
    @discardableResult
    private func attempt(_ body: @Sendable () async throws -> Void) async -> Double? {
        do {
            try await body()
            failures = 0
            return nil
        } catch {
            let error = CKError(error)
            guard let seconds = retryDelay(error) else {
                failures = 0
                return nil
            }
            failures += 1
            return seconds
        }
    }

    private func retryDelay(_ error: CKError) -> Double? {
        let causes =
            error.code == .partialFailure
            ? (error.partialErrorsByItemID ?? [:]).values.compactMap { $0 as? CKError } : [error]
        let passing = causes.filter(\.isRetried)
        guard !passing.isEmpty else { return nil }
        let growing = min(
            timing.afterFailureMax, timing.afterFailure * pow(2, Double(min(failures, 16))))
        let asked = passing.compactMap(\.retryAfterSeconds).max() ?? growing
        // Devices that failed together are not to come back together.
        return asked * Double.random(in: 1...1.25)
    }
}
