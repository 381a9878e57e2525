import CloudModel

/// What becomes of somebody's records in public databases when their account goes.
package enum PublicRecordsFate: String, Sendable, CaseIterable {
    /// They stay, by a name that leads to nobody any more.
    case keep
    /// They stay, and no two of them can be told to be by the same person.
    case anonymous
    case delete
}

/// An account whose owner has asked for its end.
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

/// Accounts that come to their end unless their owners change their mind.
package protocol AccountEndingCatalog: Sendable {
    /// Notes that an account is to end, in place of a former note, and ends all that acts as the account.
    ///
    /// - Throws: `accountUnknown`.
    func set(_ ending: AccountEnding) throws
    func ending(of account: AccountID) throws -> AccountEnding?
    /// - Returns: whether there was one.
    func takeBackEnding(of account: AccountID) throws -> Bool
    /// Those that are due, the longest waiting first.
    func dueEndings(now: Milliseconds, countMax: Int) throws -> [AccountEnding]
}
