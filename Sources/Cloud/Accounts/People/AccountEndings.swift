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
            AccountEnding(account: account, dueAt: due(now: now), publicRecords: publicRecords))
    }

    /// Takes the request back when the owner signs in.
    ///
    /// - Parameter note: told before it is done, where there is something to take back.
    /// - Returns: whether it is taken back; false also where the deletion has begun by then.
    package func takeBack(
        of account: AccountID, now: Milliseconds, noting note: () throws -> Void
    ) throws -> Bool {
        guard let ending = try catalog.ending(of: account), now < ending.dueAt else { return false }
        try note()
        return try catalog.replace(ending, by: nil)
    }

    /// Begins a deletion that is due: nobody takes it back any more, whatever their clock says.
    ///
    /// It stays due until the account is deleted, so one that is cut off here is gone on with.
    ///
    /// - Returns: false for one that was taken back, or is another one by now.
    package func begin(_ ending: AccountEnding) throws -> Bool {
        try catalog.replace(
            ending,
            by: AccountEnding(
                account: ending.account, dueAt: 0, publicRecords: ending.publicRecords))
    }
}
