import CloudModel

/// A passkey as it is kept.
package struct StoredPasskey: Sendable, Equatable {
    /// What the authenticator calls it.
    package let id: [UInt8]
    package let account: AccountID
    /// A COSE_Key.
    package let publicKey: [UInt8]
    /// How often it was used, by the authenticator's own count; 0 for one that does not count.
    package let signCount: UInt32
    /// What its owner knows it by.
    package let name: String
    package let madeAt: Milliseconds
    package let usedAt: Milliseconds

    package init(
        id: [UInt8], account: AccountID, publicKey: [UInt8], signCount: UInt32, name: String,
        madeAt: Milliseconds, usedAt: Milliseconds
    ) {
        self.id = id
        self.account = account
        self.publicKey = publicKey
        self.signCount = signCount
        self.name = name
        self.madeAt = madeAt
        self.usedAt = usedAt
    }
}

/// The passkeys of accounts.
package protocol PasskeyCatalog: Sendable {
    /// - Throws: `accountUnknown`, `passkeyTaken` for an id that is there.
    func add(_ passkey: StoredPasskey) throws
    func passkey(id: [UInt8]) throws -> StoredPasskey?
    /// In the order in which they were made.
    func passkeys(of account: AccountID) throws -> [StoredPasskey]
    /// Notes a use.
    ///
    /// - Returns: false when it was used otherwise meanwhile, or removed.
    func use(
        passkey id: [UInt8], from former: UInt32, to signCount: UInt32, now: Milliseconds
    ) throws -> Bool
    /// Does nothing for another's.
    func deletePasskey(id: [UInt8], of account: AccountID) throws
}
