import RecordDecoding

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
///
/// A class: every request hands its own on from stage to stage.
final class Route: Sendable {
    /// The end of its path; names it in logs, metrics and documentation.
    let operation: String
    let audience: Audience
    /// Whether it has something to answer to a request without a body (rulings.md 1).
    let needsNoBody: Bool
    /// Whether it is answered on an event loop where little is asked; otherwise by workers alone.
    ///
    /// On a loop it must do no more than takes 0.2 ms, and say `again` where it would.
    let isShort: Bool
    /// Whether it hands on what it asks the store, or says `again`, where its thread may not wait (`RequestContext.mayWait`):
    /// so an event loop begins it before an engine on a network, too.
    let handsOn: Bool
    let work: EndpointWork
    /// What it may be asked, declared beside its decoder; nil for one that reads nothing of its body.
    let takes: ObjectShape?
    let answers: ObjectShape

    init(
        _ operation: String, _ audience: Audience, _ work: EndpointWork,
        takes: ObjectShape? = nil, answers: ObjectShape,
        needsNoBody: Bool = false, isShort: Bool = false, handsOn: Bool = false
    ) {
        self.handsOn = handsOn
        self.takes = takes
        self.answers = answers
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
        let all = records + assets + shares + zones + subscriptions + users + tokens
        return Dictionary(uniqueKeysWithValues: all.map { ($0.operation, $0) })
    }()

    private static let records = [
        Route(
            "records/modify", .users, .write(ModifyRecordsEndpoint.run),
            takes: ModifyRecordsEndpoint.takes, answers: AnswerShapes.records, isShort: true,
            handsOn: true),
        Route(
            "records/lookup", .world, .look(LookupRecordsEndpoint.answer),
            takes: LookupRecordsEndpoint.takes, answers: AnswerShapes.records, isShort: true,
            handsOn: true),
        Route(
            "records/query", .world, .look(QueryRecordsEndpoint.answer),
            takes: QueryRecordsEndpoint.takes, answers: QueryRecordsEndpoint.answers),
        Route(
            "records/changes", .users, .follow(RecordChangesEndpoint.answer),
            takes: RecordChangesEndpoint.takes, answers: RecordChangesEndpoint.answers),
    ]

    private static let assets = [
        Route(
            "assets/upload", .users, .read(AssetUploadsEndpoint.answer),
            takes: AssetUploadsEndpoint.takes, answers: AssetUploadsEndpoint.answers),
        Route(
            "assets/rereference", .users, .write(RereferenceAssetsEndpoint.run),
            takes: RereferenceAssetsEndpoint.takes, answers: RereferenceAssetsEndpoint.answers),
    ]

    private static let shares = [
        Route(
            "records/resolve", .persons, .read(ResolveSharesEndpoint.answer),
            takes: ResolveSharesEndpoint.takes, answers: ResolveSharesEndpoint.answers),
        Route(
            "records/accept", .persons, .write(AcceptSharesEndpoint.run),
            takes: ResolveSharesEndpoint.takes, answers: ResolveSharesEndpoint.answers),
        Route(
            "records/requestAccess", .persons, .write(RequestAccessEndpoint.run),
            takes: ResolveSharesEndpoint.takes, answers: ResolveSharesEndpoint.answers),
    ]

    private static let zones = [
        Route(
            "zones/list", .users, .read(ListZonesEndpoint.answer),
            answers: ListZonesEndpoint.answers, needsNoBody: true),
        Route(
            "zones/lookup", .users, .read(LookupZonesEndpoint.answer),
            takes: LookupZonesEndpoint.takes, answers: ListZonesEndpoint.answers),
        Route(
            "zones/modify", .users, .write(ModifyZonesEndpoint.run),
            takes: ModifyZonesEndpoint.takes, answers: ListZonesEndpoint.answers, isShort: true),
        Route(
            "zones/changes", .users, .look(ZonesChangesEndpoint.answer),
            takes: ZonesChangesEndpoint.takes, answers: ZonesChangesEndpoint.answers,
            needsNoBody: true),
        Route(
            "changes/database", .users, .look(DatabaseChangesEndpoint.answer),
            takes: DatabaseChangesEndpoint.takes, answers: DatabaseChangesEndpoint.answers,
            needsNoBody: true, isShort: true),
        Route(
            "changes/zone", .users, .follow(ZoneChangesEndpoint.answer),
            takes: ZoneChangesEndpoint.takes, answers: ZoneChangesEndpoint.answers, isShort: true),
    ]

    private static let subscriptions = [
        Route(
            "subscriptions/list", .users, .read(ListSubscriptionsEndpoint.answer),
            answers: ListSubscriptionsEndpoint.answers, needsNoBody: true),
        Route(
            "subscriptions/lookup", .users, .read(LookupSubscriptionsEndpoint.answer),
            takes: LookupSubscriptionsEndpoint.takes, answers: ListSubscriptionsEndpoint.answers),
        Route(
            "subscriptions/modify", .users, .write(ModifySubscriptionsEndpoint.run),
            takes: ModifySubscriptionsEndpoint.takes, answers: ListSubscriptionsEndpoint.answers),
    ]

    private static let users = [
        Route(
            "users/caller", .anyIdentity, .read(CallerEndpoint.answer),
            answers: CallerEndpoint.answers, needsNoBody: true),
        Route(
            "users/current", .anyIdentity, .read(CallerEndpoint.answer),
            answers: CallerEndpoint.answers, needsNoBody: true),
        Route(
            "users/discover", .persons, .read(DiscoverUsersEndpoint.answer),
            takes: DiscoverUsersEndpoint.takes, answers: LookupUsersEndpoint.answers,
            needsNoBody: true),
        Route(
            "users/lookup/email", .persons, .read(LookupUsersEndpoint.byEmail),
            takes: LookupUsersEndpoint.takesEmails, answers: LookupUsersEndpoint.answers),
        Route(
            "users/lookup/id", .persons, .read(LookupUsersEndpoint.byID),
            takes: LookupUsersEndpoint.takesIDs, answers: LookupUsersEndpoint.answers),
        Route(
            "users/lookup/contacts", .persons, .read(LookupUsersEndpoint.contacts),
            answers: LookupUsersEndpoint.answers, needsNoBody: true),
    ]

    private static let tokens = [
        Route(
            "tokens/create", .persons, .write(CreateTokenEndpoint.run),
            takes: TokenRequest.takes, answers: TokenRequest.answers),
        Route(
            "tokens/register", .persons, .write(RegisterTokenEndpoint.run),
            takes: TokenRequest.takesAddress, answers: TokenRequest.answers),
        Route(
            "accounts/web-token", .containerKeys, .write(WebTokenEndpoint.run),
            takes: WebTokenEndpoint.takes, answers: WebTokenEndpoint.answers),
    ]

    /// The operations, for documentation and metrics.
    package static var operations: [String] { routes.keys.sorted() }
}
