import Accounts
import CloudDatabase
import CloudModel
import Storage

/// Removes what the stores hold of accounts that the catalog has deleted.
///
/// Each is an idempotent job: what a crash left undone is done at the next start.
package struct UnfinishedDeletions {
    private let data: any ServerData
    private let goesOn: @Sendable () -> Bool

    /// - Parameter goesOn: asked again and again; false ends the work early.
    package init(
        in data: any ServerData, while goesOn: @escaping @Sendable () -> Bool = { true }
    ) {
        self.data = data
        self.goesOn = goesOn
    }

    /// Does all that are not finished.
    ///
    /// - Returns: what was removed.
    /// - Throws: what the catalog, the stores and the assets' places report; `ErasePerson.Interrupted`. What was
    ///   not reached stays to be done.
    @discardableResult
    package func finish() throws -> ErasePerson.Report {
        var report = ErasePerson.Report()
        for deletion in try data.users.unfinishedDeletions() { report += try finish(deletion) }
        return report
    }

    private func finish(_ deletion: AccountDeletion) throws -> ErasePerson.Report {
        var report = ErasePerson.Report()
        for place in try data.environments() where place.container == deletion.container {
            report += try ErasePerson(
                deletion.userRecordName, publicRecords: deletion.publicRecords,
                in: data.store(of: place.container, in: place.environment),
                depot: data.depot(of: place), while: goesOn
            ).run()
        }
        try data.users.finish(deletion)
        return report
    }
}
