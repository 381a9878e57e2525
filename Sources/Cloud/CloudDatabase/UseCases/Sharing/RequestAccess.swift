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
            WriteLoad(cost: links.count, caller: StoreCaller(database.caller)),
            { try requests.note($0) }, completion: completion)
    }

    /// Notes the requests and waits until they are on disk: never on an event loop.
    ///
    /// - Throws: what `run` hands over.
    package func runAndWait() throws {
        let requests = self
        try database.storage.writeAndWait(caller: StoreCaller(database.caller)) {
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
        for share in try shares(transaction) {
            let request = StoredAccessRequest(user: user, madeAt: transaction.now, isBlocked: false)
            try transaction.save([request], settling: [], of: share)
            try transaction.enqueue(.tellRequests(share))
        }
    }

    /// The shares whose owners or administrators must decide, in the links' order, each once.
    ///
    /// Nil for a link that leads nowhere, and for a share that takes no request of this user: because they
    /// take part already, have left it, or are kept out of it.
    private func shares(_ transaction: any StoreTransaction) throws -> [ShareNumber?] {
        let shares = try transaction.shares(behind: links.map { ShareLink($0) })
        let numbers = shares.map { $0?.number ?? ShareNumber(0) }
        let requests = try transaction.accessRequests(numbers.map { .share($0) })
        let participants = try transaction.participants(of: numbers)
        let addresses = try database.identities.person(named: user)?.addresses ?? []
        var asked: Set<ShareNumber> = []
        return shares.indices.map { index in
            let known = ParticipantList(participants[index]).invitation(
                of: user, addresses: addresses)
            let admits = AccessRequestList(requests[index]).admits(
                user, most: database.limits.accessRequestsPerShareMax)
            guard let share = shares[index], share.allowsRequests, admits, known == nil,
                asked.insert(share.number).inserted
            else { return nil }
            return share.number
        }
    }
}
