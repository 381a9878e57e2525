import CloudModel
import Storage

/// Deletions of accounts that their owners have asked for.
///
/// An owner who signs in before the deletion
/// is due takes it back.
package struct AccountEndings: Sendable {
    private static let dayMilliseconds: Milliseconds = 86_400_000

    let catalog: any CatalogStorage
    let settings: AccountsSettings

    /// When an account would end if its owner asked for that now.
    package func due(now: Milliseconds) -> Milliseconds {
        now + Milliseconds(settings.deletionGraceDays) * Self.dayMilliseconds
    }

    /// Notes that an account is to end, and signs everything out.
    ///
    /// - Throws: `accountUnknown`.
    package func ask(
        for account: AccountID, publicRecords: PublicRecordsFate, now: Milliseconds
    ) throws {
        try catalog.set(
            AccountEnding(account: account, dueAt: due(now: now), publicRecords: publicRecords),
            of: account)
    }

    /// Takes the request back when the owner signs in.
    ///
    /// - Parameter note: told before it is done, where there is something to take back.
    /// - Returns: whether there was.
    package func takeBack(
        of account: AccountID, now: Milliseconds, noting note: () throws -> Void
    ) throws -> Bool {
        guard let ending = try catalog.ending(of: account), now < ending.dueAt else { return false }
        try note()
        return try catalog.set(nil, of: account)
    }
}
