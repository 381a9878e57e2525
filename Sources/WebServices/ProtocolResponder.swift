import Accounts
import AssetStorage
import CloudModel
import Cryptography
import Dispatch
import HTTP
import Storage
import Synchronization

/// Answers CloudKit Web Services: one HTTP request becomes one use case, its outcome becomes bytes.
package final class ProtocolResponder: Responder {
    /// What the protocol needs of the rest of the server.
    package struct Dependencies: Sendable {
        package var limits: ServiceLimits
        package var clock: Clock
        package var random: RandomSource
        package var authenticator: Authenticator
        package var catalog: any CatalogStorage
        /// The store of a container environment that exists.
        package var store: @Sendable (ContainerID, Environment) throws -> any Storage
        /// Where the assets of a container environment are.
        package var assetDepot: @Sendable (ContainerID, Environment) throws -> AssetDepot
        package var assets: AssetOptions
        package var observer: any RequestObserver
        /// Threads for what is too long for an event loop.
        package var workerCount: Int
        /// The event loops that requests come from.
        package var loopCount: Int

        package init(
            limits: ServiceLimits, clock: Clock, random: RandomSource,
            authenticator: Authenticator, catalog: any CatalogStorage,
            store: @escaping @Sendable (ContainerID, Environment) throws -> any Storage,
            assetDepot: @escaping @Sendable (ContainerID, Environment) throws -> AssetDepot,
            assets: AssetOptions, observer: any RequestObserver, workerCount: Int, loopCount: Int
        ) {
            self.limits = limits
            self.clock = clock
            self.random = random
            self.authenticator = authenticator
            self.catalog = catalog
            self.store = store
            self.assetDepot = assetDepot
            self.assets = assets
            self.observer = observer
            self.workerCount = workerCount
            self.loopCount = loopCount
        }
    }

    private let dependencies: Dependencies
    private let stores: OpenStores
    private let addresses: RecentAddresses
    private let assets: AssetResponder
    private let people: KnownPeople
    private let workers: [DispatchQueue]
    private let nextWorker = Atomic<Int>(0)
    /// Requests that wait until there is something to tell.
    private let heldCount = Atomic<Int>(0)

    package init(_ dependencies: Dependencies) {
        self.dependencies = dependencies
        people = KnownPeople(catalog: dependencies.catalog)
        stores = OpenStores(
            find: dependencies.store, findAssets: dependencies.assetDepot,
            assets: dependencies.assets)
        assets = AssetResponder(stores, dependencies)
        addresses = RecentAddresses(loopCount: dependencies.loopCount)
        workers = (0..<max(1, dependencies.workerCount)).map {
            DispatchQueue(label: "web.worker.\($0)")
        }
    }

    /// Lets go of a container's stores before they are closed and removed.
    package func forget(_ container: ContainerID) { stores.forget(container) }

    /// Leaves nothing of resumable uploads that nobody goes on with; now and then.
    package func removeExpiredUploads() { assets.removeExpiredUploads() }

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
        let exchange = Exchange(request, reply, observer: dependencies.observer)
        if request.body.count > RequestContext.loopBodyBytesMax {
            worker.async { self.answer(exchange, loop: nil) }
        } else {
            answer(exchange, loop: request.loop)
        }
    }

    private var worker: DispatchQueue {
        let number = nextWorker.wrappingAdd(1, ordering: .relaxed).oldValue
        return workers[Int(UInt(bitPattern: number) % UInt(workers.count))]
    }

    /// Takes a request from its path to its endpoint.
    private func answer(_ exchange: Exchange, loop: Int?) {
        let request = exchange.request
        if request.method == .options { return exchange.sendPreflight() }
        guard let address = addresses.address(of: request.target, loop: loop) else {
            return exchange.fail(Fault(.notFound, "could not find a handler for this endpoint"))
        }
        exchange.address = address
        let found = RouteTable.routes[address.operation]
        exchange.operation = found?.operation
        if let found, !found.methods.contains(request.method) {
            exchange.allowedOrigin = identification(of: exchange, at: address).allowedOrigin
            return exchange.refuseMethod(found.methods)
        }
        do {
            // Also before an endpoint is missed: a page sees only answers that allow its origin.
            let identified = try identify(exchange, address)
            guard let route = found else {
                throw Fault(.notFound, "could not find a handler for this endpoint")
            }
            if identified.isRenewalDue, loop != nil {
                return worker.async { self.answer(exchange, loop: nil) }
            }
            try admit(identified, to: route, at: address)
            if identified.isRenewalDue {
                exchange.webToken = dependencies.authenticator.renewedWebToken(
                    identified, now: dependencies.clock.now())
            }
            try run(
                route,
                RequestContext(
                    request: request, address: address, identified: identified,
                    limits: dependencies.limits, random: dependencies.random,
                    clock: dependencies.clock, assets: dependencies.assets,
                    authenticator: dependencies.authenticator,
                    catalog: dependencies.catalog, people: people,
                    store: try stores.store(address.container, address.environment), loop: loop),
                exchange)
        } catch is BelongsToWorker {
            worker.async { self.answer(exchange, loop: nil) }
        } catch let early as EarlyAnswer {
            hold(exchange, early)
        } catch {
            exchange.fail(error)
        }
    }

    /// Makes an answer that came too early anew in a while, or sends it when it has waited enough.
    private func hold(_ exchange: Exchange, _ early: EarlyAnswer) {
        let most = UInt64(max(0, dependencies.limits.sharedPageHoldMilliseconds)) * 1_000_000
        guard exchange.ageNanoseconds < most else { return exchange.succeed(early.body) }
        let held = heldCount.wrappingAdd(1, ordering: .relaxed).newValue
        guard held <= dependencies.limits.heldPollsMax else {
            heldCount.wrappingSubtract(1, ordering: .relaxed)
            return exchange.succeed(early.body)
        }
        worker.asyncAfter(deadline: .now() + Self.holdInterval) {
            self.heldCount.wrappingSubtract(1, ordering: .relaxed)
            self.answer(exchange, loop: nil)
        }
    }

    private static let holdInterval = DispatchTimeInterval.milliseconds(50)

    private func run(_ route: Route, _ context: RequestContext, _ exchange: Exchange) throws {
        switch route.work {
        case .read(let answer): exchange.succeed(try answer(context))
        case .write(let run):
            try run(context) { result in
                do { exchange.succeed(try result.get()) } catch { exchange.fail(error) }
            }
        }
    }

    private func identification(
        of exchange: Exchange, at address: RequestAddress
    ) -> Identification {
        let request = exchange.request
        let credentials = Credentials(
            target: request.target, keyID: request.headers["x-apple-cloudkit-request-keyid"],
            date: request.headers["x-apple-cloudkit-request-iso8601date"],
            signature: request.headers["x-apple-cloudkit-request-signaturev1"],
            webToken: request.headers["x-apple-cloudkit-web-auth-token"]
                ?? request.headers["x-apple-cloudkit-session"],
            origin: request.headers["origin"], body: request.body)
        return dependencies.authenticator.identify(
            credentials, container: address.container, environment: address.environment,
            now: dependencies.clock.now())
    }

    private func identify(_ exchange: Exchange, _ address: RequestAddress) throws -> Identified {
        let found = identification(of: exchange, at: address)
        exchange.allowedOrigin = found.allowedOrigin
        let identified = try found.result.get()
        exchange.webToken = identified.webToken
        exchange.caller = identified.caller
        return identified
    }

    /// Refuses callers of a kind that the endpoint does not serve (rulings.md 6 and 8).
    private func admit(
        _ identified: Identified, to route: Route, at address: RequestAddress
    ) throws(Fault) {
        let isServed =
            switch identified.caller.kind {
            case .user: true
            case .world: route.audience == .world && address.database == .public
            case .serverKey:
                route.audience == .anyIdentity
                    || route.audience != .persons && address.database == .public
            }
        guard isServed else {
            throw dependencies.authenticator.wrongKind(identified, now: dependencies.clock.now())
        }
    }
}
