import CloudModel

/// What an account must show after its password.
package struct SecondFactor: Sendable, Equatable {
    package let account: AccountID
    /// The secret from which the codes are made, sealed.
    package let secret: [UInt8]
    /// The time step of the code that was used last.
    package var lastStep: Int64
    /// The digests of the recovery codes that are not used yet.
    package var recovery: [[UInt8]]
    package let madeAt: Milliseconds

    package init(
        account: AccountID, secret: [UInt8], lastStep: Int64, recovery: [[UInt8]],
        madeAt: Milliseconds
    ) {
        self.account = account
        self.secret = secret
        self.lastStep = lastStep
        self.recovery = recovery
        self.madeAt = madeAt
    }
}

/// Second factors, and which one-time codes were used.
package protocol SecondFactorCatalog: Sendable {
    /// Sets or replaces an account's second factor.
    ///
    /// - Parameter previous: the one that it takes the place of, where a code of that was used; nil for any or none.
    /// - Returns: false when the stored one is no longer the `previous` one. Then the code does not count.
    /// - Throws: `accountUnknown`.
    @discardableResult
    func set(_ factor: SecondFactor, inPlaceOf previous: SecondFactor?) throws -> Bool

    /// Notes that something that works only once was used, and drops notes that have expired by `now`.
    ///
    /// - Returns: false when it was used before.
    func spend(_ hash: [UInt8], expiresAt: Milliseconds, now: Milliseconds) throws -> Bool
}

extension SecondFactorCatalog {
    /// Sets an account's second factor, in place of any that it had.
    package func set(_ factor: SecondFactor) throws { try set(factor, inPlaceOf: nil) }
}
