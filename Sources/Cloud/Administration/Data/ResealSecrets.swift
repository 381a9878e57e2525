import Accounts
import CloudModel
import Cryptography
import Delivery
import Storage

/// Seals all sealed secrets under the first of the server's keys, so that the others can be given up.
///
/// Each secret changes in one step, and one that is under the first key already is left alone: what is cut
/// short goes on with the next call. Refusals: what `requireKeysAsKept` throws.
package struct ResealSecrets: AdministrativeAction {
    package struct Outcome: Sendable, Equatable {
        /// Sealed anew now.
        package var resealed = 0
        /// Under the first key before.
        package var current = 0
        /// None of the keys opens them: they stay as they are.
        package var unreadable = 0

        package init() {}
    }

    /// Of one transaction, so that no other write waits long.
    private static let batchCount = 100

    package var name: String { "secrets reseal" }

    package var right: ActionRight { .server }

    package init() {}

    package func run(in data: any ServerData, by actor: Operator) throws -> Outcome {
        try data.requireKeysAsKept()
        var outcome = Outcome()
        let catalog = data.accountUseCases.catalog
        var changes: [SealedChange] = []
        func write() throws {
            // What changed meanwhile is sealed by the first key already.
            let count = try catalog.replace(changes)
            outcome.resealed += count
            outcome.current += changes.count - count
            changes = []
        }
        for (location, sealed) in try catalog.sealedSecrets(ownNamed: PushKeys.ownKeyName) {
            guard data.secrets.isStale(sealed) else {
                outcome.current += 1
                continue
            }
            // NB: what does not open is counted, and said.
            guard let secret = try? data.secrets.open(sealed, for: Self.subject(of: location))
            else {
                outcome.unreadable += 1
                continue
            }
            changes.append(
                SealedChange(
                    location: location, previous: sealed,
                    sealed: data.secrets.seal(secret, for: Self.subject(of: location))))
            if changes.count == Self.batchCount { try write() }
        }
        try write()
        try data.forEachEnvironment { location in
            let counted = try location.webhooks(in: data).reseal()
            outcome.resealed += counted.resealed
            outcome.current += counted.current
            outcome.unreadable += counted.unreadable
        }
        return outcome
    }

    private static func subject(of location: SealedSecretLocation) -> SecretSubject {
        switch location {
        case .secondFactor(let account): SecondFactors.subject(account)
        case .identityProvider(let issuer): IdentityProviders.subject(issuer)
        case .pushKey(let container, let topic): PushKeys.subject(topic, of: container)
        case .own: PushKeys.ownKeySubject
        }
    }
}
