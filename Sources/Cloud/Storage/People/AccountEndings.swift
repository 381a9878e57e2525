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
    /// Notes that an account is to end, or changes that note.
    ///
    /// - Parameters:
    ///   - ending: nil takes the note back.
    ///   - previous: what the note must still be; then nothing ends. Nil for whatever note there is; then all that acts
    ///     as the account ends.
    /// - Returns: whether there was such a note before; false leaves what is not `previous` by now as it is.
    /// - Throws: `accountUnknown`.
    func set(
        _ ending: AccountEnding?, of account: AccountID, inPlaceOf previous: AccountEnding?
    ) throws -> Bool
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
    /// Notes that an account is to end, in place of an earlier note, and ends all that acts as the account.
    ///
    /// - Returns: whether there was a note before.
    /// - Throws: `accountUnknown`.
    @discardableResult
    package func set(_ ending: AccountEnding) throws -> Bool {
        try set(ending, of: ending.account, inPlaceOf: nil)
    }

    /// Replaces a note that is still what the caller has read, and ends nothing.
    ///
    /// - Parameter next: nil takes the note back.
    /// - Returns: false, with nothing changed, where the note is another one by now, or none.
    package func replace(_ ending: AccountEnding, by next: AccountEnding?) throws -> Bool {
        try set(next, of: ending.account, inPlaceOf: ending)
    }

    package func ending(of account: AccountID) throws -> AccountEnding? {
        try endings(.account(account)).first
    }

    /// Endings that are due.
    package func dueEndings(now: Milliseconds, countMax: Int) throws -> [AccountEnding] {
        try endings(.due(by: now, countMax: countMax))
    }
}
