import Accounts
import CloudDatabase
import CloudModel
import Cryptography
import Dispatch
import Fairness
import HTTP
import Storage
import Synchronization

/// Answers CloudKit Web Services: turns each HTTP request into a use case, and the outcome into bytes.
package final class ProtocolResponder: Responder {
    /// What the protocol needs of the rest of the server.
    package struct Dependencies: Sendable {
        package var limits: ServiceLimits
        package var rates = RateLimits()
        /// How many processes share the rates.
        package var processCount: @Sendable () -> Int = { 1 }
        /// A monotonic clock in nanoseconds.
        package var uptime: @Sendable () -> UInt64 = { DispatchTime.now().uptimeNanoseconds }
        package var clock: Clock
        package var random: RandomSource
        package var authenticator: Authenticator
        package var catalog: any CatalogStorage
        package var stores: any StoreAccess
        package var assets: AssetOptions
        /// Where clients reach the courier, without a slash at the end; nil for where they reach assets.
        package var courierBaseURL: String?
        /// The kinds of destinations that something carries notices to; others cannot be registered.
        package var destinationKinds = Set(DestinationKind.allCases)
        package var observer: any RequestObserver
        /// Threads for what is too long for an event loop, and what may wait for them.
        package var workers: WorkOptions
        /// The event loops that requests come from.
        package var loopCount: Int

        package init(
            limits: ServiceLimits, clock: Clock, random: RandomSource,
            authenticator: Authenticator, catalog: any CatalogStorage,
            stores: any StoreAccess, assets: AssetOptions, observer: any RequestObserver,
            workers: WorkOptions,
            loopCount: Int
        ) {
            self.limits = limits
            self.clock = clock
            self.random = random
            self.authenticator = authenticator
            self.catalog = catalog
            self.stores = stores
            self.assets = assets
            self.observer = observer
            self.workers = workers
            self.loopCount = loopCount
        }
    }

    let dependencies: Dependencies
    var stores: any StoreAccess { dependencies.stores }
    let addresses: RecentAddresses
    private let assets: AssetResponder
    let rates: RateBudgets
    let containers: ContainerBudgets
    /// Addresses that users look up.
    let discoveries: DailyBudgets
    let people: KnownPeople
    let workers: Workers
    /// Of each event loop, by its number.
    let turns: [LoopTurns<Principal>]
    let habits = DecisionHabits()
    /// Requests that wait until there is something to tell.
    let held: HeldAnswers
    let shared: SharedAnswers
    private let courier: CourierResponder

    package init(_ dependencies: Dependencies) {
        self.dependencies = dependencies
        people = KnownPeople(catalog: dependencies.catalog)
        assets = AssetResponder(dependencies)
        rates = RateBudgets(
            dependencies.rates, processCount: dependencies.processCount, now: dependencies.uptime)
        containers = ContainerBudgets(
            dependencies.catalog, dependencies.limits,
            burstSeconds: dependencies.rates.burstSeconds,
            processCount: dependencies.processCount, now: dependencies.uptime)
        discoveries = DailyBudgets(processCount: dependencies.processCount)
        addresses = RecentAddresses(loopCount: dependencies.loopCount)
        workers = Workers(name: "web", dependencies.workers)
        turns = (0..<dependencies.loopCount).map { _ in LoopTurns(now: dependencies.uptime) }
        let limits = dependencies.limits
        held = HeldAnswers(
            countMax: limits.heldPollsMax, perCallerMax: limits.heldPollsPerUserMax)
        shared = SharedAnswers(now: dependencies.uptime)
        courier = CourierResponder(dependencies, held: held, workers: workers, rates: rates)
    }

    /// How many signatures have been verified, for metrics.
    package var verificationCount: Int { dependencies.authenticator.verificationCount }

    /// How the workers are faring, for metrics.
    package var poolCounts: PoolCounts { workers.counts }

    /// Leaves nothing of resumable uploads that nobody goes on with, and notes last uses.
    ///
    /// To be called now and then. Blocks.
    package func doWhatIsDue() {
        assets.removeExpiredUploads()
        noteLastUses()
    }

    /// Writes down which tokens and keys were used since the last time.
    ///
    /// Blocks.
    package func noteLastUses() { dependencies.authenticator.noteLastUses() }

    /// How many requests wait until there is something to tell, for metrics.
    package var heldCount: Int { held.count }

    /// How many of those that waited got an answer that was made for another of their caller's, for metrics.
    package var sharedCount: Int { shared.count }

    /// Answers all that waits until there is something to tell, and lets nothing wait from now on; before a
    /// drain.
    package func endWaits() {
        held.close()
        courier.endStreams()
    }

    /// What the courier has come to, for metrics.
    package var courierCounts: CourierCounts { courier.counts }

    /// What uploads and downloads have come to, for metrics.
    package var assetCounts: AssetCounts { assets.counters.counts }

    package func streamsBody(of target: [UInt8]) -> Bool { AssetAddress.isBelow(target) }

    package func receive(
        _ request: HTTPRequest, stream: BodyStream, reply: HTTPReply
    ) -> (any BodySink)? {
        assets.receive(
            Exchange(request, reply, observer: dependencies.observer), stream: stream)
    }

    package func respond(to request: HTTPRequest, reply: HTTPReply) {
        let exchange = Exchange(request, reply, observer: dependencies.observer)
        if AssetAddress.isBelow(request.target) { return assets.respond(exchange) }
        if CourierAddress.isBelow(request.target) { return courier.respond(exchange) }
        guard request.headers["x-apple-cloudkit-request-keyid"] != nil else {
            return begin(exchange, at: .loop(request.loop))
        }
        let sender = Principal.address(request.client)
        // Nobody knows the sender of a signed body before the whole body is hashed.
        guard request.body.count <= RequestContext.loopBodyBytesMax else {
            exchange.stopWhenAbandoned()
            return submit(exchange, of: sender, isAdmitted: false, on: .short) {
                self.begin(exchange, at: .worker(.short))
            }
        }
        inTurn(exchange, of: sender) { self.begin(exchange, at: .loop(request.loop)) }
    }

    package func runLong(
        for request: HTTPRequest, _ work: @escaping @Sendable () -> Void
    ) {
        // NB: what the budget of bodies has admitted is not refused.
        try? workers.submit(.short, for: .address(request.client), isAdmitted: true, work)
    }

    /// What callers' budgets have let pass and held back, for metrics.
    package var rateCounts: [CallerKind: RateBudgets.Counts] { rates.counts }
}
