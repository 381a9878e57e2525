import CloudModel

/// A browser that is signed in to the server's own pages, or an operator's to their interface.
package struct BrowserSession: Sendable, Equatable {
    package enum Kind: String, Sendable {
        case pages
        case console
    }

    /// SHA-256 of the cookie's secret.
    package let hash: [UInt8]
    package let kind: Kind
    package let account: AccountID
    /// What the browser says it is, in a few words; empty for none.
    package let device: String
    package let madeAt: Milliseconds
    package let usedAt: Milliseconds
    /// When the person last proved who they are.
    package let provedAt: Milliseconds
    package let expiresAt: Milliseconds

    package init(
        hash: [UInt8], kind: Kind, account: AccountID, device: String, madeAt: Milliseconds,
        usedAt: Milliseconds, provedAt: Milliseconds, expiresAt: Milliseconds
    ) {
        self.hash = hash
        self.kind = kind
        self.account = account
        self.device = device
        self.madeAt = madeAt
        self.usedAt = usedAt
        self.provedAt = provedAt
        self.expiresAt = expiresAt
    }
}

/// What a program trades for a web token after a sign-in (rulings.md 54).
package struct SignInCode: Sendable, Equatable {
    /// SHA-256 of the code.
    package let hash: [UInt8]
    package let account: AccountID
    package let container: ContainerID
    package let environment: Environment
    /// How long the web token lives, in seconds.
    package let seconds: Int
    /// SHA-256 of the verifier that must come with the code.
    package let challenge: [UInt8]
    package let expiresAt: Milliseconds
    package let source: SignInSource

    package init(
        hash: [UInt8], account: AccountID, container: ContainerID, environment: Environment,
        seconds: Int, challenge: [UInt8], expiresAt: Milliseconds, source: SignInSource = .unknown
    ) {
        self.hash = hash
        self.account = account
        self.container = container
        self.environment = environment
        self.seconds = seconds
        self.challenge = challenge
        self.expiresAt = expiresAt
        self.source = source
    }
}

/// Signed-in browsers, and what their people have allowed apps to do.
package protocol BrowserCatalog: Sendable {
    /// Adds a browser's session, and drops sessions that have expired by `now`.
    ///
    /// - Parameters:
    ///   - password: the hash that the account had at the sign-in, and must still have; nil for an account that had no
    ///     password.
    ///   - countMax: of one account and kind, this one included, at least 1: of more, those that were not in use for
    ///     the longest end.
    /// - Throws: `accountUnknown`, `passwordChanged`; for the console, `operatorUnknown`.
    func add(
        _ session: BrowserSession, password: String?, countMax: Int, now: Milliseconds
    ) throws
    /// The sessions of a kind that a key leads to, expired ones included, in the order in which they began.
    func browserSessions(
        _ kind: BrowserSession.Kind, _ key: BrowserSessionKey
    ) throws -> [BrowserSession]
    /// Notes that a session was used; nil ends it. Does nothing where there is none.
    func note(_ use: BrowserSessionUse?, of hash: [UInt8]) throws

    /// Whether a person has allowed an app, known by its API token, to act for them at pages of an origin.
    ///
    /// - Parameter origin: empty for none.
    func hasConsent(
        of account: AccountID, for apiToken: [UInt8], at origin: String
    ) throws -> Bool
    /// - Throws: `accountUnknown`, `apiTokenUnknown`.
    func addConsent(
        of account: AccountID, for apiToken: [UInt8], at origin: String
    ) throws

    /// Adds a code, and drops codes that have expired by `now`.
    ///
    /// - Parameter session: the hash of the session of the account's browser that asks for it; it must still be there.
    /// - Throws: `containerUnknown`, `accountUnknown`, `browserSessionUnknown`.
    func add(_ code: SignInCode, askedBy session: [UInt8], now: Milliseconds) throws
    /// The code with this hash, which the web token uses up that it is traded for; nil once it has expired.
    ///
    /// - Parameter isUsedUp: whether it ends with this look.
    func signInCode(hash: [UInt8], isUsedUp: Bool, now: Milliseconds) throws -> SignInCode?
}

/// That a browser's session was used.
package struct BrowserSessionUse: Sendable {
    package let moment: Milliseconds
    /// Whether its person proved again who they are.
    package let isProof: Bool

    package init(at moment: Milliseconds, isProof: Bool) {
        self.moment = moment
        self.isProof = isProof
    }
}

/// What browsers' sessions are looked for by.
package enum BrowserSessionKey: Sendable {
    case hash([UInt8])
    case account(AccountID)
}

extension BrowserCatalog {
    /// A code that is still good; nothing ends.
    package func signInCode(hash: [UInt8], now: Milliseconds) throws -> SignInCode? {
        try signInCode(hash: hash, isUsedUp: false, now: now)
    }

    /// Ends a code; does nothing where there is none.
    package func deleteSignInCode(hash: [UInt8]) throws {
        _ = try signInCode(hash: hash, isUsedUp: true, now: .min)
    }

    /// The session of a kind with this hash, even if it has expired.
    package func browserSession(
        _ kind: BrowserSession.Kind, hash: [UInt8]
    ) throws -> BrowserSession? { try browserSessions(kind, .hash(hash)).first }

    /// The sessions of an account at the server's own pages.
    package func browserSessions(of account: AccountID) throws -> [BrowserSession] {
        try browserSessions(.pages, .account(account))
    }
}
