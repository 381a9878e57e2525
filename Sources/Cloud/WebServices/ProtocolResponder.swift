import Accounts
import AssetStorage
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
    private var stores: any StoreAccess { dependencies.stores }
    private let addresses: RecentAddresses
    private let assets: AssetResponder
    let rates: RateBudgets
    /// Addresses that users look up.
    let discoveries = DailyBudgets()
    let people: KnownPeople
    private let workers: Workers
    /// Of each event loop, by its number.
    private let turns: [LoopTurns<Principal>]
    private let habits = DecisionHabits()
    /// Requests that wait until there is something to tell.
    private let held: HeldAnswers
    private let shared: SharedAnswers
    private let courier: CourierResponder

    package init(_ dependencies: Dependencies) {
        self.dependencies = dependencies
        people = KnownPeople(catalog: dependencies.catalog)
        assets = AssetResponder(dependencies)
        rates = RateBudgets(dependencies.rates, now: dependencies.uptime)
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
        if AssetAddress.isBelow(request.target) {
            return assets.respond(Exchange(request, reply, observer: dependencies.observer))
        }
        if CourierAddress.isBelow(request.target) {
            return courier.respond(Exchange(request, reply, observer: dependencies.observer))
        }
        let exchange = Exchange(request, reply, observer: dependencies.observer)
        guard request.headers["x-apple-cloudkit-request-keyid"] != nil else {
            return answer(exchange, at: .loop(request.loop))
        }
        // Until a signed body has been hashed as a whole, nobody knows whom it is from.
        guard request.body.count <= RequestContext.loopBodyBytesMax else {
            exchange.stopWhenAbandoned()
            return goOn(exchange, on: .short)
        }
        inTurn(exchange, on: request.loop) { self.answer(exchange, at: .loop(request.loop)) }
    }

    /// Does work for a request on its event loop, when its caller's turn has come.
    private func inTurn(
        _ exchange: Exchange, on loop: Int, _ work: @escaping @Sendable () -> Void
    ) {
        guard turns.indices.contains(loop) else { return work() }
        turns[loop].serve(
            exchange.principal, stop: exchange.stop, later: { exchange.wake($0) }, work)
    }

    /// Answers on a worker, in the turn of whoever asks.
    private func goOn(_ exchange: Exchange, on lane: Workers.Lane) {
        let isAdmitted = exchange.isAdmitted
        exchange.isAdmitted = true
        do {
            try workers.submit(
                lane, for: exchange.principal, isAdmitted: isAdmitted, stop: exchange.stop
            ) { self.answer(exchange, at: .worker(lane)) }
        } catch {
            exchange.fail(error)
        }
    }

    package func runLong(
        for request: HTTPRequest, _ work: @escaping @Sendable () -> Void
    ) {
        // NB: what the budget of bodies has admitted is not refused.
        try? workers.submit(.short, for: .address(request.client), isAdmitted: true, work)
    }

    /// What callers' budgets have let pass and held back, for metrics.
    package var rateCounts: [CallerKind: RateBudgets.Counts] { rates.counts }

    /// Takes a request from its path to its endpoint.
    private func answer(_ exchange: Exchange, at place: Place) {
        let request = exchange.request
        guard let (address, found) = find(exchange, loop: place.loop) else { return }
        do {
            // Also before an endpoint is missed: a page sees only answers that allow its origin.
            let identified = try identify(exchange, address, found)
            guard let route = found else {
                throw Self.noEndpoint
            }
            try admit(identified, to: route, exchange, at: address)
            try renewWebToken(of: identified, exchange, at: place)
            guard let loop = place.loop else {
                return run(route, exchange, address, identified, at: place)
            }
            guard route.isShort, request.body.count <= RequestContext.loopBodyBytesMax
            else { throw NeedsWorker() }
            inTurn(exchange, on: loop) {
                self.run(route, exchange, address, identified, at: place)
            }
        } catch {
            settle(exchange, error, at: place)
        }
    }

    /// Runs the endpoint of a request whose caller is known.
    private func run(
        _ route: Route, _ exchange: Exchange, _ address: RequestAddress,
        _ identified: Identified, at place: Place
    ) {
        do {
            guard let store = stores.known(address.container, address.environment) else {
                return open(address, for: exchange, at: place)
            }
            guard place.loop == nil || store.storage.readsAtOnce else { throw NeedsWorker() }
            try exchange.countBody(to: identified)
            let context = RequestContext(
                exchange, of: self, address: address, identified: identified,
                // Nothing is long on a loop.
                store: place.loop == nil ? store.stopping(exchange.stop) : store, place: place)
            try runOrHold(route, context, exchange)
        } catch {
            settle(exchange, error, at: place)
        }
    }

    /// Threads on which a request goes on, from whatever thread it is on.
    func longWork(of exchange: Exchange) -> LongWork {
        LongWork(stop: exchange.stop, habits: habits) { body in
            exchange.wake {
                exchange.stopWhenAbandoned()
                exchange.stop.goOn()
                // NB: what was admitted before is not refused.
                try? self.workers.submit(
                    .long, for: exchange.principal, isAdmitted: true, stop: exchange.stop, body)
            }
        }
    }

    /// Answers what went wrong, unless it only says where or when the request is to be answered.
    private func settle(_ exchange: Exchange, _ error: any Error, at place: Place) {
        if place.loop != nil { exchange.stopWhenAbandoned() }
        switch error {
        case is NeedsWorker: goOn(exchange, on: .short)
        case is WaitsForCommit: goOn(exchange, on: .commits)
        case let stopped as WorkStopped:
            // The work was abandoned: nobody gets its answer.
            guard stopped.reason == .makesRoom else { return }
            exchange.stop.goOn()
            goOn(exchange, on: .long)
        default: exchange.fail(error)
        }
    }

    /// Opens the store that a request is about, and goes on with it then.
    private func open(_ address: RequestAddress, for exchange: Exchange, at place: Place) {
        if place.loop != nil { exchange.stopWhenAbandoned() }
        stores.open(address.container, address.environment) { result in
            switch result {
            case .success: self.goOn(exchange, on: .short)
            case .failure(let error): exchange.fail(error)
            }
        }
    }

    /// Makes a new web token when half of the present one's life is over.
    ///
    /// - Throws: `WaitsForCommit` where that would hold others up, and `NeedsWorker` afterwards.
    private func renewWebToken(
        of identified: Identified, _ exchange: Exchange, at place: Place
    ) throws {
        guard identified.isRenewalDue, !exchange.isRenewalOver else { return }
        guard place.mayWaitForCommits else { throw WaitsForCommit() }
        exchange.isRenewalOver = true
        exchange.renewedWebToken = dependencies.authenticator.renewedWebToken(
            identified, now: dependencies.clock.now())
        throw NeedsWorker()
    }

    /// Runs an endpoint; an answer that comes too early waits for a commit, and is made anew.
    private func runOrHold(
        _ route: Route, _ context: RequestContext, _ exchange: Exchange
    ) throws {
        let notices = context.store.storage.notices
        let mark = notices.mark
        do {
            switch route.work {
            case .read(let answer): exchange.succeed(try answer(context))
            case .follow(let answer): try follow(context, since: mark, answer)
            case .write(let run): try run(context) { self.conclude(exchange, of: route, $0) }
            }
        } catch let early as HeldAnswer {
            if context.loop != nil { exchange.stopWhenAbandoned() }
            held.hold(exchange, early, notices, since: mark) { self.resume($0) }
        }
    }

    /// Makes an answer anew that came too early.
    private func resume(_ exchange: Exchange) {
        let loop = exchange.request.loop
        guard !exchange.resumeOnLoop({ self.answer(exchange, at: .loop(loop)) }) else { return }
        goOn(exchange, on: .short)
    }

    /// Answers with a page of a feed.
    private func follow(
        _ context: RequestContext, since mark: CommitNotices.Mark,
        _ answer: (RequestContext) throws -> [UInt8]
    ) throws {
        // Only who has waited is one of many whom the same commit wakes.
        guard context.exchange.held != nil else {
            return context.exchange.succeed(try answer(context))
        }
        let question = Question(context)
        if let known = shared.answer(to: question, since: mark) {
            return context.exchange.succeed(known)
        }
        let body = try answer(context)
        shared.keep(body, for: question, since: mark)
        context.exchange.succeed(body)
    }

    /// Answers a write that has ended.
    ///
    /// The writer calls this, and all others wait for the writer. So it only wakes those who make the answer
    /// and the line in the log.
    private func conclude(
        _ exchange: Exchange, of route: Route, _ result: Result<WrittenAnswer, any Error>
    ) {
        exchange.wake {
            do {
                let answer = try result.get()
                guard route.isShort else { throw NeedsWorker() }
                exchange.succeed(try answer(exchange.request.loop))
            } catch is NeedsWorker {
                // NB: what was admitted before is not refused.
                try? self.workers.submit(.short, for: exchange.principal, isAdmitted: true) {
                    do { exchange.succeed(try result.get()(nil)) } catch { exchange.fail(error) }
                }
            } catch {
                exchange.fail(error)
            }
        }
    }

    /// Reads what a request asks for; nil when the request has been answered already.
    ///
    /// That is so for a preflight, for an address that does not exist, and for a method that is not accepted.
    ///
    /// - Parameter loop: the event loop whose thread this is; nil on any other thread.
    /// - Returns: the address, and its endpoint if it has one.
    func find(_ exchange: Exchange, loop: Int?) -> (RequestAddress, Route?)? {
        let request = exchange.request
        if request.method == .options {
            exchange.sendPreflight()
            return nil
        }
        guard let address = addresses.address(of: exchange.query, loop: loop) else {
            exchange.fail(Self.noEndpoint)
            return nil
        }
        exchange.address = address
        let route = RouteTable.routes[address.operation]
        exchange.operation = route?.operation
        if let route, !route.methods.contains(request.method) {
            exchange.allowedOrigin = identification(of: exchange, at: address).allowedOrigin
            exchange.refuseMethod(route.methods)
            return nil
        }
        return (address, route)
    }

    static let noEndpoint = Fault(.notFound, "could not find a handler for this endpoint")

    /// Who sent a request; found once, however often its answer is made anew.
    ///
    /// Only a change of credentials in the meantime makes it look again.
    private func identification(
        of exchange: Exchange, at address: RequestAddress
    ) -> Identification {
        let changeCount = dependencies.authenticator.changeCount
        if let known = exchange.identification, known.changeCount == changeCount {
            return known.found
        }
        let found = dependencies.authenticator.identify(
            Credentials(exchange.request, exchange.query), container: address.container,
            environment: address.environment, now: dependencies.clock.now())
        exchange.identification = (found, changeCount)
        return found
    }

    /// - Parameter isWhole: false while the request's body is still to come.
    func identify(
        _ exchange: Exchange, _ address: RequestAddress, _ route: Route?, isWhole: Bool = true
    ) throws -> Identified {
        let found = identification(of: exchange, at: address)
        exchange.allowedOrigin = found.allowedOrigin
        exchange.refusal = found.refusal
        try rates.count(exchange, found.result, to: route, isWhole: isWhole)
        let identified = try found.result.get()
        exchange.webToken = exchange.renewedWebToken ?? identified.webToken
        exchange.caller = identified.caller
        exchange.principal = Principal(identified, at: exchange.request.client)
        return identified
    }

    /// Refuses callers of a kind that the endpoint does not serve (rulings.md 6 and 8).
    func admit(
        _ identified: Identified, to route: Route, _ exchange: Exchange, at address: RequestAddress
    ) throws(Fault) {
        let isServed =
            switch identified.caller.kind {
            case _ where route.audience == .containerKeys:
                identified.caller.kind == .serverKey && identified.caller.passesRoles
            case .user: true
            case .world: route.audience == .world && address.database == .public
            case .serverKey:
                route.audience == .anyIdentity
                    || route.audience != .persons && address.database == .public
            }
        guard isServed else {
            exchange.refusal = .callerOfWrongKind
            throw dependencies.authenticator.wrongKind(
                identified, isForPeople: route.audience != .containerKeys,
                origin: exchange.request.headers["origin"],
                now: dependencies.clock.now())
        }
    }
}
