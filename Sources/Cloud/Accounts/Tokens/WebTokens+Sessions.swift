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
        package internal(set) var expiresAt: Milliseconds
        /// When one of them was last used, to the minute or so; nil for never.
        package internal(set) var usedAt: Milliseconds?
        let session: [UInt8]
    }

    /// The sessions that can still be used, in the order in which they began.
    ///
    /// - Parameter email: whose; nil for everybody's.
    /// - Throws: `emailIllegal`, `userUnknown`.
    package func sessions(
        container: ContainerID, environment: Environment, email: String? = nil, now: Milliseconds
    ) throws -> [Session] {
        let user = try email.map { try account(of: $0).id }
        let emails = Dictionary(
            uniqueKeysWithValues: try catalog.accounts().map { ($0.id, $0.email ?? "") })
        var sessions: [Session] = []
        var indices: [[UInt8]: Int] = [:]
        for token in try catalog.webTokens(in: container, environment)
        where token.expiresAt > now && (user == nil || user == token.account) {
            if let index = indices[token.session] {
                sessions[index].expiresAt = max(sessions[index].expiresAt, token.expiresAt)
                sessions[index].usedAt = [sessions[index].usedAt, token.usedAt].compactMap { $0 }
                    .max()
                continue
            }
            indices[token.session] = sessions.count
            sessions.append(
                Session(
                    tokenID: Hexadecimal.encode(token.session), account: token.account,
                    email: emails[token.account] ?? "",
                    userRecordName: names.name(of: token.account, in: container),
                    madeAt: token.madeAt, expiresAt: token.expiresAt,
                    usedAt: token.usedAt, session: token.session))
        }
        return sessions
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
        let found = try sessions(
            container: container, environment: environment, email: email, now: now
        ).filter { tokenID == nil || $0.tokenID == tokenID }
        guard tokenID == nil || !found.isEmpty else { throw AccountsRefusal.sessionUnknown }
        for session in found { try catalog.deleteWebTokens(session: session.session) }
        return found
    }
}
