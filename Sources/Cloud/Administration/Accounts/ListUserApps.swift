import Accounts
import CloudModel
import Storage

/// Tells which containers know a user, what each stores for them, and which roles they have there.
///
/// An operator of some containers gets those alone. Refusals: `AccountsRefusal.emailIllegal`, `userUnknown`.
package struct ListUserApps: AdministrativeAction {
    /// One environment of a container that knows the user.
    package struct App: Sendable {
        package let target: ContainerEnvironment
        /// The name that the container knows them by.
        package let user: UserRecordName
        package let usedBytes: Int64
        /// Those of the public database that were given to them.
        package let roles: [String]
        /// All that the environment's schema makes.
        package let knownRoles: [String]
    }

    package var name: String { "user apps" }
    package var changes: Bool { false }
    package var right: ActionRight { .person }

    private let email: String

    package init(of email: String) { self.email = email }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        ActionSubject(account: try data.users.find(email: email).id)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> [App] {
        let account = try data.users.find(email: email)
        var apps: [App] = []
        try ListPage.forEachPage { request in
            try data.accountUseCases.catalog.containers(
                request, usedBy: account.id, among: actor.rights.containers)
        } _: { containers in
            // What one holds that has moved is not to be read here.
            let here = containers.filter { !$0.isElsewhere }.map(\.id)
            let findings = try data.findings(of: Set(here))
            for container in here {
                let user = try data.users.derivedName(of: account, in: container)
                for environment in Environment.allCases {
                    let target = ContainerEnvironment(container, environment)
                    // Of one that is missing it fails, rather than leaving it out.
                    guard let finding = findings[target], finding != .unknown else { continue }
                    let store = try data.store(of: container, in: environment)
                    apps.append(try store.read { try App(of: user, in: target, $0) })
                }
            }
        }
        return apps
    }
}

extension ListUserApps.App {
    fileprivate init(
        of user: UserRecordName, in target: ContainerEnvironment, _ snapshot: any StoreSnapshot
    ) throws {
        let known = try snapshot.schema.roles
        let given = try snapshot.assignedRoles(of: user)
        self.init(
            target: target, user: user,
            usedBytes: try snapshot.owner(named: user)?.usedBytes ?? 0,
            roles: known.filter { given.contains($0.value) }.keys.map(\.text).sorted(),
            knownRoles: known.keys.map(\.text).sorted())
    }
}
