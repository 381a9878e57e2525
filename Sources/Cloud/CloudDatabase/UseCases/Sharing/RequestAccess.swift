import CloudModel
import Storage

/// Asks to take part in the shares that links lead to (`records/requestAccess`, rulings.md 50).
///
/// The caller does not learn whether a link leads anywhere: each request is noted in the same way and leaves
/// the same work. That work tells those who decide on the share.
package struct RequestAccess: Sendable {
    private let database: Database
    private let links: [String]
    private let user: UserRecordName

    /// - Parameter links: the last parts of shares' addresses.
    /// - Throws: `Fault` BAD_REQUEST outside the public database, AUTHENTICATION_FAILED for a caller who is no
    ///   user.
    package init(_ links: [String], in database: Database) throws(Fault) {
        try database.refuse(unless: database.scope == .public)
        guard database.caller.kind == .user, let user = database.caller.userRecordName else {
            throw Fault(.authenticationFailed, "Authentication failed")
        }
        self.database = database
        self.links = links
        self.user = user
    }

    /// Notes the requests.
    ///
    /// - Parameter completion: gets `Fault` THROTTLED for more than `ServiceLimits.accessRequestsPerDayMax` in a
    ///   day; then no request is noted. Or it gets failures of the machinery. Success means on disk.
    package func run(completion: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        let requests = self
        database.storage.write(
            WriteLoad(cost: links.count, caller: WriteCaller(database.caller)),
            { try requests.note($0) }, completion: completion)
    }

    /// Notes the requests and waits until they are on disk: never on an event loop.
    ///
    /// - Throws: what `run` hands over.
    package func runAndWait() throws {
        let requests = self
        try database.storage.writeAndWait(caller: WriteCaller(database.caller)) {
            try requests.note($0)
        }
    }

    private func note(_ transaction: any StoreTransaction) throws {
        let since = transaction.now - StoredAccessRequest.countedMilliseconds
        let most = database.limits.accessRequestsPerDayMax
        guard try transaction.accessRequestCount(of: user, since: since) + links.count <= most
        else {
            var fault = Fault(
                .throttled,
                "more than \(most) requests for access in a day")
            fault.retryAfterSeconds = 3_600
            throw fault
        }
        for link in links {
            let share = try share(link, transaction)
            let request = StoredAccessRequest(user: user, madeAt: transaction.now, isBlocked: false)
            try transaction.save([request], settling: [], of: share)
            try transaction.enqueue(.tellRequests(share))
        }
    }

    /// The share whose owner or administrators must decide.
    ///
    /// Nil for a link that leads nowhere, and for a share that takes no request of this user: because they
    /// take part already, have left it, or are kept out of it.
    private func share(
        _ link: String, _ transaction: any StoreTransaction
    ) throws -> ShareNumber? {
        let guid = ShareLink(link)?.guid.text ?? ""
        let record = try transaction.record(ofShortGUID: guid) ?? RecordNumber(0)
        let ofRoot = try transaction.share(ofRoot: record)
        let ofRecord = try transaction.share(ofRecord: record)
        let share = ofRoot ?? ofRecord
        let number = share?.number ?? ShareNumber(0)
        let requests = AccessRequestList(try transaction.accessRequests(of: number))
        let participants = ParticipantList(try transaction.participants(of: number))
        let addresses = try database.identities.person(named: user)?.addresses ?? []
        let known = participants.invitation(of: user, addresses: addresses)
        let admits = requests.admits(
            user, most: database.limits.accessRequestsPerShareMax)
        guard let share, share.allowsRequests, admits, known == nil else { return nil }
        return share.number
    }
}
