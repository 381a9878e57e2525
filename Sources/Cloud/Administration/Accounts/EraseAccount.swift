import Accounts
import CloudDatabase
import CloudModel
import Storage

/// Erases somebody: the account, and what every container keeps of them.
///
/// Safe to repeat: it finishes what an earlier attempt left, and does nothing when nothing is left. Refusals:
/// `AccountsRefusal.emailIllegal`.
package struct EraseAccount: AdministrativeAction {
    /// What was erased.
    package struct Outcome: Sendable {
        /// The account as it was; nil when there was none.
        package let account: AccountRecord?
        package let report: ErasePerson.Report
        /// When the last byte of what was erased was gone; nil while some may be there.
        package let goneAt: Milliseconds?
        /// Why something is left, a line each.
        package let left: [String]
    }

    package var name: String { "user erase" }

    package var right: ActionRight { .server.proven }

    private let email: String
    private let publicRecords: PublicRecordsFate

    package init(_ email: String, publicRecords: PublicRecordsFate) {
        self.email = email
        self.publicRecords = publicRecords
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        ActionSubject(account: try found(in: data)?.id, item: publicRecords.rawValue)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> Outcome {
        let account = try found(in: data)
        if let account {
            try data.noteErasure(of: account.id, publicRecords: publicRecords)
            _ = try data.users.delete(email: email, publicRecords: publicRecords)
        }
        let done = try UnfinishedDeletions(in: data).finish()
        return Outcome(
            account: account, report: done.report, goneAt: done.goneAt, left: done.left)
    }

    private func found(in data: any ServerData) throws -> AccountRecord? {
        do {
            return try data.users.find(email: email)
        } catch AccountsRefusal.userUnknown {
            return nil
        }
    }
}
