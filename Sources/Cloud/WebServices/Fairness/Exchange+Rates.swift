import Accounts
import CloudModel
import HTTP

extension RateBudgets {
    /// Counts a request once, towards its caller, and tells the client what is left.
    ///
    /// A trusted proxy that calls for nobody is not counted: it may stand for all clients.
    ///
    /// - Parameter isWhole: false at the head of a request with a body: it is counted later, unless it fails.
    /// - Throws: `Fault` THROTTLED.
    func count(
        _ exchange: Exchange, _ found: Result<Identified, Fault>, to route: Route?, isWhole: Bool
    ) throws(Fault) {
        guard !exchange.isCounted else { return }
        let isLast = if case .failure = found { true } else { isWhole }
        exchange.isCounted = isLast
        guard let principal = Self.principal(of: exchange.request, found) else { return }
        let writes = if case .write = route?.work { true } else { false }
        let verdict = admit(
            principal, writing: writes ? exchange.request.body.count : nil, takes: isLast)
        if let standing = verdict.standing { exchange.tell(standing) }
        guard verdict.isAdmitted else { throw .throttled(verdict.standing) }
        exchange.counted = principal
    }

    /// Counts a request to the courier, once, towards the account whose token it shows.
    ///
    /// - Parameter account: nil for a token that is nobody's: it counts towards the client's address.
    /// - Throws: `Fault` THROTTLED.
    func countPoll(_ exchange: Exchange, of account: AccountID?) throws(Fault) {
        guard !exchange.isCounted else { return }
        exchange.isCounted = true
        let principal: Principal
        if let account {
            principal = .user(account)
        } else if Self.isProxy(exchange.request) {
            return
        } else {
            principal = .address(Principal.block(of: exchange.request))
        }
        let verdict = admit(principal, writing: nil)
        if let standing = verdict.standing { exchange.tell(standing) }
        guard verdict.isAdmitted else { throw .throttled(verdict.standing) }
    }

    /// Whether a request is a trusted proxy's own, which may stand for all clients.
    private static func isProxy(_ request: HTTPRequest) -> Bool {
        request.peer.isTrustedProxy && request.client == request.peer.block
    }

    /// Counts a request that was refused at its head, before its body.
    func countRefused(_ exchange: Exchange) {
        guard !exchange.isCounted, let principal = exchange.counted else { return }
        exchange.isCounted = true
        _ = admit(principal, writing: nil)
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
    fileprivate func tell(_ standing: RateStanding) {
        moreHeaders += [
            ("X-RateLimit-Limit", "\(standing.limit)"),
            ("X-RateLimit-Remaining", "\(standing.remaining)"),
            ("X-RateLimit-Reset", "\(standing.resetSeconds)"),
        ]
        exposedHeaders += ",X-RateLimit-Limit,X-RateLimit-Remaining,X-RateLimit-Reset,Retry-After"
    }
}

extension Fault {
    fileprivate static func throttled(_ standing: RateStanding?) -> Fault {
        var fault = Fault(
            .throttled,
            standing.map {
                "more than \($0.perSecond) a second for longer than can be saved up (\($0.setting))"
            } ?? "too many requests")
        fault.retryAfterSeconds = standing?.retrySeconds ?? 1
        return fault
    }
}
