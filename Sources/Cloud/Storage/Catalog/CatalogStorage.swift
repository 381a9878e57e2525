import CloudModel

/// The containers and their settings.
///
/// In this and the other contracts of the catalog, each member is one transaction. Once it returns, its
/// change is on disk and every later read sees it. When it throws a `CatalogRefusal`, it has changed nothing.
/// Every member may also throw `StorageFailure`. After `indeterminate`, a catalog in a file takes no more changes
/// until it is opened again; one in a database goes on.
package protocol ContainerCatalog: Sendable {
    /// Adds a container.
    ///
    /// - Throws: `containerExists`, also when an existing name differs only in case.
    func add(_ container: ContainerRecord) throws
    /// The containers, in the order of their folded names; searched by these.
    ///
    /// - Parameters:
    ///   - account: only those in which this account has a user record name; nil for all.
    ///   - some: only those among these; nil for all.
    /// - Throws: `UnusableCursor`.
    func containers(
        _ request: ListRequest, usedBy account: AccountID?, among some: Set<ContainerID>?
    ) throws -> ListPage<ContainerRecord>
    /// Sets the given keys; nil removes one.
    ///
    /// - Parameter icon: the picture that the setting `icon` names; it goes when that names no picture any
    ///   more, or another one.
    /// - Throws: `containerUnknown`.
    func set(_ settings: [String: String?], icon: NamedPicture?, of id: ContainerID) throws
    /// The picture of whichever container has one of this name; nil for none.
    func icon(named name: String) throws -> [UInt8]?
}

extension ContainerCatalog {
    package func container(_ id: ContainerID) throws -> ContainerRecord? {
        // The shortest of the names that begin with it comes first.
        try containers(ListRequest(limit: 1, prefix: id.name)).items.first { $0.id == id }
    }

    /// Those among some containers that there are.
    package func containers(
        _ ids: Set<ContainerID>
    ) throws -> [ContainerID: ContainerRecord] {
        guard !ids.isEmpty else { return [:] }
        var found: [ContainerID: ContainerRecord] = [:]
        try ListPage.forEach { request in
            try containers(request, usedBy: nil, among: ids)
        } _: {
            found[$0.id] = $0
        }
        return found
    }

    /// All containers.
    package func containers(_ request: ListRequest) throws -> ListPage<ContainerRecord> {
        try containers(request, usedBy: nil)
    }

    /// The containers in which an account has a user record name.
    package func containers(
        _ request: ListRequest, usedBy account: AccountID?
    ) throws -> ListPage<ContainerRecord> {
        try containers(request, usedBy: account, among: nil)
    }

    /// Sets keys that name no picture.
    package func set(_ settings: [String: String?], of id: ContainerID) throws {
        try set(settings, icon: nil, of: id)
    }
}

/// What authenticates requests: tokens and keys.
package protocol CredentialCatalog: Sendable {
    /// Keeps a token.
    ///
    /// - Parameter replaces: whether one with its hash gets its origins and its callback; else none may have it.
    /// - Throws: `containerUnknown`; `nameTaken`, and `apiTokenUnknown` where there is none to replace.
    func add(_ token: APITokenRecord, replaces: Bool) throws
    func apiToken(_ key: APITokenKey) throws -> APITokenRecord?
    /// The API tokens, in the order of their names; searched by these.
    ///
    /// - Parameter some: only those of these containers; nil for all.
    /// - Throws: `UnusableCursor`.
    func apiTokens(
        _ request: ListRequest, of some: Set<ContainerID>?
    ) throws -> ListPage<APITokenRecord>

    /// - Throws: `containerUnknown`.
    func add(_ key: ServerKeyRecord) throws
    /// The server keys, in the order of their IDs; searched by these.
    ///
    /// - Parameter some: only those of these containers; nil for all.
    /// - Throws: `UnusableCursor`.
    func serverKeys(
        _ request: ListRequest, of some: Set<ContainerID>?
    ) throws -> ListPage<ServerKeyRecord>

    /// - Throws: `apiTokenUnknown`, `serverKeyUnknown`, `operatorTokenUnknown`, `identityProviderUnknown`,
    ///   `pushKeyUnknown`, `containerUnknown`.
    func delete(_ credential: NamedCredential) throws

    /// Keeps when tokens and keys were last used; those that are not there any more are passed over.
    func note(uses: [UsedCredential: Milliseconds]) throws

    /// Adds a web token unless it is there already.
    ///
    /// Also notes which account is behind its user record name, and drops tokens that have expired by `now`.
    ///
    /// - Parameters:
    ///   - basis: what must still be there: what was ended meanwhile leads to no token.
    ///   - sessionsMax: where a token that replaces none finds so many sessions of its account in its environment of
    ///     the container, at least the one that was not in use for the longest ends.
    /// - Throws: `containerUnknown`, `accountUnknown`; `webTokenUnknown`, `browserSessionUnknown`, `signInCodeUnknown`
    ///   where the basis has gone.
    func add(
        _ token: WebTokenRecord, on basis: WebTokenBasis, for user: UserRecordName,
        sessionsMax: Int, now: Milliseconds
    ) throws
    func webToken(hash: [UInt8]) throws -> WebTokenRecord?
    /// The sessions that some keys lead to, in the order of their bytes; searched by these in lower-case
    /// hexadecimal digits.
    ///
    /// - Parameter now: only tokens that expire later count.
    /// - Throws: `UnusableCursor`.
    func webSessions(
        _ keys: WebTokenKeys, livingAt now: Milliseconds, _ request: ListRequest
    ) throws -> ListPage<WebSession>
    /// Drops the web tokens that some keys lead to; does nothing when there are none.
    func deleteWebTokens(_ keys: WebTokenKeys) throws
}

