import Accounts
import CloudModel
import Storage

/// A backup that lies open beside the data, in a folder that goes again.
///
/// Accounts that were erased since it was made are erased in it too.
package struct OpenedBackup {
    /// What it holds.
    package let data: any ServerData
    /// Files of the same folder.
    package let files: any TransferFiles

    package init(_ data: any ServerData, files: any TransferFiles) {
        self.data = data
        self.files = files
    }
}

/// Which backup is meant, and what of it.
package struct BackupRequest: Sendable {
    /// A copy, or the folder or `s3://BUCKET/PREFIX` of backups; nil for where this server makes its own.
    package let source: String?
    /// The last backup of that time or before is meant; nil for the last of all.
    package let moment: Milliseconds?
    /// Hears again and again that the work goes on; false ends it.
    package let goesOn: @Sendable () -> Bool
    /// The only container whose data is looked at; nil for all.
    var container: ContainerID?
    /// Whose data is looked at, by an address that somebody gave.
    var email: String?

    package init(
        _ source: String?, at moment: Milliseconds? = nil,
        while goesOn: @escaping @Sendable () -> Bool = { true }
    ) {
        self.source = source
        self.moment = moment
        self.goesOn = goesOn
    }

    /// Whether the data of a container is wanted.
    package func wants(_ container: ContainerID) -> Bool {
        self.container.map { $0 == container } ?? true
    }

    /// Refuses somebody who was erased since the backup was made.
    ///
    /// - Parameter erased: since when, by accounts.
    /// - Throws: `RestoreRefusal`; what the catalogs report.
    package func requireNotErased(
        _ erased: [AccountID: Milliseconds], in backup: any ServerData, here: any ServerData
    ) throws {
        guard let email else { return }
        let catalog = backup.accountUseCases.catalog
        // Who has the address here may have had another one then.
        if let account = try Self.account(email, in: here)?.id, erased[account] == nil,
            try catalog.account(account) != nil
        {
            return
        }
        guard let former = try Self.account(email, in: backup)?.id, let moment = erased[former]
        else { return }
        throw RestoreRefusal(
            "the account was erased at \(Timestamp(moment).text): nothing of it comes back")
    }

    private static func account(
        _ email: String, in data: any ServerData
    ) throws -> AccountRecord? {
        do { return try data.users.find(email: email) } catch AccountsRefusal.userUnknown {
            return nil
        }
    }
}

/// Why nothing was taken out of a backup, in one line.
package struct RestoreRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
