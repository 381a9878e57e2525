import CloudModel

/// The containers and their settings.
///
/// Here and in the other contracts of the catalog, each member is one transaction. What it changes is on disk when
/// it returns, and everybody who reads later sees it; what it refuses, by `CatalogRefusal`, changed nothing. They also throw
/// `StorageFailure`: after `indeterminate` the catalog takes no more changes until it is opened anew.
package protocol ContainerCatalog: Sendable {
    /// - Throws: `containerExists` for a name that differs in nothing but case, too.
    func add(_ container: ContainerRecord) throws
    func container(_ id: ContainerID) throws -> ContainerRecord?
    /// In the order of their folded names.
    func containers() throws -> [ContainerRecord]
    /// Sets the given keys; nil removes one.
    ///
    /// - Throws: `containerUnknown`.
    func set(_ settings: [String: String?], of id: ContainerID) throws
    /// Deletes the container and every token, key and user name in it.
    ///
    /// - Throws: `containerUnknown`.
    func delete(_ id: ContainerID) throws
}

/// What requests are authenticated by.
package protocol CredentialCatalog: Sendable {
    /// - Throws: `containerUnknown`, `nameTaken`.
    func add(_ token: APITokenRecord) throws
    func apiToken(hash: [UInt8]) throws -> APITokenRecord?
    /// In the order of their names.
    func apiTokens() throws -> [APITokenRecord]
    /// - Throws: `apiTokenUnknown`.
    func deleteAPIToken(name: String) throws

    /// - Throws: `containerUnknown`.
    func add(_ key: ServerKeyRecord) throws
    /// In the order in which they were made.
    func serverKeys() throws -> [ServerKeyRecord]
    /// - Throws: `serverKeyUnknown`.
    func deleteServerKey(keyID: String) throws

    /// Adds a token unless it is there already, notes who is behind the user record name, and drops what has expired by `now`.
    ///
    /// - Parameter old: the hash of the token that it replaces, which must still be there: what was
    ///   revoked meanwhile has no successor.
    /// - Throws: `containerUnknown`, `accountUnknown`, `webTokenUnknown`.
    func add(
        _ token: WebTokenRecord, replacing old: [UInt8]?, for user: UserRecordName,
        now: Milliseconds
    ) throws
    func webToken(hash: [UInt8]) throws -> WebTokenRecord?
    /// When the last token of a session ends; nil for a session that has ended.
    func sessionEnd(_ session: [UInt8]) throws -> Milliseconds?
    /// Those of one environment, in the order in which they were made.
    func webTokens(
        in container: ContainerID, _ environment: Environment
    ) throws -> [WebTokenRecord]
    /// Drops a token and all that share its session; does nothing when there are none.
    func deleteWebTokens(session: [UInt8]) throws
    /// Drops every token of an account; does nothing when there are none.
    func deleteWebTokens(of account: AccountID) throws
}

/// The people.
package protocol AccountCatalog: Sendable {
    /// - Throws: `addressTaken` when a verified address is verified as another account's.
    func add(_ account: AccountRecord) throws
    func account(_ id: AccountID) throws -> AccountRecord?
    /// The account whose verified address this is.
    func account(verified address: Address) throws -> AccountRecord?
    /// In the order in which they were made.
    func accounts() throws -> [AccountRecord]
    /// Notes that an address is the account's own; a person's first e-mail address is primary.
    ///
    /// - Throws: `accountUnknown`, `addressTaken`.
    func verify(_ address: Address, of account: AccountID, now: Milliseconds) throws
    /// Deletes the account, its addresses and web tokens; what its stores must forget is kept.
    ///
    /// - Parameter publicRecords: what becomes of the account's records in public databases.
    /// - Throws: `accountUnknown`.
    func delete(
        _ account: AccountID, publicRecords: PublicRecordsFate
    ) throws -> [AccountDeletion]
    /// Deleted accounts whose data some store may still hold.
    func accountDeletions() throws -> [AccountDeletion]
    /// Notes that both stores of the container hold nothing of the account any more.
    func forget(_ deletion: AccountDeletion) throws

    /// Notes who is behind a user record name.
    ///
    /// - Throws: `containerUnknown`, `accountUnknown`.
    func note(_ name: UserRecordName, of account: AccountID, in container: ContainerID) throws

    /// The containers that have a name for an account, in the order of their folded names.
    func containers(usedBy account: AccountID) throws -> [ContainerID]

    /// The account behind a user record name; nil for a name that was never given out.
    func account(named name: UserRecordName, in container: ContainerID) throws -> AccountID?
}

extension AccountCatalog {
    /// Deletes an account whose public records stay.
    package func delete(_ account: AccountID) throws -> [AccountDeletion] {
        try delete(account, publicRecords: .keep)
    }
}

/// Everything that belongs to the server and not to one container environment.
///
/// # Keeping what was read
///
/// ```swift
/// let version = catalog.version      // before the look
/// if kept.version == version { return kept.value }
/// let value = try catalog.apiToken(hash: hash)
/// if catalog.version == version { kept = (version, value) }
/// ```
package protocol CatalogStorage: ContainerCatalog, CredentialCatalog, AccountCatalog,
    PeopleCatalog, BrowserCatalog, LetterCatalog, SecondFactorCatalog,
    AccountEndingCatalog, IdentityCatalog, PasskeyCatalog, PushKeyCatalog
{
    /// Moves, before the change's call returns, with every change that can end what was true; after a failed one, too,
    /// of which nobody knows what is on disk. Never goes back, and stays over a restart.
    ///
    /// Whoever keeps what they read drop it when this has moved since before they read. New API tokens,
    /// web tokens and accounts do not move it; new server keys do. Does not wait: of changes that another process made, an
    /// engine may learn a moment later.
    var version: Int { get }

    /// The secret of this name, the same for all who ever ask; the first call for a name stores `made`.
    func secret(_ name: String, orStore made: [UInt8]) throws -> [UInt8]
}