/// What an API token is looked for by.
package enum APITokenKey: Sendable {
    case hash([UInt8])
    /// The first bytes of its hash, enough of them to tell it from others.
    case hashPrefix([UInt8])
}

/// What operators have made to let somebody in, or to get in elsewhere, by the name that they know it by.
package enum NamedCredential: Sendable {
    case apiToken(name: String)
    case serverKey(keyID: String)
    case operatorToken(name: String)
    /// Identities at it lead to no account until the provider is added again.
    case identityProvider(name: String)
    case pushKey(topic: String, of: ContainerID)
}

/// What a new web token rests on.
package enum WebTokenBasis: Sendable {
    /// The word of somebody who may act for the account.
    case account
    /// The token that it replaces, by its hash.
    case token([UInt8])
    /// The session of the account's browser that asks for it, by its hash.
    case browserSession([UInt8])
    /// A code of the account that is traded for it and used up, by its hash.
    case signInCode([UInt8])
}

/// What web tokens are looked for by.
package enum WebTokenKeys: Sendable {
    case session([UInt8])
    case account(AccountID)
    case environment(ContainerID, Environment)
    /// Those of one account in one environment.
    case member(AccountID, ContainerID, Environment)
}

extension CredentialCatalog {
    /// Adds a new token.
    package func add(_ token: APITokenRecord) throws { try add(token, replaces: false) }

    package func apiTokens(_ request: ListRequest) throws -> ListPage<APITokenRecord> {
        try apiTokens(request, of: nil)
    }

    package func serverKeys(_ request: ListRequest) throws -> ListPage<ServerKeyRecord> {
        try serverKeys(request, of: nil)
    }

    /// - Throws: `apiTokenUnknown`.
    package func apiToken(name: String) throws -> APITokenRecord {
        // The shortest of the names that begin with it comes first.
        let found = try apiTokens(ListRequest(limit: 1, prefix: name)).items.first
        guard let found, found.name == name else { throw CatalogRefusal.apiTokenUnknown }
        return found
    }

    package func apiToken(hash: [UInt8]) throws -> APITokenRecord? { try apiToken(.hash(hash)) }

    package func serverKey(_ keyID: String) throws -> ServerKeyRecord? {
        try serverKeys(ListRequest(limit: 1, prefix: keyID)).items.first { $0.keyID == keyID }
    }

    package func deleteAPIToken(name: String) throws { try delete(.apiToken(name: name)) }

    package func deleteServerKey(keyID: String) throws { try delete(.serverKey(keyID: keyID)) }

    /// A session, tokens that have expired included; nil for one that has ended.
    package func webSession(_ session: [UInt8]) throws -> WebSession? {
        try webSessions(.session(session), livingAt: .min, ListRequest(limit: 1)).items.first
    }

