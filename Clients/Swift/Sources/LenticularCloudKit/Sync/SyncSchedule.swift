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
    private enum Work { case fetching, sending }

    private let isOn: Bool
    private let timing: SyncTiming
    private let sleep: @Sendable (Double) async throws -> Void
    private var sending: Task<Void, Never>?
    private var fetching: Task<Void, Never>?
    private var listening: Task<Void, Never>?
    private var looking: Task<Void, Never>?
    private var failures: [Work: Failures] = [:]
    /// Whether something was added since the last run of sending began.
    private var isAsked = false
    /// Whether something was told since the last run of fetching for it began.
    private var isTold = false
    /// Whether the server, or a failure, has asked for patience with fetching.
    private var isHeldBack = false

    init(
        isOn: Bool, timing: SyncTiming, sleep: @escaping @Sendable (Double) async throws -> Void
    ) {
        self.isOn = isOn
        self.timing = timing
        self.sleep = sleep
    }

    deinit {
        for task in [sending, fetching, listening, looking] { task?.cancel() }
    }

    /// Begins to fetch, and sends what a former run has left.
    func start(_ engine: CKSyncEngine) {
        guard isOn, fetching == nil else { return }
        fetching = Task { [weak self, weak engine, sleep] in
            while let seconds = await self?.fetchByTimer(engine),
                (try? await sleep(seconds)) != nil
            {}
        }
        if engine.memory.read(\.hasWork) { send(engine) }
    }

    /// - Returns: when to fetch again; nil for an engine that is no longer there.
    private func fetchByTimer(_ engine: CKSyncEngine?) async -> Double? {
        guard let engine else { return nil }
        let retry = await attempt(.fetching) {
            try await engine.fetch(.init(reason: .scheduled, options: .init()))
        }
        isHeldBack = retry != nil
        listen(engine)
        return retry ?? timing.betweenFetches
    }

    // MARK: - Being told

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
                    await self?.lookSoon(engine)
                }
            } catch {
                // NB: The next turn of the timer tries again.
            }
            await self?.listeningEnds()
        }
    }

    private func listeningEnds() { listening = nil }

    /// Looks, once for all that is told meanwhile.
    private func lookSoon(_ engine: CKSyncEngine) {
        isTold = true
        // Who is held back fetches anyway when it is over.
        guard looking == nil, !isHeldBack else { return }
        looking = Task { [weak self, weak engine] in
            while let engine, await self?.takeSign() == true { await self?.look(engine) }
        }
    }

    private func takeSign() -> Bool {
        defer { isTold = false }
        if !isTold { looking = nil }
        return isTold
    }

    /// Looks at once, out of turn: somebody else may be signed in, or something has changed.
    func look(_ engine: CKSyncEngine) async {
        guard isOn else { return }
        await attempt(.fetching) { try await engine.fetchAnew() }
        if engine.memory.read(\.hasWork) { send(engine) }
    }

    // MARK: - Sending

    /// Sends soon, unless that is to happen already.
    func send(_ engine: CKSyncEngine) {
        isAsked = true
        guard isOn, sending == nil else { return }
        let first = pauseBeforeSending
        sending = Task { [weak self, weak engine, sleep] in
            var delay: Double? = first
            while let seconds = delay, (try? await sleep(seconds)) != nil {
                delay = await self?.sendNow(engine)
            }
        }
    }

    private var pauseBeforeSending: Double {
        failures[.sending, default: Failures()].pauseAfterRefusals(timing)
    }

    /// - Returns: when to send again; nil when there is no need.
    private func sendNow(_ engine: CKSyncEngine?) async -> Double? {
        guard let engine else { return nil }
        isAsked = false
        let retry = await attempt(.sending) {
            try await engine.send(.init(reason: .scheduled, options: .init()))
        }
        if let retry { return retry }
        // What was added while changes were being sent may have come too late for that run.
        if isAsked { return pauseBeforeSending }
        sending = nil
        return nil
    }

    // MARK: - Failures

    /// - Returns: when to try again; nil when there is no need, or no use.
    @discardableResult
    private func attempt(
        _ work: Work, _ body: @Sendable () async throws -> Void
    ) async -> Double? {
        do {
            try await body()
            failures[work] = nil
            return nil
        } catch {
            return failures[work, default: Failures()].note(CKError(error), timing)
        }
    }

    /// What has failed in a row.
    private struct Failures {
        /// What passes by itself.
        private var passing = 0
        /// What the app makes good, and adds again.
        private var refusals = 0

        /// - Returns: when to try again; nil where that is of no use.
        mutating func note(_ error: CKError, _ timing: SyncTiming) -> Double? {
            let all =
                error.code == .partialFailure
                ? (error.partialErrorsByItemID ?? [:]).values.compactMap { $0 as? CKError }
                : [error]
            let causes = all.filter { $0.code != .accountTemporarilyUnavailable }
            // Nothing passes by itself on a locked device, and nothing is amiss with what is not encrypted.
            guard !causes.isEmpty else {
                self = Failures()
                return nil
            }
            let passing = causes.filter(\.isRetried)
            guard !passing.isEmpty else {
                refusals += 1
                return nil
            }
            let growing = Self.growing(timing.afterFailure, self.passing, timing)
            self.passing += 1
            let asked = passing.compactMap(\.retryAfterSeconds).max() ?? growing
            // Devices that failed together are not to come back together.
            return asked * Double.random(in: 1...1.25)
        }

        /// The first answer to a refusal goes at once; an app that adds what is refused each time is slowed down.
        func pauseAfterRefusals(_ timing: SyncTiming) -> Double {
            Self.growing(timing.beforeSending, max(0, refusals - 1), timing)
        }

        private static func growing(_ first: Double, _ count: Int, _ timing: SyncTiming) -> Double {
            min(timing.afterFailureMax, first * pow(2, Double(min(count, 16))))
        }
    }
}
