import CloudModel

/// The containers and their settings.
///
/// In this and the other contracts of the catalog, each member is one transaction. Once it returns, its
/// change is on disk and every later read sees it. When it throws a `CatalogRefusal`, it has changed nothing.
/// Every member may also throw `StorageFailure`. After `indeterminate`, the catalog takes no more changes
/// until it is opened again.
package protocol ContainerCatalog: Sendable {
    /// Adds a container.
    ///
    /// - Throws: `containerExists`, also when an existing name differs only in case.
    func add(_ container: ContainerRecord) throws
    func container(_ id: ContainerID) throws -> ContainerRecord?
    /// All containers, in the order of their folded names.
    func containers() throws -> [ContainerRecord]
    /// Sets the given keys; nil removes one.
    ///
    /// - Parameter icon: the picture that the setting `icon` names; it goes when that names no picture any
    ///   more, or another one.
    /// - Throws: `containerUnknown`.
    func set(_ settings: [String: String?], icon: NamedPicture?, of id: ContainerID) throws
    /// The picture of whichever container has one of this name; nil for none.
    func icon(named name: String) throws -> [UInt8]?
    /// Deletes a container and every token, key and user record name in it.
    ///
    /// - Throws: `containerUnknown`.
    func delete(_ id: ContainerID) throws
}

extension ContainerCatalog {
    /// Sets keys that name no picture.
    package func set(_ settings: [String: String?], of id: ContainerID) throws {
        try set(settings, icon: nil, of: id)
    }
}

/// What authenticates requests: tokens and keys.
package protocol CredentialCatalog: Sendable {
    /// - Throws: `containerUnknown`, `nameTaken`.
    func add(_ token: APITokenRecord) throws
    func apiToken(hash: [UInt8]) throws -> APITokenRecord?
    /// All API tokens, in the order of their names.
    func apiTokens() throws -> [APITokenRecord]
    /// - Throws: `apiTokenUnknown`.
    func deleteAPIToken(name: String) throws

    /// - Throws: `containerUnknown`.
    func add(_ key: ServerKeyRecord) throws
    /// All server keys, in the order in which they were made.
    func serverKeys() throws -> [ServerKeyRecord]
    /// - Throws: `serverKeyUnknown`.
    func deleteServerKey(keyID: String) throws

    /// Keeps when tokens and keys were last used; those that are not there any more are passed over.
    func note(uses: [UsedCredential: Milliseconds]) throws

    /// Adds a web token unless it is there already.
    ///
    /// Also notes which account is behind its user record name, and drops tokens that have expired by `now`.
    ///
    /// - Parameters:
    ///   - old: the hash of the token that this one replaces. That token must still be there: a token
    ///     that was revoked meanwhile cannot be replaced.
    ///   - sessionsMax: where a token that replaces none finds so many sessions of its account in its environment of
    ///     the container, at least the one that was not in use for the longest ends.
    /// - Throws: `containerUnknown`, `accountUnknown`, `webTokenUnknown`.
    func add(
        _ token: WebTokenRecord, replacing old: [UInt8]?, for user: UserRecordName,
        sessionsMax: Int, now: Milliseconds
    ) throws
    func webToken(hash: [UInt8]) throws -> WebTokenRecord?
    /// The web tokens that some keys lead to, expired ones included, in the order in which they were made.
    func webTokens(_ keys: WebTokenKeys) throws -> [WebTokenRecord]
    /// Drops the web tokens that some keys lead to; does nothing when there are none.
    func deleteWebTokens(_ keys: WebTokenKeys) throws
}

/// What web tokens are looked for by.
package enum WebTokenKeys: Sendable {
    case session([UInt8])
    case account(AccountID)
    case environment(ContainerID, Environment)
}

extension CredentialCatalog {
    /// When the last token of a session expires; nil for a session that has ended.
    package func sessionEnd(_ session: [UInt8]) throws -> Milliseconds? {
        try webTokens(.session(session)).map(\.expiresAt).max()
    }

    /// The web tokens of one environment.
    package func webTokens(
        in container: ContainerID, _ environment: Environment
    ) throws -> [WebTokenRecord] { try webTokens(.environment(container, environment)) }

    /// The web tokens of an account.
    package func webTokens(of account: AccountID) throws -> [WebTokenRecord] {
        try webTokens(.account(account))
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
    /// Adds an account.
    ///
    /// - Throws: `addressTaken` when one of its verified addresses is verified for another account.
    func add(_ account: AccountRecord) throws
    func account(_ id: AccountID) throws -> AccountRecord?
    /// The account for which this address is verified.
    func account(verified address: Address) throws -> AccountRecord?
    /// All accounts, in the order in which they were made.
    func accounts() throws -> [AccountRecord]
    /// Notes that an address is verified for an account; a person's first e-mail address becomes the primary
    /// one.
    ///
    /// - Throws: `accountUnknown`, `addressTaken`.
    func verify(_ address: Address, of account: AccountID, now: Milliseconds) throws
    /// Deletes an account, its addresses and web tokens, and notes which stores must still forget its data.
    ///
    /// - Parameter publicRecords: what happens to the account's records in public databases.
    /// - Throws: `accountUnknown`.
    func delete(
        _ account: AccountID, publicRecords: PublicRecordsFate
    ) throws -> [AccountDeletion]
    /// Deleted accounts whose data a store may still hold.
    func accountDeletions() throws -> [AccountDeletion]
    /// Notes that neither store of the container holds data of the account any more.
    func forget(_ deletion: AccountDeletion) throws

    /// Notes which account is behind a user record name.
    ///
    /// - Throws: `containerUnknown`, `accountUnknown`.
    func note(_ name: UserRecordName, of account: AccountID, in container: ContainerID) throws

    /// The containers in which an account has a user record name, in the order of their folded names.
    func containers(usedBy account: AccountID) throws -> [ContainerID]

    /// The account behind a user record name; nil for a name that was never given out.
    func account(named name: UserRecordName, in container: ContainerID) throws -> AccountID?
}

extension AccountCatalog {
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
    AccountEndingCatalog, IdentityCatalog, PasskeyCatalog, PushKeyCatalog, SealedSecretCatalog
{
    /// Moves with every change that can make something untrue that was read before.
    ///
    /// Whoever caches what they read must drop it once this has moved since before the read. It moves before
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
