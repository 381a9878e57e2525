import CloudModel
import Cryptography
import Storage

extension WebTokens {
    /// A web token with those that replaced it: the session that one sign-in or one command began.
    package struct Session: Sendable, Equatable {
        /// Names it to commands; lets nobody in.
        package let tokenID: String
        package let account: AccountID
        package let email: String
        package let userRecordName: UserRecordName
        /// When the oldest token was made that still lives.
        package let madeAt: Milliseconds
        /// When the newest ends, unless it is renewed before.
        package let expiresAt: Milliseconds
        /// When one of them was last used, to the minute or so; nil for never.
        package let usedAt: Milliseconds?
        let session: [UInt8]
    }

    /// The sessions that can still be used, in the order of their token IDs; searched by these.
    ///
    /// - Parameter email: whose; nil for everybody's.
    /// - Throws: `emailIllegal`, `userUnknown`, `UnusableCursor`.
    package func sessions(
        container: ContainerID, environment: Environment, email: String? = nil, now: Milliseconds,
        _ request: ListRequest = ListRequest()
    ) throws -> ListPage<Session> {
        let keys: WebTokenKeys =
            if let email {
                .member(try account(of: email).id, container, environment)
            } else {
                .environment(container, environment)
            }
        return try catalog.webSessions(keys, livingAt: now, request).map { found in
            Session(
                tokenID: Hexadecimal.encode(found.session), account: found.account,
                email: found.email ?? "",
                userRecordName: names.name(of: found.account, in: container),
                madeAt: found.madeAt.lowerBound, expiresAt: found.expiresAt, usedAt: found.usedAt,
                session: found.session)
        }
    }

    /// Ends sessions: no request that comes after this is let in by any of their tokens.
    ///
    /// - Parameter tokenID: which of the user's; nil for all in this environment.
    /// - Returns: those that were ended.
    /// - Throws: `emailIllegal`, `userUnknown`, `sessionUnknown`.
    package func end(
        tokenID: String?, container: ContainerID, environment: Environment, email: String,
        now: Milliseconds
    ) throws -> [Session] {
        var ended: [Session] = []
        // An account has so many sessions at most (`add` of a web token), or names one of them.
        try ListPage.forEach(prefix: tokenID ?? "") { request in
            try sessions(
                container: container, environment: environment, email: email, now: now, request)
        } _: { session in
            guard tokenID == nil || session.tokenID == tokenID else { return }
            try catalog.deleteWebTokens(session: session.session)
            ended.append(session)
        }
        guard tokenID == nil || !ended.isEmpty else { throw AccountsRefusal.sessionUnknown }
        return ended
    }
}
