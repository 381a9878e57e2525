import Accounts
import CloudModel
import Storage
import Synchronization

/// What a container's own settings allow in it.
///
/// A class, since every request asks for it: what it holds is large to copy.
final class ContainerLimits: Sendable {
    /// The server's limits, with the container's quotas in place of the server's.
    let service: ServiceLimits
    /// Of all databases of an environment together; 0 for none.
    let totalQuotaBytes: Int64
    fileprivate let requests: RateBudget?
    fileprivate let records: RateBudget?

    /// Nil for a container without limits of its own.
    fileprivate init?(_ settings: [String: String], _ server: ServiceLimits, burstSeconds: Int) {
        func number(_ setting: ContainerSetting) -> Int64? {
            settings[setting.rawValue].flatMap { Int64($0) }
        }
        guard ContainerSetting.limits.contains(where: { settings[$0.rawValue] != nil }) else {
            return nil
        }
        var service = server
        if let bytes = number(.userQuotaBytes) { service.userQuotaBytes = bytes }
        if let bytes = number(.publicQuotaBytes) { service.publicQuotaBytes = bytes }
        self.service = service
        totalQuotaBytes = number(.quotaBytes) ?? 0
        requests = RateBudget(
            "requestsPerSecondMax of the container",
            perSecond: Int(clamping: number(.requestsPerSecondMax) ?? 0),
            burstSeconds: burstSeconds)
        records = RateBudget(
            "recordsPerSecondMax of the container",
            perSecond: Int(clamping: number(.recordsPerSecondMax) ?? 0), burstSeconds: burstSeconds)
    }
}

/// The limits of containers, kept in memory while the catalog stays as it is, and how their rates stand.
final class ContainerBudgets: Sendable {
    /// The moments at which a container's budgets are full again.
    private struct Entry {
        var requests: UInt64 = 0
        var records: UInt64 = 0
    }

    private struct State {
        var version: Int?
        var limits: [ContainerID: ContainerLimits?] = [:]
        /// What was asked for last, for most servers have few containers.
        var last: (container: ContainerID, limits: ContainerLimits?)?
        var entries: [ContainerID: Entry] = [:]
    }

    /// More are not kept at a time.
    private static let containersMax = 10_000

    private let catalog: any CatalogStorage
    private let server: ServiceLimits
    private let burstSeconds: Int
    private let processCount: @Sendable () -> Int
    private let now: @Sendable () -> UInt64
    private let state = Mutex(State())

    /// - Parameters:
    ///   - processCount: as `RateBudgets`.
    ///   - now: a monotonic clock in nanoseconds.
    init(
        _ catalog: any CatalogStorage, _ server: ServiceLimits, burstSeconds: Int,
        processCount: @escaping @Sendable () -> Int = { 1 },
        now: @escaping @Sendable () -> UInt64
    ) {
        self.processCount = processCount
        self.catalog = catalog
        self.server = server
        self.burstSeconds = burstSeconds
        self.now = now
    }

    /// The limits of a container that is there; nil where it has none of its own.
    func limits(of container: ContainerID) throws -> ContainerLimits? {
        let version = catalog.version
        let known = state.withLock { state -> ContainerLimits?? in
            if state.version != version {
                (state.version, state.limits, state.last) = (version, [:], nil)
            }
            if let last = state.last, last.container == container { return last.limits }
            guard let known = state.limits[container] else { return nil }
            state.last = (container, known)
            return known
        }
        if let known { return known }
        let settings = try catalog.container(container)?.settings ?? [:]
        let limits = ContainerLimits(settings, server, burstSeconds: burstSeconds)
        state.withLock { state in
            // Read before the catalog changed, it may be what is true no more.
            guard state.version == version else { return }
            if state.limits.count >= Self.containersMax { state.limits = [:] }
            state.limits.updateValue(limits, forKey: container)
        }
        return limits
    }

    /// Counts a request of somebody who may use a container.
    ///
    /// - Parameters:
    ///   - writes: whether the budget of records matters to it.
    ///   - takes: false to look only.
    /// - Returns: how a budget stands that is used up, and then nothing is taken; nil for a request that may go on.
    func admit(_ container: ContainerID, writes: Bool, takes: Bool) throws -> RateStatus? {
        guard let limits = try limits(of: container),
            limits.requests != nil || limits.records != nil
        else { return nil }
        let (now, weight) = (now(), processCount())
        return state.withLock { state in
            var entry = state.entries[container] ?? Entry()
            if let budget = limits.requests, budget.isExhausted(entry.requests, now) {
                return budget.status(entry.requests, now)
            }
            if writes, let budget = limits.records, budget.isExhausted(entry.records, now) {
                return budget.status(entry.records, now)
            }
            guard takes, let budget = limits.requests else { return nil }
            entry.requests = budget.taking(weight, from: entry.requests, now)
            state.entries[container] = entry
            return nil
        }
    }

    /// Counts records that an admitted request is about to save or delete.
    func charge(_ container: ContainerID, records: Int) throws {
        guard let budget = try limits(of: container)?.records else { return }
        let (now, weight) = (now(), processCount())
        state.withLock { state in
            var entry = state.entries[container] ?? Entry()
            entry.records = budget.taking(records * weight, from: entry.records, now)
            state.entries[container] = entry
        }
    }

    /// Counts a request towards its container, once its sender is believed.
    ///
    /// - Parameter isWhole: false at the head of a request with a body: it is counted later.
    /// - Throws: `Fault` THROTTLED, and what the catalog reports.
    func count(
        _ addressed: AddressedRequest, _ found: Result<Identified, Fault>, isWhole: Bool
    ) throws {
        guard case .success = found else { return }
        let writes = addressed.route?.isWrite == true
        if let status = try admit(addressed.address.container, writes: writes, takes: isWhole) {
            throw Fault.throttled(status).because(.containerRate)
        }
    }
}
