/// What an endpoint does with a request.
enum EndpointWork: Sendable {
    /// Reads, on a worker: makes the whole body at once.
    case read(@Sendable (RequestContext) throws -> [UInt8])
    /// Reads, and says what comes next.
    case look(@Sendable (RequestContext) throws -> NextStep)
    /// Reads a page of a feed, as `look` does; only a `Question` and the store say what it answers.
    case follow(@Sendable (RequestContext) throws -> NextStep)
    /// Writes: hands in what makes the body, or what went wrong, when the change is on disk.
    case write(@Sendable (RequestContext, @escaping WriteCompletion) throws -> NextStep)
}

/// Gets what makes the answer to a change, or what went wrong.
typealias WriteCompletion = @Sendable (Result<WrittenAnswer, any Error>) -> Void

/// Makes the answer to a change that is on disk, because the writer has no time for that.
///
/// - Parameter loop: the event loop whose thread this is; nil on a worker.
/// - Returns: nil on an event loop, when the answer is long.
typealias WrittenAnswer = @Sendable (_ loop: Int?) throws -> [UInt8]?

/// Who may call an endpoint (rulings.md 6 and 8).
enum Audience: Sendable {
    /// In the public database also a bare API token, as `_world`.
    case world
    /// Users; in the public database server keys too.
    case users
    /// Users only.
    case persons
    /// Users and, in any database path, server keys about themselves.
    case anyIdentity
    /// Server keys of scope `container`, in their own name.
    case containerKeys
}

/// One endpoint.
struct Route: Sendable {
    /// The end of its path; names it in logs, metrics and documentation.
    let operation: String
    let audience: Audience
    /// Whether it has something to answer to a request without a body (rulings.md 1).
    let needsNoBody: Bool
    /// Whether it is answered on an event loop where little is asked; otherwise by workers alone.
    ///
    /// On a loop it must do no more than takes 0.2 ms, and say `again` where it would.
    let isShort: Bool
    let work: EndpointWork

    init(
        _ operation: String, _ audience: Audience, _ work: EndpointWork,
        needsNoBody: Bool = false, isShort: Bool = false
    ) {
        self.operation = operation
        self.audience = audience
        self.work = work
        self.needsNoBody = needsNoBody
        self.isShort = isShort
    }

    var isWrite: Bool { if case .write = work { true } else { false } }

    /// The methods that it accepts; all others are refused before anything else is looked at.
    var methods: AllowedMethods { needsNoBody ? .bodilessRead : .post }
}

/// Every endpoint that this server answers.
package enum RouteTable {
    static let routes: [String: Route] = {
        let all = [
            Route("records/modify", .users, .write(ModifyRecordsEndpoint.run), isShort: true),
            Route("records/lookup", .world, .look(LookupRecordsEndpoint.answer), isShort: true),
            Route("records/query", .world, .look(QueryRecordsEndpoint.answer)),
            Route("records/changes", .users, .follow(RecordChangesEndpoint.answer)),
            Route("assets/upload", .users, .read(AssetUploadsEndpoint.answer)),
            Route("assets/rereference", .users, .write(RereferenceAssetsEndpoint.run)),
            Route("records/resolve", .persons, .read(ResolveSharesEndpoint.answer)),
            Route("records/accept", .persons, .write(AcceptSharesEndpoint.run)),
            Route("records/requestAccess", .persons, .write(RequestAccessEndpoint.run)),
            Route("zones/list", .users, .read(ListZonesEndpoint.answer), needsNoBody: true),
            Route("zones/lookup", .users, .read(LookupZonesEndpoint.answer)),
            Route("zones/modify", .users, .write(ModifyZonesEndpoint.run), isShort: true),
            Route("zones/changes", .users, .look(ZonesChangesEndpoint.answer), needsNoBody: true),
            Route(
                "changes/database", .users, .look(DatabaseChangesEndpoint.answer),
                needsNoBody: true, isShort: true),
            Route("changes/zone", .users, .follow(ZoneChangesEndpoint.answer), isShort: true),
            Route(
                "subscriptions/list", .users, .read(ListSubscriptionsEndpoint.answer),
                needsNoBody: true),
            Route("subscriptions/lookup", .users, .read(LookupSubscriptionsEndpoint.answer)),
            Route("subscriptions/modify", .users, .write(ModifySubscriptionsEndpoint.run)),
            Route("users/caller", .anyIdentity, .read(CallerEndpoint.answer), needsNoBody: true),
            Route("users/current", .anyIdentity, .read(CallerEndpoint.answer), needsNoBody: true),
            Route(
                "users/discover", .persons, .read(DiscoverUsersEndpoint.answer), needsNoBody: true),
            Route("users/lookup/email", .persons, .read(LookupUsersEndpoint.byEmail)),
            Route("users/lookup/id", .persons, .read(LookupUsersEndpoint.byID)),
            Route(
                "users/lookup/contacts", .persons, .read(LookupUsersEndpoint.contacts),
                needsNoBody: true),
            Route("tokens/create", .persons, .write(CreateTokenEndpoint.run)),
            Route("tokens/register", .persons, .write(RegisterTokenEndpoint.run)),
            Route("accounts/web-token", .containerKeys, .write(WebTokenEndpoint.run)),
        ]
        return Dictionary(uniqueKeysWithValues: all.map { ($0.operation, $0) })
    }()

    /// The operations, for documentation and metrics.
    package static var operations: [String] { routes.keys.sorted() }
}
