import CloudModel
import Cryptography
import Storage

/// Says who a request is from (rulings.md 3 to 8).
///
/// Tokens once found good are remembered, so that the usual request costs a look-up in memory. A
/// revocation through the same catalog holds for every request that comes after it.
package final class Authenticator: Sendable {
    private let catalog: any CatalogStorage
    private let names: UserRecordNames
    private let tickets: SignInTickets
    private let webTokens: WebTokens
    private let signedRequests: SignedRequests
    private let checked: CheckedTokens
    private let publicBaseURL: String
    private let report: @Sendable (any Error) -> Void

    /// - Parameters:
    ///   - publicBaseURL: where browsers reach this server, without a slash at the end.
    ///   - report: told of each failure of the catalog; the request is answered with a fault.
    /// - Throws: what the catalog reports when its secrets are read.
    package init(
        catalog: any CatalogStorage, settings: AccountsSettings = AccountsSettings(),
        random: RandomSource = .system, publicBaseURL: String,
        report: @escaping @Sendable (any Error) -> Void
    ) throws {
        self.catalog = catalog
        names = try UserRecordNames(catalog: catalog, random: random)
        tickets = try SignInTickets(catalog: catalog, random: random, settings: settings)
        webTokens = try WebTokens(catalog: catalog, random: random, settings: settings)
        signedRequests = try SignedRequests(catalog: catalog, settings: settings)
        checked = CheckedTokens(entriesMax: settings.cachedTokensMax)
        self.publicBaseURL = publicBaseURL
        self.report = report
    }

    /// Checks the credentials of a request to one container environment.
    ///
    /// Never writes, and reads from the disk only for tokens that it has not seen. Faults:
    /// BAD_REQUEST when credentials are missing, of both kinds, ambiguous, or a web token comes
    /// alone; AUTHENTICATION_FAILED for an unknown API token, an origin that it does not allow, and
    /// anything wrong with a signature; AUTHENTICATION_REQUIRED for a web token that is not good
    /// here and now; INTERNAL_ERROR when the catalog cannot be read.
    package func identify(
        _ credentials: Credentials, container: ContainerID, environment: Environment,
        now: Milliseconds
    ) -> Identification {
        if let name = credentials.repeatedName {
            return .refused(.badRequest("\(name) is given more than once; send it once"))
        }
        do {
            guard let signature = credentials.signature else {
                return try identifyByTokens(
                    credentials, container: container, environment: environment, now: now)
            }
            guard credentials.apiToken == nil, credentials.webToken == nil else {
                return .refused(Authenticator.bothKinds)
            }
            let caller = try identifySigner(
                credentials, signature, container: container, environment: environment, now: now)
            guard let caller else { return .refused(Authenticator.failed) }
            return .found(
                Identified(caller: caller, apiToken: nil, webToken: nil, renewal: nil),
                allowedOrigin: nil)
        } catch {
            report(error)
            return .refused(Fault(.internalError, "internal error"))
        }
    }

    /// The fault that sends a client with a bare API token, or a web token gone stale, to sign in.
    ///
    /// Has no side effect: browsers send a request that is answered 421 twice.
    package func authenticationRequired(for token: APITokenRecord, now: Milliseconds) -> Fault {
        var fault = Fault(.authenticationRequired, "request needs authorization")
        fault.redirectURL = "\(publicBaseURL)/sign-in/\(tickets.ticket(for: token, now: now))"
        return fault
    }

    /// The token to send back to a caller whose renewal is due; the one he has when none can be made.
    ///
    /// Blocks until the new token is on disk. Requests that come together with one token get one new
    /// token: while it is being made they keep the old one, which stays good until it expires.
    package func renewedWebToken(_ identified: Identified, now: Milliseconds) -> String? {
        guard let renewal = identified.renewal else { return identified.webToken }
        guard checked.beginRenewal(of: renewal.presented) else {
            if case .made(let made) = checked.successor(of: renewal.presented) { return made }
            return identified.webToken
        }
        do {
            let made = try webTokens.renew(renewal.record, now: now)
            checked.endRenewal(of: renewal.presented, made: made)
            return made
        } catch {
            checked.endRenewal(of: renewal.presented, made: nil)
            // A refusal means that the session was ended meanwhile, which is no failure.
            if !(error is CatalogRefusal) { report(error) }
            return identified.webToken
        }
    }

    private func identifySigner(
        _ credentials: Credentials, _ signature: Credentials.Signature, container: ContainerID,
        environment: Environment, now: Milliseconds
    ) throws -> Caller? {
        let key = try signedRequests.signer(
            of: credentials, signature, container: container, environment: environment, now: now)
        guard let key else { return nil }
        guard let named = credentials.onBehalfOf else {
            return Caller(
                kind: .serverKey, userRecordName: names.name(ofKey: key.keyID, in: container),
                keyID: key.keyID, passesRoles: key.scope == .container)
        }
        guard let name = UserRecordName(String(decoding: named, as: UTF8.self)),
            let account = try catalog.account(named: name, in: container)
        else { return nil }
        return Caller(
            kind: .user, userRecordName: name, account: account, keyID: key.keyID,
            passesRoles: true)
    }

    private func identifyByTokens(
        _ credentials: Credentials, container: ContainerID, environment: Environment,
        now: Milliseconds
    ) throws -> Identification {
        guard let apiToken = credentials.apiToken else {
            return .refused(
                credentials.webToken == nil
                    ? Authenticator.noCredentials : Authenticator.webTokenAlone)
        }
        let key = CheckedTokens.Key(apiToken: apiToken, webToken: credentials.webToken)
        let changeCount = catalog.changeCount
        var entry = checked.entry(key, changeCount: changeCount)
        var token = entry?.apiToken
        if entry == nil {
            token = try catalog.apiToken(hash: SHA256.digest(apiToken.bytes))
        }
        guard let token, token.container == container, token.environment == environment,
            token.allows(origin: credentials.origin)
        else { return .refused(Authenticator.failed) }
        let allowedOrigin = token.allowedOrigin(credentials.origin)
        if entry == nil {
            entry = try check(key, token)
            if let entry { checked.keep(entry, for: key, changeCount: changeCount) }
        }
        guard let entry, entry.isGood(in: container, environment, now: now) else {
            return Identification(
                allowedOrigin: allowedOrigin,
                result: .failure(authenticationRequired(for: token, now: now)))
        }
        return .found(identified(by: entry, key, now: now), allowedOrigin: allowedOrigin)
    }

    /// Looks the web token up, when there is one; nil when the catalog does not know it.
    private func check(
        _ key: CheckedTokens.Key, _ token: APITokenRecord
    ) throws -> CheckedTokens.Entry? {
        guard let presented = key.webToken else {
            return CheckedTokens.Entry(
                apiToken: token, webToken: nil, caller: .world, webTokenText: nil)
        }
        guard let record = try catalog.webToken(hash: SHA256.digest(presented.bytes)) else {
            return nil
        }
        let caller = Caller(
            kind: .user, userRecordName: names.name(of: record.account, in: record.container),
            account: record.account)
        return CheckedTokens.Entry(
            apiToken: token, webToken: record, caller: caller,
            webTokenText: String(decoding: presented.bytes, as: UTF8.self))
    }

    private func identified(
        by entry: CheckedTokens.Entry, _ key: CheckedTokens.Key, now: Milliseconds
    ) -> Identified {
        guard let record = entry.webToken, let presented = key.webToken,
            now - record.madeAt > (record.expiresAt - record.madeAt) / 2
        else {
            return Identified(
                caller: entry.caller, apiToken: entry.apiToken, webToken: entry.webTokenText,
                renewal: nil)
        }
        switch checked.successor(of: presented) {
        case .made(let made):
            return Identified(
                caller: entry.caller, apiToken: entry.apiToken, webToken: made, renewal: nil)
        case .beingMade:
            return Identified(
                caller: entry.caller, apiToken: entry.apiToken, webToken: entry.webTokenText,
                renewal: nil)
        case nil:
            return Identified(
                caller: entry.caller, apiToken: entry.apiToken, webToken: entry.webTokenText,
                renewal: Identified.Renewal(presented: presented, record: record))
        }
    }

    private static let failed = Fault(.authenticationFailed, "Authentication failed")
    private static let noCredentials = Fault.badRequest(
        "no credentials: send ckAPIToken, or sign the request with a server key")
    private static let bothKinds = Fault.badRequest(
        "two kinds of credentials: send tokens or a signature, not both")
    private static let webTokenAlone = Fault.badRequest("ckWebAuthToken needs ckAPIToken beside it")
}

