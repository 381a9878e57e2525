import CloudModel
import Cryptography
import Identity
import Storage

/// Passkeys of accounts: made, used to sign in, removed.
package struct Passkeys: Sendable {
    /// The question to an authenticator, which the page sends back with the answer.
    package struct Question: Sendable {
        /// For the page's form.
        package let pageToken: String
        /// In base64url.
        package let challenge: String
    }

    /// What an authenticator gave, in base64url as the page sends it.
    package struct Answer: Sendable {
        package let id: String
        package let clientData: String
        /// The attestation object of a new passkey, the authenticator's data of one that was used.
        package let data: String
        /// Of one that was used; empty for a new one.
        package let signature: String

        package init(id: String, clientData: String, data: String, signature: String) {
            self.id = id
            self.clientData = clientData
            self.data = data
            self.signature = signature
        }
    }

    /// The account that has signed in.
    package struct SignedIn: Sendable {
        package let account: AccountRecord
        /// Whether the authenticator has checked who uses it, so that no second factor is needed.
        package let isUserVerified: Bool
    }

    /// How long a person may take with their authenticator.
    private static let seconds = 600
    /// For one account; nobody needs more.
    package static let countMax = 32

    private let catalog: any CatalogStorage
    private let pageTokens: PageTokens
    private let relyingParty: String
    private let origin: String
    private let random: RandomSource

    /// - Parameters:
    ///   - relyingParty: the host's name that passkeys are bound to.
    ///   - origin: of the server's pages.
    package init(
        catalog: any CatalogStorage, pageTokens: PageTokens, relyingParty: String, origin: String,
        random: RandomSource
    ) {
        self.catalog = catalog
        self.pageTokens = pageTokens
        self.relyingParty = relyingParty
        self.origin = origin
        self.random = random
    }

    /// Whether browsers bind passkeys to the server's name at all: they do not to a number.
    package var areOffered: Bool {
        !relyingParty.hasPrefix("[") && relyingParty.contains { $0.isLetter }
    }

    /// What to ask; works in one browser and once.
    ///
    /// - Parameter account: the account that the passkey is for; nil for a sign-in.
    package func question(
        for account: AccountID?, browser: String, now: Milliseconds
    ) -> Question {
        let challenge = random.bytes(PasskeyCeremony.challengeBytes)
        return Question(
            pageToken: pageTokens.make(
                .passkey, [Hexadecimal.encode(challenge), account?.text ?? ""],
                browser: browser, seconds: Self.seconds, now: now),
            challenge: Base64.encode(challenge, .urlSafe))
    }

    /// Keeps a new passkey.
    ///
    /// - Returns: false for an answer that is refused or answers another question, and when there
    ///   are too many passkeys.
    /// - Throws: `passkeyTaken`, `accountUnknown`.
    package func register(
        _ answer: Answer, to pageToken: String?, name: String, of account: AccountID,
        browser: String, now: Milliseconds
    ) throws -> Bool {
        guard let pageToken,
            let ceremony = ceremony(pageToken, for: account, browser: browser, now: now),
            let clientData = Base64.decode(answer.clientData, .urlSafe),
            let data = Base64.decode(answer.data, .urlSafe)
        else { return false }
        let passkey: Passkey
        do throws(PasskeyRefusal) {
            passkey = try ceremony.register(clientData: clientData, attestationObject: data)
        } catch {
            return false
        }
        guard try catalog.passkeys(of: account).count < Self.countMax,
            try pageTokens.spend(pageToken, seconds: Self.seconds, now: now)
        else { return false }
        let stored = StoredPasskey(
            id: passkey.id, account: account, publicKey: passkey.key.cose,
            signCount: passkey.signCount, name: String(name.prefix(64)), madeAt: now, usedAt: now)
        try catalog.add(.passkey(stored), of: account, now: now)
        return true
    }

    /// Signs a person in with a passkey; nil for an answer that is refused, or that answers another
    /// question.
    ///
    /// - Throws: what the catalog reports.
    package func signIn(
        _ answer: Answer, to pageToken: String?, browser: String, now: Milliseconds
    ) throws -> SignedIn? {
        guard let pageToken,
            let ceremony = ceremony(pageToken, for: nil, browser: browser, now: now),
            let id = Base64.decode(answer.id, .urlSafe),
            let clientData = Base64.decode(answer.clientData, .urlSafe),
            let data = Base64.decode(answer.data, .urlSafe),
            let signature = Base64.decode(answer.signature, .urlSafe),
            let account = try catalog.account(ofPasskey: id),
            let kept = try catalog.passkeys(of: account.id).first(where: { $0.id == id }),
            let key = PasskeyPublicKey(cose: kept.publicKey)
        else { return nil }
        let use: PasskeyUse
        do throws(PasskeyRefusal) {
            use = try ceremony.authenticate(
                clientData: clientData, authenticatorData: data, signature: signature, key: key,
                signCount: kept.signCount)
        } catch {
            return nil
        }
        guard try pageTokens.spend(pageToken, seconds: Self.seconds, now: now),
            try catalog.use(passkey: id, from: kept.signCount, to: use.signCount, now: now)
        else { return nil }
        return SignedIn(account: account, isUserVerified: use.isUserVerified)
    }

    private func ceremony(
        _ pageToken: String, for account: AccountID?, browser: String, now: Milliseconds
    ) -> PasskeyCeremony? {
        guard let kept = pageTokens.open(pageToken, .passkey, browser: browser, now: now),
            kept.count == 2,
            kept[1] == account?.text ?? "", let challenge = Hexadecimal.decode(kept[0])
        else { return nil }
        return PasskeyCeremony(
            challenge: challenge, relyingParty: relyingParty, origins: [origin],
            requiresVerification: false)
    }
}
