import Accounts
import CloudDatabase
import CloudModel
import Storage

/// Removes what the stores hold of accounts that the catalog has deleted, to the last byte.
///
/// Each is an idempotent job: what a crash left undone is done after the next start.
package struct UnfinishedDeletions {
    /// What came of it.
    package struct Outcome: Sendable {
        package var report = ErasePerson.Report()
        /// When the last byte was gone; nil while there may be some.
        package var goneAt: Milliseconds?
        /// Why something is left, a line each.
        package var left: [String] = []
    }

    private let data: any ServerData
    private let goesOn: @Sendable () -> Bool

    /// - Parameter goesOn: asked again and again; false ends the work early.
    package init(
        in data: any ServerData, while goesOn: @escaping @Sendable () -> Bool = { true }
    ) {
        self.data = data
        self.goesOn = goesOn
    }

    /// Removes what can be asked for, of all that are not finished.
    ///
    /// - Returns: what was removed.
    /// - Throws: what the catalog, the stores and the assets' places report; `ErasePerson.Interrupted`. What was
    ///   not reached stays to be done.
    @discardableResult
    package func removeRecords() throws -> ErasePerson.Report {
        var report = ErasePerson.Report()
        try ListPage.forEachPage(data.users.unfinishedDeletions) { deletions in
            let findings = try data.findings(of: Set(deletions.map(\.container)))
            for deletion in deletions {
                for target in targets(of: deletion, findings) {
                    report += try remove(deletion, target)
                }
            }
        }
        return report
    }

    /// Does all that are not finished: removes, and then overwrites what that and former deletions have left.
    ///
    /// - Throws: as `removeRecords`.
    @discardableResult
    package func finish() throws -> Outcome {
        var outcome = Outcome()
        var after: ListCursor?
        repeat {
            let page = try data.users.unfinishedDeletions(ListRequest(after: after))
            try finish(page.items, &outcome)
            after = page.next
        } while after != nil
        try data.overwriteDeletedInCatalog(while: goesOn)
        if outcome.left.isEmpty { outcome.goneAt = data.clock.now() }
        return outcome
    }

    private func finish(_ deletions: [AccountDeletion], _ outcome: inout Outcome) throws {
        var done: [AccountDeletion] = []
        var touched: Set<ContainerEnvironment> = []
        let findings = try data.findings(of: Set(deletions.map(\.container)))
        for deletion in deletions {
            let targets = targets(of: deletion, findings)
            for target in targets { outcome.report += try remove(deletion, target) }
            let gone = findings.environments(of: deletion.container, .missing)
            outcome.left += gone.map {
                "\(deletion.container.name) \($0.rawValue) is missing: it is done once it is back"
            }
            // Else it is done again, and nothing is overwritten twice.
            guard gone.isEmpty else { continue }
            done.append(deletion)
            touched.formUnion(targets)
        }
        let users = Set(done.map(\.userRecordName.text))
        if !users.isEmpty { try data.requests()?.erase(users) }
        for target in touched { try data.overwriteDeleted(in: target, while: goesOn) }
        try data.users.finish(done)
    }

    private func targets(
        of deletion: AccountDeletion, _ findings: [ContainerEnvironment: StoreFinding]
    ) -> [ContainerEnvironment] {
        findings.environments(of: deletion.container, .there)
            .map { ContainerEnvironment(deletion.container, $0) }
    }

    private func remove(
        _ deletion: AccountDeletion, _ target: ContainerEnvironment
    ) throws -> ErasePerson.Report {
        try ErasePerson(
            deletion.userRecordName, publicRecords: deletion.publicRecords,
            in: data.store(of: target.container, in: target.environment),
            assetStore: data.assetStore(of: target), while: goesOn
        ).run()
    }
}
