import Accounts
import CloudDatabase
import CloudModel
import JSON
import Storage

/// Which data comes out of a backup.
package enum RestoreSelection: Sendable {
    /// Records of one zone, by their names; of the public database, or of a user's private one.
    case records([String], NamedEnvironment, email: String?, zone: String?)
    /// All of a zone.
    case zone(String, NamedEnvironment, email: String?)
    /// A user's private zones, in one container or in all.
    case user(String, container: String?)
}

/// Takes the data of records, a zone or a user out of a backup, beside what is there.
///
/// Records that were deleted since come back; those that were changed get the backup's values, as a new change; those
/// that were made since stay. When it is cut short and done again, it goes on with what is left. Refusals:
/// `RestoreRefusal`, `RecordsRefusal`; as `NamedEnvironment.store`.
package struct RestoreRecords: AdministrativeAction {
    private let selection: RestoreSelection
    private let backup: BackupRequest
    private let withShares: Bool
    /// Whether it is done, and not only shown.
    private let isMeant: Bool

    package init(
        _ selection: RestoreSelection, from backup: BackupRequest, withShares: Bool, isMeant: Bool
    ) {
        self.selection = selection
        self.backup = backup
        self.withShares = withShares
        self.isMeant = isMeant
    }

    package var name: String {
        switch selection {
        case .records: "record restore"
        case .zone: "zone restore"
        case .user: "user restore"
        }
    }

    /// It opens whatever backup the operator names, with everybody's data.
    package var right: ActionRight { .server.proven }

    package var looksAtPrivateData: Bool { true }

    package var changes: Bool { isMeant }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        switch selection {
        case .records(_, let target, let email, let zone):
            return try subject(target, email, zone ?? ZoneName.defaultZone.text, in: data)
        case .zone(let zone, let target, let email):
            return try subject(target, email, zone, in: data)
        case .user(let email, let container):
            return ActionSubject(
                container: try container.map { try data.containers.find($0).id },
                account: try account(email, in: data))
        }
    }

    private func subject(
        _ target: NamedEnvironment, _ email: String?, _ item: String, in data: any ServerData
    ) throws -> ActionSubject {
        var subject = try ActionSubject(target, in: data, item: item)
        subject.account = try email.flatMap { try account($0, in: data) }
        return subject
    }

    /// Nil for somebody who has no account any more: the backup says whether they were erased.
    private func account(_ email: String, in data: any ServerData) throws -> AccountID? {
        do { return try data.users.find(email: email).id } catch AccountsRefusal.userUnknown {
            return nil
        }
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> RestoreReport {
        var request = backup
        switch selection {
        case .records(_, let target, let email, _), .zone(_, let target, let email):
            request.container = try target.found(in: data).container
            request.email = email
        case .user(let email, let container):
            request.container = try container.map { try data.containers.find($0).id }
            request.email = email
        }
        let asked = request
        return try RecordsRefusal.of {
            try data.readBackup(asked) { backup in
                if let email = asked.email { _ = try data.users.find(email: email) }
                let run = RestoreRun(
                    from: backup, into: data, withShares: withShares, while: asked.goesOn)
                for part in try parts(in: data, backup.data) {
                    try run.collect(part)
                    if isMeant { try run.write(part, by: actor) }
                }
                run.report.isDone = isMeant
                return run.report
            }
        }
    }

    /// What to go through, an environment at a time.
    private func parts(
        in data: any ServerData, _ backup: any ServerData
    ) throws -> [RestoreRun.Part] {
        switch selection {
        case .records(let names, let target, let email, let zone):
            return [
                RestoreRun.Part(
                    TransferTarget(
                        target, of: email, zone: zone ?? ZoneName.defaultZone.text), names: names)
            ]
        case .zone(let zone, let target, let email):
            return [RestoreRun.Part(TransferTarget(target, of: email, zone: zone))]
        case .user(let email, let container):
            let only = try container.map { try data.containers.find($0).id }
            var parts: [RestoreRun.Part] = []
            try backup.forEachEnvironment { target in
                guard only.map({ $0 == target.container }) ?? true else { return }
                let named = NamedEnvironment(target.container.name, target.environment)
                parts.append(RestoreRun.Part(TransferTarget(named, of: email)))
            }
            return parts
        }
    }
}
