import CloudModel

/// A passkey as it is stored.
package struct StoredPasskey: Sendable, Equatable {
    /// The credential ID that the authenticator gave it.
    package let id: [UInt8]
    package let account: AccountID
    /// The public key as a COSE_Key.
    package let publicKey: [UInt8]
    /// How often it was used, as the authenticator says it, which need not count.
    package let signCount: UInt32
    /// The name that its owner gave it.
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
    /// Notes that a passkey was used.
    ///
    /// - Returns: false when another use came in between, or when the passkey was removed.
    func use(
        passkey id: [UInt8], from previous: UInt32, to signCount: UInt32, now: Milliseconds
    ) throws -> Bool
}
