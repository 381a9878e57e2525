import CloudDatabase
import CloudModel
import Cryptography
import Storage

/// Sends a notice of no change to all devices and browsers of a user, by way of the outbox.
///
/// Refusals: `AccountsRefusal.emailIllegal`, `userUnknown`.
package struct TestPush: AdministrativeAction {
    package var name: String { "push test" }

    package var right: ActionRight { .container.ofPerson }

    private let email: String
    private let target: NamedEnvironment

    package init(to email: String, in target: NamedEnvironment) {
        self.email = email
        self.target = target
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(target, in: data, email: email)
    }

    /// - Returns: how it goes to each of them; empty where nothing is registered.
    package func run(in data: any ServerData, by actor: Operator) throws -> [DestinationKind] {
        let container = try target.found(in: data).container
        let user = try data.users.derivedName(of: data.users.find(email: email), in: container)
        let identifier = UniqueID.random(data.random)
        return try target.store(in: data).writeAndWait(caller: .background) { transaction in
            try TestNotice.enqueue(
                for: user, of: container, identifier: identifier, in: transaction
            ).map(\.kind)
        }
    }
}
