import Accounts
import CloudModel
import HTTP

extension RateBudgets {
    /// Counts a request towards its caller, and tells the client what is left.
    ///
    /// A trusted proxy that calls for nobody is not counted: it may stand for all clients.
    ///
    /// - Parameter isWhole: false at the head of a request with a body: it is counted later, unless it fails.
    /// - Returns: the caller that it counts towards; nil when no rate limits the caller.
    /// - Throws: `Fault` THROTTLED.
    func count(
        _ addressed: AddressedRequest, _ found: Result<Identified, Fault>, isWhole: Bool
    ) throws(Fault) -> Principal? {
        let exchange = addressed.exchange
        let isLast = if case .failure = found { true } else { isWhole }
        guard let principal = Self.principal(of: exchange.request, found) else { return nil }
        let writes = addressed.route?.isWrite == true
        let verdict = admit(
            principal, writing: writes ? exchange.request.body.count : nil, takes: isLast)
        if let status = verdict.status { exchange.tell(status) }
        guard verdict.isAdmitted else { throw .throttled(verdict.status) }
        return principal
    }

    /// Counts a request to the courier towards the account whose token it shows.
    ///
    /// - Parameter account: nil for a token that is nobody's: it counts towards the client's address.
    /// - Throws: `Fault` THROTTLED.
    func countPoll(_ exchange: Exchange, of account: AccountID?) throws(Fault) {
        let principal: Principal
        if let account {
            principal = .user(account)
        } else if Self.isProxy(exchange.request) {
            return
        } else {
            principal = .address(Principal.block(of: exchange.request))
        }
        let verdict = admit(principal, writing: nil)
        if let status = verdict.status { exchange.tell(status) }
        guard verdict.isAdmitted else { throw .throttled(verdict.status) }
    }

    /// Whether a request is a trusted proxy's own, which may stand for all clients.
    private static func isProxy(_ request: HTTPRequest) -> Bool {
        request.peer.isTrustedProxy && request.client == request.peer.block
    }

    private static func principal(
        of request: HTTPRequest, _ found: Result<Identified, Fault>
    ) -> Principal? {
        let block = Principal.block(of: request)
        let isProxy = isProxy(request)
        switch found {
        case .success(let identified):
            let principal = Principal(identified, at: block)
            if case .apiToken = principal, isProxy { return nil }
            return principal
        case .failure: return isProxy ? nil : .address(block)
        }
    }
}

extension Exchange {
    /// Says in the answer how a budget stands (rulings.md 53).
    fileprivate func tell(_ status: RateStatus) {
        note {
            $0.moreHeaders += [
                ("X-RateLimit-Limit", "\(status.limit)"),
                ("X-RateLimit-Remaining", "\(status.remaining)"),
                ("X-RateLimit-Reset", "\(status.resetSeconds)"),
            ]
            $0.exposedHeaders +=
                ",X-RateLimit-Limit,X-RateLimit-Remaining,X-RateLimit-Reset,Retry-After"
        }
    }
}

extension Fault {
    static func throttled(_ status: RateStatus?) -> Fault {
        var fault = Fault(
            .throttled,
            status.map {
                "more than \($0.perSecond) a second for longer than can be saved up (\($0.setting))"
            } ?? "too many requests")
        fault.retryAfterSeconds = status?.retrySeconds ?? 1
        fault.cause = .callerRate
        return fault
    }
}