    /// When the last token of a session expires; nil for a session that has ended.
    package func sessionEnd(_ session: [UInt8]) throws -> Milliseconds? {
        try webSession(session)?.expiresAt
    }

    /// Drops all tokens of a session.
    package func deleteWebTokens(session: [UInt8]) throws { try deleteWebTokens(.session(session)) }

    /// Drops every token of an account.
    package func deleteWebTokens(of account: AccountID) throws {
        try deleteWebTokens(.account(account))
    }
}

/// The people.
package protocol AccountCatalog: Sendable {
    /// Adds an account, with what its person has by the way that they came.
    ///
    /// - Returns: false, with nothing added, for a way that is closed by now.
    /// - Throws: `identityTaken`; `addressTaken` when one of its verified addresses is verified for another account.
    @discardableResult
    func add(
        _ account: AccountRecord, by entrance: AccountEntrance, now: Milliseconds
    ) throws -> Bool
    /// The accounts that some keys lead to.
    func accounts(_ keys: Set<AccountKey>) throws -> [AccountKey: AccountRecord]
    /// The accounts, in the order in which they were made.
    ///
    /// Searched by their addresses as these are compared, verified or not; then in the order of the first
    /// address that was found.
    ///
    /// - Parameter some: only those that one of these containers has given a user record name; nil for all.
    /// - Throws: `UnusableCursor`.
    func accounts(
        _ request: ListRequest, knownIn some: Set<ContainerID>?
    ) throws -> ListPage<AccountRecord>
    /// Changes an account.
    ///
    /// - Throws: `accountUnknown`, `addressTaken`; `passwordChanged`, `letterLinkUnknown` where the basis of the change
    ///   has gone.
    func change(_ account: AccountID, by change: AccountChange) throws
    /// Deletes an account, its addresses and web tokens, and notes which stores must still forget its data.
    ///
    /// - Parameters:
    ///   - publicRecords: what happens to the account's records in public databases.
    ///   - lease: of the process that does it for all; nil for what somebody has asked of any process.
    /// - Throws: `accountUnknown`; `StoreLease.Lost`.
    func delete(
        _ account: AccountID, publicRecords: PublicRecordsFate, by lease: LeaderLease?
    ) throws -> [AccountDeletion]
    /// Deleted accounts whose data a store may still hold, by account and container; searched by the account.
    ///
    /// - Throws: `UnusableCursor`.
    func accountDeletions(_ request: ListRequest) throws -> ListPage<AccountDeletion>
    /// Notes of each that neither store of the container holds data of the account any more.
    func forget(_ deletions: [AccountDeletion]) throws

    /// Notes which accounts are behind user record names.
    ///
    /// - Throws: `containerUnknown`, `accountUnknown`; then nothing is noted.
    func note(_ names: [UserRecordName: AccountID], in container: ContainerID) throws

    /// Who is behind user record names of a container; nobody is behind a name that was never given out.
    func bearers(
        of names: Set<UserRecordName>, in container: ContainerID
    ) throws -> [UserRecordName: NameBearer]
}

/// The way by which somebody comes to an account.
package enum AccountEntrance: Sendable {
    /// It gives them nothing else.
    case plain
    /// A provider, by its name for them.
    case identity(ProvidedIdentity)
    /// The link of an invitation, which is used up: where one of their addresses was invited as an operator, they are
    /// that operator. Closed for a link that does not work now.
    case invitation(link: [UInt8])
    /// The secret of the first operator, which is used up: they may do all. Closed where there is an operator, and for a
    /// secret that is not good now.
    case firstOperator(hash: [UInt8])
}

/// What an account is looked for by.
package enum AccountKey: Hashable, Sendable {
    case id(AccountID)
    /// An address that is verified for it.
    case verified(Address)
    case identity(ProvidedIdentity)
    case passkey(id: [UInt8])
}

/// What changes of an account, all at once; the rest of it stays.
package struct AccountChange: Sendable {
    /// An address that its person has shown to be theirs; their first e-mail address becomes the primary one.
    package let verified: (address: Address, at: Milliseconds)?
    /// The hash of its password.
    package let password: String?
    package let isDiscoverable: Bool?
    package let ended: EndedSessions
    package let basis: AccountChangeBasis

    package init(
        verified: (address: Address, at: Milliseconds)? = nil, password: String? = nil,
        isDiscoverable: Bool? = nil, ended: EndedSessions = .none,
        on basis: AccountChangeBasis = .account
    ) {
        self.verified = verified
        self.password = password
        self.isDiscoverable = isDiscoverable
        self.ended = ended
        self.basis = basis
    }
}

