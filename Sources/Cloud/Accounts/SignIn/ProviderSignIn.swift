import CloudModel
import Cryptography
import Identity
import Storage
import Synchronization

/// Signs people in through an identity provider (OpenID Connect, the code flow with PKCE).
///
/// Blocks while it asks providers: never on an event loop.
package final class ProviderSignIn: Sendable {
    /// What a browser that is sent to a provider keeps and where it goes.
    package struct Begun: Sendable {
        /// The provider's sign-in page.
        package let address: String
        /// For the browser's cookie: without it nothing that comes back counts.
        package let pageToken: String
    }

    /// What came of it.
    package struct Outcome: Sendable {
        package let identity: ProvidedIdentity
        package let providerName: String
        /// Where the browser was before.
        package let target: String
        package let isKept: Bool
        /// The account that gets the identity; nil for a sign-in.
        package let linkedTo: AccountID?
        package let givenName: String?
        package let familyName: String?
        /// An address that the server takes to be theirs; nil for none.
        package let verifiedEmail: Address?
    }

    /// What is remembered of a provider.
    private struct Known {
        var provider: OpenIDProvider?
        var providerFetchedAt: Int64?
        var keys: JSONWebKeys?
        var keysFetchedAt: Int64?
    }

    /// How long a person may take at a provider.
    package static let awaySeconds = 900

    private let catalog: any CatalogStorage
    private let secrets: SealedSecrets
    private let pageTokens: PageTokens
    private let fetch: any ProviderFetch
    private let redirectURL: String
    private let random: RandomSource
    private let known = Mutex<[String: Known]>([:])

    package init(
        catalog: any CatalogStorage, secrets: SealedSecrets, pageTokens: PageTokens,
        fetch: any ProviderFetch, redirectURL: String, random: RandomSource
    ) {
        self.catalog = catalog
        self.secrets = secrets
        self.pageTokens = pageTokens
        self.fetch = fetch
        self.redirectURL = redirectURL
        self.random = random
    }

    /// Sends a browser to a provider.
    ///
    /// - Parameters:
    ///   - account: that is to be known by what comes back; nil for a sign-in.
    ///   - target: where the browser goes afterwards.
    /// - Throws: `ProviderFailure.unknown`, `unreachable`.
    package func begin(
        at name: String, linking account: AccountID?, target: String, isKept: Bool,
        browser: String, now: Milliseconds
    ) throws -> Begun {
        let record = try self.record(named: name)
        let provider = try document(of: record.issuer, seconds: now / 1_000)
        let signIn = OpenIDSignIn(random: random)
        let pageToken = pageTokens.make(
            .provider,
            [
                record.issuer, signIn.state, signIn.nonce, signIn.verifier, target,
                isKept ? "kept" : "", account?.text ?? "",
            ], browser: browser, seconds: Self.awaySeconds, now: now)
        return Begun(
            address: signIn.authorizationURL(at: provider, for: client(of: record)),
            pageToken: pageToken)
    }

    /// The person who came back.
    ///
    /// - Parameters:
    ///   - pageToken: what the browser kept.
    ///   - query: what the provider sent along, as it came.
    /// - Throws: `ProviderFailure`; what the catalog reports.
    package func finish(
        pageToken: String?, query: [UInt8], browser: String, now: Milliseconds
    ) throws -> Outcome {
        guard let pageToken,
            let kept = pageTokens.open(pageToken, .provider, browser: browser, now: now),
            kept.count == 7,
            let fields = ProviderFields(query)
        else { throw ProviderFailure.notBegun }
        let signIn = OpenIDSignIn(state: kept[1], nonce: kept[2], verifier: kept[3])
        guard let callback = signIn.callback(fields) else { throw ProviderFailure.notBegun }
        guard case .code(let code) = callback else { throw ProviderFailure.refused }
        guard try pageTokens.spend(pageToken, seconds: Self.awaySeconds, now: now) else {
            throw ProviderFailure.notBegun
        }
        let providers = try catalog.identityProviders()
        guard let record = providers.first(where: { $0.issuer == kept[0] }) else {
            throw ProviderFailure.unknown
        }
        let claims = try self.claims(record, signIn, code: code, seconds: now / 1_000)
        let email = record.trustsEmail && claims.isEmailVerified ? claims.email : nil
        return Outcome(
            identity: ProvidedIdentity(issuer: claims.issuer, subject: claims.subject),
            providerName: record.name, target: kept[4], isKept: kept[5] == "kept",
            linkedTo: kept[6].isEmpty ? nil : AccountID(kept[6]),
            givenName: Self.name(claims.givenName), familyName: Self.name(claims.familyName),
            // NB: a text that is not an address counts as no address.
            verifiedEmail: email.flatMap { try? AddressFormat.email($0) })
    }

    private static func name(_ text: String?) -> String? {
        // NB: a name that cannot be shown is left out.
        (try? PlainName.checked(text)) ?? nil
    }

    private func record(named name: String) throws -> IdentityProviderRecord {
        guard let record = try catalog.identityProviders().first(where: { $0.name == name }) else {
            throw ProviderFailure.unknown
        }
        return record
    }

    private func client(of record: IdentityProviderRecord) -> OpenIDSignIn.Client {
        OpenIDSignIn.Client(
            identifier: record.client, redirectURL: redirectURL,
            // Apple calls the profile a name.
            scope: record.signingKey == nil ? "openid email profile" : "openid email name",
            usesFormPost: record.usesFormPost)
    }

    // MARK: - What the provider says

    private func claims(
        _ record: IdentityProviderRecord, _ signIn: OpenIDSignIn, code: String, seconds: Int64
    ) throws -> IdentityClaims {
        let provider = try document(of: record.issuer, seconds: seconds)
        let request = signIn.tokenRequest(
            code: code, secret: try secret(of: record, seconds: seconds), at: provider,
            for: client(of: record))
        let answer = try fetch.fetch(
            provider.tokenEndpoint, form: request.body, authorization: request.authorization)
        guard let token = OpenIDSignIn.identityToken(in: answer) else {
            throw ProviderFailure.notBelieved("there is no ID token in the answer")
        }
        func checked(_ keys: JSONWebKeys) throws(TokenRefusal) -> IdentityClaims {
            try IdentityClaims(
                token: token, keys: keys, issuer: record.issuer, client: record.client,
                nonce: signIn.nonce, seconds: seconds)
        }
        do {
            let known = try keys(of: record.issuer, provider, seconds, isWanting: false)
            do {
                return try checked(known)
            } catch TokenRefusal.unknownKey {
                // The provider may have new ones.
                return try checked(keys(of: record.issuer, provider, seconds, isWanting: true))
            }
        } catch let refusal as TokenRefusal {
            throw ProviderFailure.notBelieved("\(refusal)")
        }
    }

    private func secret(
        of record: IdentityProviderRecord, seconds: Int64
    ) throws -> String? {
        guard let sealed = record.secret else { return nil }
        let secret = try secrets.open(sealed, for: IdentityProviders.subject(record.issuer))
        guard let signing = record.signingKey else {
            return String(decoding: secret, as: UTF8.self)
        }
        guard let key = IdentityProviders.key(secret) else {
            throw ProviderFailure.notBelieved("the provider's key is none")
        }
        return OpenIDSignIn.appleSecret(
            team: signing.team, client: record.client, keyName: signing.name, seconds: seconds,
            key: key)
    }

    private func document(
        of issuer: String, seconds: Int64
    ) throws(ProviderFailure) -> OpenIDProvider {
        let entry = known.withLock { $0[issuer] ?? Known() }
        if let provider = entry.provider,
            !KeyRotation(fetchedAt: entry.providerFetchedAt).isDue(at: seconds)
        {
            return provider
        }
        let answer = try fetch.fetch(
            OpenIDProvider.documentAddress(ofIssuer: issuer), form: nil, authorization: nil)
        guard let provider = OpenIDProvider(answer, ofIssuer: issuer) else {
            throw .unreachable("its document is none, or another issuer's")
        }
        known.withLock {
            $0[issuer, default: Known()].provider = provider
            $0[issuer, default: Known()].providerFetchedAt = seconds
        }
        return provider
    }

    /// The provider's keys.
    ///
    /// - Parameter isWanting: whether a key was not among those that are known.
    private func keys(
        of issuer: String, _ provider: OpenIDProvider, _ seconds: Int64, isWanting: Bool
    ) throws(ProviderFailure) -> JSONWebKeys {
        let entry = known.withLock { $0[issuer] ?? Known() }
        let rotation = KeyRotation(fetchedAt: entry.keysFetchedAt)
        let isDue = rotation.isDue(at: seconds) || (isWanting && rotation.mayFetch(at: seconds))
        if let keys = entry.keys, !isDue { return keys }
        known.withLock { $0[issuer, default: Known()].keysFetchedAt = seconds }
        let answer = try fetch.fetch(provider.keysAddress, form: nil, authorization: nil)
        guard let keys = JSONWebKeys(answer) else { throw .unreachable("its keys are none") }
        known.withLock { $0[issuer, default: Known()].keys = keys }
        return keys
    }
}
