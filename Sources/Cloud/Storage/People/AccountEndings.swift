import CloudModel

/// What happens to a person's records in public databases when their account is deleted.
package enum PublicRecordsFate: String, Sendable, CaseIterable {
    /// The records stay, under a user record name that leads to nobody any more.
    case keep
    /// The records stay, and nobody can tell that two of them are by the same person.
    case anonymous
    case delete
}

/// An account whose owner has asked to delete it.
package struct AccountEnding: Sendable, Equatable {
    package let account: AccountID
    package let dueAt: Milliseconds
    package let publicRecords: PublicRecordsFate

    package init(account: AccountID, dueAt: Milliseconds, publicRecords: PublicRecordsFate) {
        self.account = account
        self.dueAt = dueAt
        self.publicRecords = publicRecords
    }
}

/// Accounts that will be deleted unless their owners change their minds.
package protocol AccountEndingCatalog: Sendable {
    /// Notes that an account is to end, in place of an earlier note, and ends all that acts as the account.
    ///
    /// - Parameter ending: nil takes the note back, and ends nothing.
    /// - Returns: whether there was a note before.
    /// - Throws: `accountUnknown`.
    @discardableResult
    func set(_ ending: AccountEnding?, of account: AccountID) throws -> Bool
    /// The endings that a key leads to, the longest waiting first.
    func endings(_ key: EndingKey) throws -> [AccountEnding]
}

/// What the endings of accounts are looked for by.
package enum EndingKey: Sendable {
    case account(AccountID)
    /// Those that are due by a moment.
    case due(by: Milliseconds, countMax: Int)
}

extension AccountEndingCatalog {
    package func ending(of account: AccountID) throws -> AccountEnding? {
        try endings(.account(account)).first
    }

    /// Endings that are due.
    package func dueEndings(now: Milliseconds, countMax: Int) throws -> [AccountEnding] {
        try endings(.due(by: now, countMax: countMax))
    }
}