/// What a change of an account rests on; without it nothing changes.
package enum AccountChangeBasis: Sendable {
    /// That there is the account.
    case account
    /// That the hash of its password is still this one.
    case password(String)
    /// A letter's link to a new password, which is used up; it is none of an operator.
    case resetLink(hash: [UInt8], now: Milliseconds)
}

/// What ends of all that acts as an account: browsers' sessions, web tokens, codes and links.
package enum EndedSessions: Sendable, Equatable {
    case none
    /// - Parameter except: the hash of a browser's session that stays; nil for none.
    case all(except: [UInt8]?)
}

/// Who is behind a user record name.
package enum NameBearer: Sendable, Equatable {
    case account(AccountID)
    case serverKey(keyID: String)
}

extension AccountCatalog {
    package func accounts(_ request: ListRequest) throws -> ListPage<AccountRecord> {
        try accounts(request, knownIn: nil)
    }

    /// Adds an account that comes with nothing else.
    package func add(_ account: AccountRecord) throws {
        try add(account, by: .plain, now: account.createdAt)
    }

    package func note(
        _ name: UserRecordName, of account: AccountID, in container: ContainerID
    ) throws { try note([name: account], in: container) }

    package func account(_ id: AccountID) throws -> AccountRecord? { try account(.id(id)) }

    package func account(of identity: ProvidedIdentity) throws -> AccountRecord? {
        try account(.identity(identity))
    }

    package func account(ofPasskey id: [UInt8]) throws -> AccountRecord? {
        try account(.passkey(id: id))
    }

    /// Notes that an address is verified for an account.
    package func verify(_ address: Address, of account: AccountID, now: Milliseconds) throws {
        try change(account, by: AccountChange(verified: (address, at: now)))
    }

    /// The account for which this address is verified.
    package func account(verified address: Address) throws -> AccountRecord? {
        try account(.verified(address))
    }

    private func account(_ key: AccountKey) throws -> AccountRecord? { try accounts([key])[key] }

    /// The account behind a user record name; nil for a name that was never given out, and a server key's.
    package func account(
        named name: UserRecordName, in container: ContainerID
    ) throws -> AccountID? {
        guard case .account(let account) = try bearers(of: [name], in: container)[name] else {
            return nil
        }
        return account
    }

    /// Deletes an account because somebody has asked for it.
    package func delete(
        _ account: AccountID, publicRecords: PublicRecordsFate
    ) throws -> [AccountDeletion] {
        try delete(account, publicRecords: publicRecords, by: nil)
    }

    /// Deletes an account; its public records stay.
    package func delete(_ account: AccountID) throws -> [AccountDeletion] {
        try delete(account, publicRecords: .keep)
    }
}

/// Everything that belongs to the server and not to one container environment.
///
/// # Caching what you read
///
/// ```swift
/// let version = catalog.version      // before the read
/// if kept.version == version { return kept.value }
/// let value = try catalog.apiToken(hash: hash)
/// if catalog.version == version { kept = (version, value) }
/// ```
package protocol CatalogStorage: ContainerCatalog, CredentialCatalog, AccountCatalog,
    PeopleCatalog, BrowserCatalog, LetterCatalog, SecondFactorCatalog,
    AccountEndingCatalog, IdentityCatalog, PasskeyCatalog, PushKeyCatalog, SealedSecretCatalog,
    OperatorCatalog
{
    /// Moves with every change that can make something untrue that was read before.
    ///
    /// Anyone who caches what they read must drop it once this has moved since before the read. It moves before
    /// the changing call returns. It also moves after a failed change, because nobody knows then what is on
    /// disk. It never goes back, and it survives restarts.
    ///
    /// New server keys move it. New API tokens, web tokens and accounts do not.
    ///
    /// Reading it does not wait. An engine may learn of another process's changes a moment later.
    var version: Int { get }

    /// The secret of this name, the same for every caller; the first call for a name stores `made`.
    func secret(_ name: String, orStore made: [UInt8]) throws -> [UInt8]
}
