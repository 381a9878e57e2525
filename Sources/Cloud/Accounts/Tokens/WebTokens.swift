import CloudModel
import Cryptography
import Storage

/// Makes and ends the tokens with which browsers and apps act for a user.
package struct WebTokens: Sendable {
    /// A token just made: the only time that its text is seen.
    package struct Created: Sendable {
        /// 104 characters of `0-9 a-f`, which no client's encoding changes.
        package let token: String
        package let userRecordName: UserRecordName
        package let expiresAt: Milliseconds
    }

    private static let tokenBytes = 52
    private static let sessionBytes = 16

    let catalog: any CatalogStorage
    let names: UserRecordNames
    private let random: RandomSource
    let settings: AccountsSettings
    private let successors: HMACSHA256

    /// - Throws: what the catalog reports when its secret is read.
    package init(
        catalog: any CatalogStorage, random: RandomSource = .system,
        settings: AccountsSettings = AccountsSettings()
    ) throws {
        self.catalog = catalog
        self.random = random
        self.settings = settings
        names = try UserRecordNames(catalog: catalog, random: random)
        successors = HMACSHA256(
            key: try catalog.secret("web-token-successors", orStore: random.bytes(32)))
    }

    /// Makes the first token of a session, for the user with this verified e-mail address.
    ///
    /// - Parameter seconds: the life of it and of those that replace it; nil for that of a user who
    ///   does not stay signed in.
    /// - Throws: `emailIllegal`, `userUnknown`, `lifetimeIllegal`, `containerUnknown`.
    package func create(
        container: ContainerID, environment: Environment, email: String, seconds: Int? = nil,
        now: Milliseconds
    ) throws -> Created {
        let account = try account(of: email)
        let seconds = seconds ?? settings.webTokenSeconds
        guard (1...settings.webTokenSecondsMax).contains(seconds) else {
            throw AccountsRefusal.lifetimeIllegal
        }
        return try begin(
            for: account.id, container: container, environment: environment, seconds: seconds,
            now: now)
    }

    /// Makes the first token of a session for an account.
    ///
    /// Where the account has `appSessionsMax` there, those that were not in use for the longest end.
    /// - Throws: `containerUnknown`, `accountUnknown`; `browserSessionUnknown`, `signInCodeUnknown` where the basis has
    ///   gone.
    func begin(
        for account: AccountID, on basis: WebTokenBasis = .account, container: ContainerID,
        environment: Environment, seconds: Int, at source: SignInSource = .unknown,
        now: Milliseconds
    ) throws -> Created {
        try make(Hexadecimal.encode(random.bytes(WebTokens.tokenBytes)), on: basis) { hash in
            WebTokenRecord(
                hash: hash, session: random.bytes(WebTokens.sessionBytes), account: account,
                container: container, environment: environment, madeAt: now,
                expiresAt: now + Milliseconds(seconds) * 1_000, source: source)
        }
    }

    func newAccountID() -> AccountID { AccountID(UniqueID.random(random)) }

    /// Ends a whole session: a token, those that it replaced, and those that replaced it.
    ///
    /// Does nothing for a token that is not known.
    package func revoke(token: String) throws {
        guard let record = try catalog.webToken(hash: SHA256.digest(Array(token.utf8))) else {
            return
        }
        try catalog.deleteWebTokens(session: record.session)
    }

    /// Ends every token of a user, in all containers.
    ///
    /// - Throws: `emailIllegal`, `userUnknown`.
    package func revokeAll(email: String) throws {
        try catalog.deleteWebTokens(of: account(of: email).id)
    }

    /// The user with this verified e-mail address, or with this ID.
    ///
    /// - Throws: `emailIllegal`, `userUnknown`.
    func account(of email: String) throws -> AccountRecord {
        try catalog.account(namedByOperator: email)
    }

    /// The one token that follows a token in the same session.
    ///
    /// It lives as long as the first, counted from when somebody first asked for it.
    ///
    /// It is derived from the token, so every process gives the same one.
    ///
    /// - Parameter presented: the token's text.
    /// - Throws: `webTokenUnknown` when the session has been ended; what the catalog reports.
    func renew(
        _ record: WebTokenRecord, presented: [UInt8], now: Milliseconds
    ) throws -> String {
        try make(successor(of: presented), on: .token(record.hash)) { hash in
            WebTokenRecord(
                hash: hash, session: record.session, account: record.account,
                container: record.container, environment: record.environment, madeAt: now,
                expiresAt: now + record.expiresAt - record.madeAt, begunAt: record.begunAt,
                source: record.source)
        }.token
    }

    /// It cannot be derived without the key: what the catalog stores of tokens is not enough.
    private func successor(of token: [UInt8]) -> String {
        let bytes = [UInt8(1), 2].flatMap { successors.code(for: [$0] + token) }
        return Hexadecimal.encode(bytes.prefix(WebTokens.tokenBytes))
    }

    private func make(
        _ token: String, on basis: WebTokenBasis, _ record: ([UInt8]) -> WebTokenRecord
    ) throws -> Created {
        let record = record(SHA256.digest(Array(token.utf8)))
        let name = names.name(of: record.account, in: record.container)
        try catalog.add(
            record, on: basis, for: name, sessionsMax: settings.appSessionsMax,
            now: record.madeAt)
        return Created(token: token, userRecordName: name, expiresAt: record.expiresAt)
    }
}
