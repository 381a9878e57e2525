import CloudModel
import JSON

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
    var needsNoBody = false
    /// Whether it is answered on an event loop where little is asked; otherwise by workers alone.
    ///
    /// On a loop it must do no more than takes 0.2 ms, and say `again` where it would.
    var isShort = false
    let work: EndpointWork

    /// The methods that it accepts; all others are refused before anything else is looked at.
    var methods: AllowedMethods { needsNoBody ? .bodilessRead : .post }
}

/// Every endpoint that this server answers.
package enum RouteTable {
    static let routes: [String: Route] = {
        let all = [
            Route(
                operation: "records/modify", audience: .users, isShort: true,
                work: .write(ModifyRecordsEndpoint.run)),
            Route(
                operation: "records/lookup", audience: .world, isShort: true,
                work: .look(LookupRecordsEndpoint.answer)),
            Route(
                operation: "records/query", audience: .world,
                work: .look(QueryRecordsEndpoint.answer)),
            Route(
                operation: "records/changes", audience: .users,
                work: .follow(RecordChangesEndpoint.answer)),
            Route(
                operation: "assets/upload", audience: .users,
                work: .read(AssetUploadsEndpoint.answer)),
            Route(
                operation: "assets/rereference", audience: .users,
                work: .write(RereferenceAssetsEndpoint.run)),
            Route(
                operation: "records/resolve", audience: .persons,
                work: .read(ResolveSharesEndpoint.answer)),
            Route(
                operation: "records/accept", audience: .persons,
                work: .write(AcceptSharesEndpoint.run)),
            Route(
                operation: "records/requestAccess", audience: .persons,
                work: .write(RequestAccessEndpoint.run)),
            Route(
                operation: "zones/list", audience: .users, needsNoBody: true,
                work: .read(ListZonesEndpoint.answer)),
            Route(
                operation: "zones/lookup", audience: .users, work: .read(LookupZonesEndpoint.answer)
            ),
            Route(
                operation: "zones/modify", audience: .users, isShort: true,
                work: .write(ModifyZonesEndpoint.run)),
            Route(
                operation: "zones/changes", audience: .users, needsNoBody: true,
                work: .look(ZonesChangesEndpoint.answer)),
            Route(
                operation: "changes/database", audience: .users, needsNoBody: true, isShort: true,
                work: .look(DatabaseChangesEndpoint.answer)),
            Route(
                operation: "changes/zone", audience: .users, isShort: true,
                work: .follow(ZoneChangesEndpoint.answer)),
            Route(
                operation: "subscriptions/list", audience: .users, needsNoBody: true,
                work: .read(ListSubscriptionsEndpoint.answer)),
            Route(
                operation: "subscriptions/lookup", audience: .users,
                work: .read(LookupSubscriptionsEndpoint.answer)),
            Route(
                operation: "subscriptions/modify", audience: .users,
                work: .write(ModifySubscriptionsEndpoint.run)),
            Route(
                operation: "users/caller", audience: .anyIdentity, needsNoBody: true,
                work: .read(CallerEndpoint.answer)),
            Route(
                operation: "users/current", audience: .anyIdentity, needsNoBody: true,
                work: .read(CallerEndpoint.answer)),
            Route(
                operation: "users/discover", audience: .persons, needsNoBody: true,
                work: .read(DiscoverUsersEndpoint.answer)),
            Route(
                operation: "users/lookup/email", audience: .persons,
                work: .read(LookupUsersEndpoint.byEmail)),
            Route(
                operation: "users/lookup/id", audience: .persons,
                work: .read(LookupUsersEndpoint.byID)),
            Route(
                operation: "users/lookup/contacts", audience: .persons, needsNoBody: true,
                work: .read(LookupUsersEndpoint.contacts)),
            Route(
                operation: "tokens/create", audience: .persons,
                work: .write(CreateTokenEndpoint.run)),
            Route(
                operation: "tokens/register", audience: .persons,
                work: .write(RegisterTokenEndpoint.run)),
            Route(
                operation: "accounts/web-token", audience: .containerKeys,
                work: .write(WebTokenEndpoint.run)),
        ]
        return Dictionary(uniqueKeysWithValues: all.map { ($0.operation, $0) })
    }()

    /// The operations, for documentation and metrics.
    package static var operations: [String] { routes.keys.sorted() }
}
