import CloudModel

/// A browser that is signed in to the server's own pages.
package struct BrowserSession: Sendable, Equatable {
    /// SHA-256 of what its cookie holds.
    package let hash: [UInt8]
    package let account: AccountID
    /// What the browser says it is, in a few words.
    package let device: String
    package let madeAt: Milliseconds
    package let usedAt: Milliseconds
    /// When the person last showed who they are.
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
    /// The life of the web token.
    package let seconds: Int
    /// SHA-256 of the verifier that must come with the code.
    package let challenge: [UInt8]
    package let expiresAt: Milliseconds

    package init(
        hash: [UInt8], account: AccountID, container: ContainerID, environment: Environment,
        seconds: Int, challenge: [UInt8], expiresAt: Milliseconds
    ) {
        self.hash = hash
        self.account = account
        self.container = container
        self.environment = environment
        self.seconds = seconds
        self.challenge = challenge
        self.expiresAt = expiresAt
    }
}

/// Signed-in browsers, and what they have let apps do.
package protocol BrowserCatalog: Sendable {
    /// Drops what has expired by `now`, too.
    ///
    /// - Throws: `accountUnknown`.
    func add(_ session: BrowserSession, now: Milliseconds) throws
    /// Also one that has expired.
    func browserSession(hash: [UInt8]) throws -> BrowserSession?
    /// In the order in which they began; also expired ones.
    func browserSessions(of account: AccountID) throws -> [BrowserSession]
    /// Notes that a session was used, and perhaps that its person showed again who they are.
    func use(browserSession hash: [UInt8], at moment: Milliseconds, isProof: Bool) throws
    func deleteBrowserSession(hash: [UInt8]) throws
    /// Ends everything that acts as the account: browsers' sessions, web tokens, codes and links.
    ///
    /// - Parameter kept: the hash of a browser's session that stays; nil for none.
    func endSessions(of account: AccountID, except kept: [UInt8]?) throws

    /// The web tokens of an account, in the order in which they were made; also expired ones.
    func webTokens(of account: AccountID) throws -> [WebTokenRecord]

    /// Whether the person has let the app of an API token, at pages of an origin, act for them.
    ///
    /// - Parameter origin: empty for none.
    func hasConsent(
        of account: AccountID, for apiToken: [UInt8], at origin: String
    ) throws -> Bool
    /// - Throws: `accountUnknown`, `apiTokenUnknown`.
    func addConsent(
        of account: AccountID, for apiToken: [UInt8], at origin: String, now: Milliseconds
    ) throws

    /// Drops what has expired by `now`, too.
    ///
    /// - Throws: `containerUnknown`, `accountUnknown`.
    func add(_ code: SignInCode, now: Milliseconds) throws
    /// Hands a code to the one caller who asks for it first; nil for all others and after its time.
    func takeSignInCode(hash: [UInt8], now: Milliseconds) throws -> SignInCode?
}
