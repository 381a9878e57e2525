import CloudModel
import Cryptography
import Storage
import Synchronization

/// Finds out which caller sent a request (rulings.md 3 to 8).
///
/// Tokens once found good are remembered, so that the usual request costs a look-up in memory. A
/// revocation through the same catalog holds for every request that comes after it.
package final class Authenticator: Sendable {
    private let catalog: any CatalogStorage
    private let names: UserRecordNames
    private let tickets: SignInTickets
    package let webTokens: WebTokens
    package let courierTokens: CourierTokens
    private let signedRequests: SignedRequests
    private let checked: CheckedTokens
    package let publicBaseURL: String
    private let report: @Sendable (any Error) -> Void
    private let verifications = Atomic<Int>(0)
    private let lastUses = LastUses()

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
        courierTokens = try CourierTokens(catalog: catalog, random: random)
        signedRequests = try SignedRequests(catalog: catalog, settings: settings)
        checked = CheckedTokens(entriesMax: settings.cachedTokensMax)
        self.publicBaseURL = publicBaseURL
        self.report = report
    }

    /// Checks the credentials of a request to one container environment.
    ///
    /// Never writes, and reads from the disk only for tokens that it has not seen. The result may
    /// be one of these faults. BAD_REQUEST: there are no credentials, both kinds of them, the same
    /// one twice, or a web token alone. AUTHENTICATION_FAILED: the API token is unknown or does not
    /// allow the origin, or something is wrong with a signature. AUTHENTICATION_REQUIRED: the web
    /// token is not good here and now. INTERNAL_ERROR: the catalog cannot be read.
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
            switch caller {
            case .success(let caller):
                return Identification(
                    allowedOrigin: nil, result: .success(Identified(signer: caller)))
            case .failure(let refused): return .refused(Authenticator.failed, refused.why)
            }
        } catch StorageFailure.unavailable(let why) {
            report(StorageFailure.unavailable(why))
            return .refused(.tryAgainLater("nobody can be recognized at the moment"))
        } catch {
            report(error)
            return .refused(Fault(.internalError, "internal error"))
        }
    }

    /// Counts the changes that may end somebody's credentials.
    ///
    /// What `identify` has found holds for its request as long as this stays what it was before.
    package var changeCount: Int { catalog.version }

    /// How many signatures have been verified, for metrics.
    package var verificationCount: Int { verifications.load(ordering: .relaxed) }

    /// Writes down which tokens and keys were used since the last time; now and then, and at the end.
    ///
    /// Blocks.
    package func noteLastUses() {
        do { try lastUses.write(to: catalog) } catch { report(error) }
    }

    /// Whether to keep the body of a signed request while it comes in.
    ///
    /// It is if the key is known here, the date is near, and the signature has the form of one.
    ///
    /// - Throws: what the catalog reports. A body that was not kept for that could only be refused, also where the catalog
    ///   can be read again by the time it has come.
    package func signatureMayBeGood(
        _ credentials: Credentials, container: ContainerID, environment: Environment,
        now: Milliseconds
    ) throws -> Bool {
        try signedRequests.mayBeGood(
            credentials, container: container, environment: environment, now: now)
    }

    /// The names among these that belong to a user or a server key of the container.
    ///
    /// - Throws: what the catalog reports.
    package func identities(
        among wanted: [UserRecordName], in container: ContainerID
    ) throws -> Set<UserRecordName> {
        Set(try catalog.bearers(of: Set(wanted), in: container).keys)
    }

    /// How many pairs of tokens are remembered as checked, for metrics.
    package var checkedTokenCount: Int { checked.count }

    /// The fault for a caller of a kind that the endpoint does not take (rulings.md 6 and 8).
    ///
    /// For an API token it is AUTHENTICATION_REQUIRED, with the way to sign in. For a server key it is
    /// AUTHENTICATION_FAILED. Every caller gets this fault where signing in would not help.
    package func wrongKind(
        _ identified: Identified, isForPeople: Bool = true, origin: String? = nil,
        now: Milliseconds
    ) -> Fault {
        guard isForPeople, let token = identified.apiToken else { return Authenticator.failed }
        return authenticationRequired(for: token, origin: origin, now: now)
    }

    /// The fault that sends a client with a bare API token, or a web token gone stale, to sign in.
    ///
    /// Has no side effect: browsers send a request that is answered 421 twice.
    ///
    /// - Parameter origin: of the page that sent the request; only this page gets the outcome of the sign-in.
    package func authenticationRequired(
        for token: APITokenRecord, origin: String? = nil, now: Milliseconds
    ) -> Fault {
        var fault = Fault(.authenticationRequired, "request needs authorization")
        let ticket = tickets.ticket(for: token, origin: origin, now: now)
        fault.redirectURL = "\(publicBaseURL)/sign-in/\(ticket)"
        return fault
    }

    /// The token to send back when a renewal is due: a new one, or the old one when no new one can be made.
    ///
    /// Blocks until the new token is on disk. Requests that come together with one token get one
    /// new token. While it is being made, they keep the old one, which stays good until it expires.
    package func renewedWebToken(_ identified: Identified, now: Milliseconds) -> String? {
        guard let renewal = identified.renewal else { return identified.webToken }
        guard checked.beginRenewal(of: renewal.presented) else {
            if case .made(let made) = checked.successor(of: renewal.presented) { return made }
            return identified.webToken
        }
        do {
            let made = try webTokens.renew(
                renewal.record, presented: renewal.presented.bytes, now: now)
            checked.endRenewal(of: renewal.presented, made: made)
            return made
        } catch {
            checked.endRenewal(of: renewal.presented, made: nil)
            // A refusal means that the session has ended meanwhile; that is not a failure.
            if !(error is CatalogRefusal) { report(error) }
            return identified.webToken
        }
    }

    private func identifySigner(
        _ credentials: Credentials, _ signature: Credentials.Signature, container: ContainerID,
        environment: Environment, now: Milliseconds
    ) throws -> Result<Caller, SignedRequests.Refused> {
        verifications.wrappingAdd(1, ordering: .relaxed)
        let key: ServerKeyRecord
        switch try signedRequests.signer(
            of: credentials, signature, container: container, environment: environment, now: now)
        {
        case .success(let signer): key = signer
        case .failure(let refused): return .failure(refused)
        }
        lastUses.note(.serverKey(keyID: key.keyID), at: now)
        guard let named = credentials.onBehalfOf else {
            return .success(
                Caller(
                    kind: .serverKey, userRecordName: names.name(ofKey: key.keyID, in: container),
                    keyID: key.keyID, passesRoles: key.scope == .container))
        }
        guard let name = UserRecordName(String(decoding: named, as: UTF8.self)),
            let account = try catalog.account(named: name, in: container)
        else { return .failure(SignedRequests.Refused(why: .userUnknown)) }
        return .success(
            Caller(
                kind: .user, userRecordName: name, account: account, keyID: key.keyID,
                passesRoles: true))
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
        let version = catalog.version
        if let entry = checked.entry(key, version: version) {
            if let why = entry.apiToken.refusal(of: credentials, in: container, environment) {
                return .refusedToken(why, credentials)
            }
            return answer(by: entry, key, credentials, now: now)
        }
        func keep(_ entry: CheckedTokens.Entry) -> Identification {
            checked.keep(entry, for: key, version: version)
            return answer(by: entry, key, credentials, now: now)
        }
        guard let token = try catalog.apiToken(hash: SHA256.digest(apiToken.bytes)) else {
            return .refusedToken(.apiTokenUnknown, credentials)
        }
        if let why = token.refusal(of: credentials, in: container, environment) {
            return .refusedToken(why, credentials)
        }
        guard let presented = key.webToken else {
            return keep(CheckedTokens.Entry(apiToken: token))
        }
        guard let record = try catalog.webToken(hash: SHA256.digest(presented.bytes)) else {
            return signIn(for: token, credentials, .webTokenUnknown, now: now)
        }
        let caller = Caller(
            kind: .user, userRecordName: names.name(of: record.account, in: record.container),
            account: record.account)
        return keep(
            CheckedTokens.Entry(
                apiToken: token, webToken: record, caller: caller,
                text: String(decoding: presented.bytes, as: UTF8.self)))
    }

    private func answer(
        by entry: CheckedTokens.Entry, _ key: CheckedTokens.Key, _ credentials: Credentials,
        now: Milliseconds
    ) -> Identification {
        guard now < entry.endsAt else {
            return signIn(for: entry.apiToken, credentials, .webTokenExpired, now: now)
        }
        if entry.isUseNoted(at: now) {
            lastUses.note(.apiToken(hash: entry.apiToken.hash), at: now)
            if let record = entry.webToken {
                lastUses.note(.webTokens(session: record.session), at: now)
            }
        }
        var webToken = entry.webTokenText
        var renewal: Identified.Renewal?
        if now > entry.halfLifeAt, let presented = key.webToken, let record = entry.webToken {
            switch checked.successor(of: presented) {
            case .made(let made): webToken = made
            case .beingMade: break
            case nil: renewal = Identified.Renewal(presented: presented, record: record)
            }
        }
        return Identification(
            allowedOrigin: entry.apiToken.echo(of: credentials.origin),
            result: .success(Identified(entry, webToken: webToken, renewal: renewal)))
    }

    private func signIn(
        for token: APITokenRecord, _ credentials: Credentials, _ why: CredentialRefusal,
        now: Milliseconds
    ) -> Identification {
        Identification(
            allowedOrigin: token.echo(of: credentials.origin),
            result: .failure(
                authenticationRequired(for: token, origin: credentials.origin, now: now)),
            refusal: why)
    }

    fileprivate static let failed = Fault(.authenticationFailed, "Authentication failed")
    private static let noCredentials = Fault.badRequest(
        "no credentials: send ckAPIToken, or sign the request with a server key")
    private static let bothKinds = Fault.badRequest(
        "two kinds of credentials: send tokens or a signature, not both")
    private static let webTokenAlone = Fault.badRequest("ckWebAuthToken needs ckAPIToken beside it")
}

