import CloudModel

/// What an account asks for after its password.
package struct SecondFactor: Sendable, Equatable {
    package let account: AccountID
    /// The sealed secret of the codes.
    package let secret: [UInt8]
    /// The step whose code was used last.
    package let lastStep: Int64
    /// The digests of the recovery codes that are left.
    package let recovery: [[UInt8]]
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

/// What shows who somebody is beside a password, and what was used of it.
package protocol SecondFactorCatalog: Sendable {
    /// Sets or replaces an account's second factor.
    ///
    /// - Throws: `accountUnknown`.
    func set(_ factor: SecondFactor) throws
    func secondFactor(of account: AccountID) throws -> SecondFactor?
    /// Does nothing where there is none.
    func deleteSecondFactor(of account: AccountID) throws
    /// Notes that a step's code was used.
    ///
    /// - Returns: false when it or a later one was used before, and when there is no factor: then the code
    ///   does not count.
    func use(step: Int64, of account: AccountID) throws -> Bool
    /// Replaces the recovery codes that are left.
    ///
    /// - Returns: false when they are not the former ones any more.
    func useRecovery(
        from former: [[UInt8]], leaving rest: [[UInt8]], of account: AccountID
    ) throws -> Bool

    /// Notes that something that works once was used, and drops what has expired by `now`.
    ///
    /// - Returns: false when it was used before.
    func spend(_ hash: [UInt8], expiresAt: Milliseconds, now: Milliseconds) throws -> Bool
}
