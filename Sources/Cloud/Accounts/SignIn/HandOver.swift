import CloudModel
import Cryptography
import Storage

/// Brings a web token from the sign-in page to the app that asked for it (rulings.md 54 and 55).
package struct HandOver: Sendable {
    /// The app that asks.
    package struct Asker: Sendable {
        package let apiToken: APITokenRecord
        /// Of the page that asks; nil for none.
        package let origin: String?
    }

    /// The parameters that an app has added to the sign-in address.
    package struct Wish: Sendable, Equatable {
        package var callback: String?
        package var state: String?
        package var challenge: String?
        package var challengeMethod: String?

        package init(
            callback: String? = nil, state: String? = nil, challenge: String? = nil,
            challengeMethod: String? = nil
        ) {
            self.callback = callback
            self.state = state
            self.challenge = challenge
            self.challengeMethod = challengeMethod
        }
    }

    /// How the outcome reaches the asker.
    package enum Way: Sendable, Equatable {
        /// By `postMessage` to exactly this origin.
        case message(origin: String)
        /// To a registered address, with the tokens themselves.
        case tokens(callback: String)
        /// To a registered address, with a code that only the asker can trade.
        case code(callback: String, state: String?, challenge: [UInt8])
    }

    /// Why nothing can be handed to the app.
    package enum WayRefusal: Error, Sendable, Equatable, CaseIterable {
        /// There is neither a page with an origin to send a message to, nor a registered callback.
        case originMissing
        /// The asker wants an answer at an address, and the API token has none.
        case callbackUnregistered
        /// The callback is another one than the API token's.
        case callbackDiffers
        /// The callback is the API token's but for its port, which is allowed only with a challenge.
        case challengeMissing
        case challengeIllegal
        case stateTooLong
    }

    /// What goes out.
    package enum Parcel: Sendable, Equatable {
        case message(origin: String, token: String)
        case redirect(String)
    }

    private static let codeBytes = 32
    private static let stateBytesMax = 1_024
    private static let verifierBytes = 43...128

    private let catalog: any CatalogStorage
    private let tickets: SignInTickets
    private let tokens: WebTokens
    private let random: RandomSource
    private let settings: AccountsSettings

    package init(
        catalog: any CatalogStorage, tokens: WebTokens, random: RandomSource,
        settings: AccountsSettings
    ) throws {
        self.catalog = catalog
        self.tokens = tokens
        self.random = random
        self.settings = settings
        tickets = try SignInTickets(catalog: catalog, random: random, settings: settings)
    }

    /// The app that asks with a ticket.
    ///
    /// Nil when the ticket is not good, its API token is gone, or the token no longer allows the
    /// origin.
    package func asker(_ ticket: String, now: Milliseconds) throws -> Asker? {
        guard let contents = tickets.contents(of: ticket, now: now),
            let token = try catalog.apiToken(hash: contents.apiTokenHash)
        else { return nil }
        if let origin = contents.origin, !token.origins.isEmpty, !token.origins.contains(origin) {
            return nil
        }
        return Asker(apiToken: token, origin: contents.origin)
    }

    /// How to hand the outcome to the asker.
    ///
    /// A callback counts only if it is the one that is registered with the API token. If that is a
    /// loopback address, any port will do.
    ///
    /// - Throws: why the app cannot get the outcome in any of the ways that it asks for.
    package func way(to asker: Asker, _ wish: Wish) throws(WayRefusal) -> Way {
        let registered = asker.apiToken.callback.flatMap { $0 == APITokens.postMessage ? nil : $0 }
        guard wish.callback != nil || wish.challenge != nil else {
            if let registered { return .tokens(callback: registered) }
            guard let origin = asker.origin else { throw .originMissing }
            return .message(origin: origin)
        }
        guard let registered else { throw .callbackUnregistered }
        let callback = wish.callback ?? registered
        guard CallbackAddress.isSame(callback, as: registered) else { throw .callbackDiffers }
        guard (wish.state?.utf8.count ?? 0) <= Self.stateBytesMax else { throw .stateTooLong }
        guard let challenge = wish.challenge else {
            // Any program that listens at the address gets the token: that is for the exact one.
            guard callback == registered else { throw .challengeMissing }
            return .tokens(callback: callback)
        }
        guard wish.challengeMethod == "S256", let bytes = Base64.decode(challenge, .urlSafe),
            bytes.count == SHA256.digestBytes
        else { throw .challengeIllegal }
        return .code(callback: callback, state: wish.state, challenge: bytes)
    }

    /// Whether the person has let this asker act for them before.
    package func hasConsent(of account: AccountID, for asker: Asker) throws -> Bool {
        try catalog.hasConsent(of: account, for: asker.apiToken.hash, at: asker.origin ?? "")
    }

    /// Makes the session, or a code for it, for a person who has agreed.
    ///
    /// - Parameters:
    ///   - browser: the session in which the person is signed in; once it has ended, nothing is made.
    ///   - device: what the browser is, in a few words.
    /// - Throws: `accountUnknown`, `apiTokenUnknown`, `containerUnknown`, `browserSessionUnknown` when one has gone
    ///   meanwhile.
    package func finish(
        in browser: BrowserSession, _ asker: Asker, _ way: Way, isKept: Bool, device: String,
        now: Milliseconds
    ) throws -> Parcel {
        let account = browser.account
        try catalog.addConsent(of: account, for: asker.apiToken.hash, at: asker.origin ?? "")
        let (container, environment) = (asker.apiToken.container, asker.apiToken.environment)
        let seconds = isKept ? settings.keptWebTokenSeconds : settings.webTokenSeconds
        let source = SignInSource(origin: way.origin ?? "", device: device)
        func token() throws -> String {
            try tokens.begin(
                for: account, on: .browserSession(browser.hash), container: container,
                environment: environment, seconds: seconds, at: source, now: now
            ).token
        }
        switch way {
        case .message(let origin): return .message(origin: origin, token: try token())
        case .tokens(let callback):
            let token = try token()
            return .redirect(
                CallbackAddress.adding(
                    [("ckWebAuthToken", token), ("ckSession", token)], to: callback))
        case .code(let callback, let state, let challenge):
            let code = Base64.encode(random.bytes(Self.codeBytes), .urlSafe)
            try catalog.add(
                SignInCode(
                    hash: SHA256.digest(Array(code.utf8)), account: account, container: container,
                    environment: environment, seconds: seconds, challenge: challenge,
                    expiresAt: now + Milliseconds(settings.signInCodeSeconds) * 1_000,
                    source: source), askedBy: browser.hash, now: now)
            return .redirect(
                CallbackAddress.adding(
                    [("code", code)] + (state.map { [("state", $0)] } ?? []), to: callback))
        }
    }

    /// Trades a code for a web token; nil unless the code is good and the verifier is the asker's.
    ///
    /// The first use ends the code, also with a wrong verifier.
    package func trade(
        code: String, verifier: String, now: Milliseconds
    ) throws -> WebTokens.Created? {
        let hash = SHA256.digest(Array(code.utf8))
        guard let found = try catalog.signInCode(hash: hash, now: now) else { return nil }
        guard Self.verifierBytes.contains(verifier.utf8.count),
            ConstantTime.areEqual(SHA256.digest(Array(verifier.utf8)), found.challenge)
        else {
            try catalog.deleteSignInCode(hash: hash)
            return nil
        }
        do {
            return try tokens.begin(
                for: found.account, on: .signInCode(hash), container: found.container,
                environment: found.environment, seconds: found.seconds, at: found.source, now: now)
        } catch CatalogRefusal.signInCodeUnknown {
            return nil
        }
    }
}

extension HandOver.Way {
    /// Where the outcome goes: an origin, or the scheme of a program's own; nil for no address.
    fileprivate var origin: String? {
        switch self {
        case .message(let origin): origin
        case .tokens(let callback), .code(let callback, _, _):
            CallbackAddress.policySource(callback)
        }
    }
}
