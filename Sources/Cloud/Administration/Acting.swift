import CloudModel
import Storage

/// On whose behalf an operator acts, and where: nowhere else, and as nobody else meanwhile.
package struct Acting: Sendable, Equatable {
    package let account: AccountID
    /// What operators know the person by: the address, where there is one.
    package let name: String
    package let target: ContainerEnvironment

    package init(_ account: AccountID, named name: String, in target: ContainerEnvironment) {
        self.account = account
        self.name = name
        self.target = target
    }

    /// Whether what an action is about is this person's, here.
    func covers(_ subject: ActionSubject) -> Bool {
        subject.account == account && subject.container == target.container
            && [nil, target.environment].contains(subject.environment)
    }
}

extension Acting: CustomStringConvertible {
    package var description: String {
        "\(name) in \(target.container.name), \(target.environment.rawValue)"
    }
}

/// Begins to act as somebody in a container environment: it is noted once, and they read it at their account.
///
/// Refusals: `AccountsRefusal.emailIllegal`, `userUnknown`; `CatalogRefusal.containerUnknown`.
package struct ActAs: AdministrativeAction {
    package var name: String { "act as" }
    package var changes: Bool { false }
    package var right: ActionRight { .container.proven }
    package var looksAtPrivateData: Bool { true }

    private let email: String
    private let target: NamedEnvironment

    package init(_ email: String, in target: NamedEnvironment) {
        self.email = email
        self.target = target
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(target, in: data, email: email)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> Acting {
        let account = try data.users.find(email: email)
        return Acting(
            account.id, named: account.nameForOperators, in: try target.found(in: data))
    }
}

extension AccountRecord {
    /// What operators know somebody by: the address, else the account's ID.
    package var nameForOperators: String { email ?? id.text }
}
