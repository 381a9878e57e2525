import Accounts
import Administration
import CloudModel
import Storage

/// Who asks something of the operators' interface.
struct ConsoleCaller: Sendable {
    let actor: Operator
    /// Nil for a script.
    let signedIn: OperatorSessions.SignedIn?

    /// Finds out who sent a request, by its token or its cookie.
    ///
    /// - Throws: `ConsoleFault`; what the catalog reports.
    init(of request: ConsoleRequest, _ useCases: AccountUseCases) throws {
        if let token = request.token {
            guard let record = try useCases.operatorTokens.find(token, now: request.now) else {
                throw ConsoleFault(.unauthenticated, "the token is not good, or not any more")
            }
            actor = .token(name: record.name, record.rights)
            signedIn = nil
            return
        }
        guard let cookie = request.cookie,
            let found = try useCases.operatorSessions.find(cookie, now: request.now)
        else { throw ConsoleFault(.unauthenticated, "sign in first: POST /console/api/session") }
        actor = .account(
            found.record.account, found.record.rights, provedAt: found.session.provedAt)
        signedIn = found
    }

    /// Makes sure that what changes something was not sent by another site's page, with the operator's cookie.
    func requireOwnPage(_ request: ConsoleRequest) throws(ConsoleFault) {
        guard let signedIn else { return }
        guard request.isOfOwnPage, request.shows(signedIn.pageSecret) else {
            throw ConsoleFault(
                .foreignPage, "send the session's `page` as X-Console-Page, with application/json")
        }
    }
}