extension Identification {
    fileprivate static func refused(_ fault: Fault) -> Identification {
        Identification(allowedOrigin: nil, result: .failure(fault))
    }

    fileprivate static func found(
        _ identified: Identified, allowedOrigin: String?
    ) -> Identification {
        Identification(allowedOrigin: allowedOrigin, result: .success(identified))
    }
}

extension CheckedTokens.Entry {
    /// Whether the web token, if there is one, is of this place and has not expired.
    fileprivate func isGood(
        in container: ContainerID, _ environment: Environment, now: Milliseconds
    ) -> Bool {
        guard let webToken else { return true }
        return webToken.container == container && webToken.environment == environment
            && now < webToken.expiresAt
    }
}

extension APITokenRecord {
    /// Whether a page of this origin may use the token; requests of no page always may.
    fileprivate func allows(origin: String?) -> Bool {
        guard let origin, !origins.isEmpty else { return true }
        if origins.contains(origin) { return true }
        guard let serialized = WebOrigin.serialized(origin) else { return false }
        return origins.contains(serialized)
    }

    /// What to answer a page of an origin that is allowed; only what is an origin is sent back.
    fileprivate func allowedOrigin(_ origin: String?) -> String? {
        guard let origin, allows(origin: origin) else { return nil }
        return origin == "null" || WebOrigin.serialized(origin) != nil ? origin : nil
    }
}