extension Identification {
    fileprivate static func refused(
        _ fault: Fault, _ why: CredentialRefusal? = nil
    ) -> Identification {
        Identification(allowedOrigin: nil, result: .failure(fault), refusal: why)
    }

    /// Any page reads that its API token is not good, which is the same for one that is not there, that is another
    /// container's, and that is not for the page's origin.
    fileprivate static func refusedToken(
        _ why: CredentialRefusal, _ credentials: Credentials
    ) -> Identification {
        Identification(
            allowedOrigin: credentials.origin.flatMap(WebOrigin.echo),
            result: .failure(Authenticator.failed), refusal: why)
    }
}

extension APITokenRecord {
    /// Why the token is not good here or for a page of the request's origin; nil when it is.
    ///
    /// Requests that come from no page have no origin, and are always allowed.
    fileprivate func refusal(
        of credentials: Credentials, in container: ContainerID, _ environment: Environment
    ) -> CredentialRefusal? {
        guard self.environment == environment, self.container == container else {
            return .apiTokenUnknown
        }
        guard let origin = credentials.origin, !origins.isEmpty else { return nil }
        if origins.contains(origin) { return nil }
        guard let serialized = WebOrigin.serialized(origin), origins.contains(serialized) else {
            return .originNotAllowed
        }
        return nil
    }

    /// What to answer a page whose origin is allowed: only what is an origin is sent back.
    fileprivate func echo(of origin: String?) -> String? {
        guard let origin else { return nil }
        return origins.contains(origin) ? origin : WebOrigin.echo(origin)
    }
}

extension WebOrigin {
    /// What to answer any page: only what is an origin is sent back.
    fileprivate static func echo(_ origin: String) -> String? {
        origin == "null" || serialized(origin) != nil ? origin : nil
    }
}
