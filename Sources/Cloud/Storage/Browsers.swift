import CloudModel

/// A browser that is signed in to the server's own pages.
package struct BrowserSession: Sendable, Equatable {
    /// SHA-256 of the cookie's secret.
    package let hash: [UInt8]
    package let account: AccountID
    /// What the browser says it is, in a few words.
    package let device: String
    package let madeAt: Milliseconds
    package let usedAt: Milliseconds
    /// When the person last proved who they are.
    package let provedAt: Milliseconds
    package let expiresAt: Milliseconds

    package init(
        hash: [UInt8], account: AccountID, device: String, madeAt: Milliseconds,
        usedAt: Milliseconds, provedAt: Milliseconds, expiresAt: Milliseconds
    ) {
        self.hash = hash
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
    /// - Parameter countMax: of one account, this one included, at least 1: of more, those that were not in
    ///   use for the longest end.
    /// - Throws: `accountUnknown`.
    func add(_ session: BrowserSession, countMax: Int, now: Milliseconds) throws
    /// The session with this hash, even if it has expired.
    func browserSession(hash: [UInt8]) throws -> BrowserSession?
    /// The sessions of an account, expired ones included, in the order in which they began.
    func browserSessions(of account: AccountID) throws -> [BrowserSession]
    /// Notes that a session was used, and with `isProof` also that its person proved again who they are.
    func use(browserSession hash: [UInt8], at moment: Milliseconds, isProof: Bool) throws
    func deleteBrowserSession(hash: [UInt8]) throws
    /// Ends everything that acts as the account: browsers' sessions, web tokens, codes and links.
    ///
    /// - Parameter kept: the hash of a browser's session that stays; nil for none.
    func endSessions(of account: AccountID, except kept: [UInt8]?) throws

    /// Whether a person has allowed an app, known by its API token, to act for them at pages of an origin.
    ///
    /// - Parameter origin: empty for none.
    func hasConsent(
        of account: AccountID, for apiToken: [UInt8], at origin: String
    ) throws -> Bool
    /// - Throws: `accountUnknown`, `apiTokenUnknown`.
    func addConsent(
        of account: AccountID, for apiToken: [UInt8], at origin: String, now: Milliseconds
    ) throws

    /// Adds a code, and drops codes that have expired by `now`.
    ///
    /// - Throws: `containerUnknown`, `accountUnknown`.
    func add(_ code: SignInCode, now: Milliseconds) throws
    /// Hands a code to the first caller who asks for it.
    ///
    /// - Returns: nil for every later caller, and once the code has expired.
    func takeSignInCode(hash: [UInt8], now: Milliseconds) throws -> SignInCode?
}
