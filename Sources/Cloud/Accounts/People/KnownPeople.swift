import CloudModel
import Storage
import Synchronization

/// Caches the people behind the user record names of each container.
///
/// A cache: every process has its own, and the catalog's version ends what is in it.
package final class KnownPeople: Sendable {
    private struct Key: Hashable {
        let container: ContainerID
        let name: UserRecordName
    }

    private struct Known {
        var people: [Key: Person] = [:]
        /// What was true at another version of the catalog may have ended.
        var version = 0
    }

    /// Then all are forgotten: what is asked for often is soon known again.
    private static let peopleMax = 20_000

    private let catalog: any CatalogStorage
    private let known = Mutex(Known())

    package init(catalog: any CatalogStorage) { self.catalog = catalog }

    /// Hears of people whose accounts were read.
    ///
    /// - Parameter version: the catalog's before they were; where it has moved since, nothing is kept.
    package func know(
        _ accounts: [UserRecordName: AccountRecord], in container: ContainerID, asOf version: Int
    ) {
        guard version == catalog.version else { return }
        known.withLock { known in
            if known.version != version { known = Known(version: version) }
            for (name, account) in accounts {
                known.people[Key(container: container, name: name)] = Person(account)
            }
        }
    }

    /// The people as one container knows them.
    package func people(of container: ContainerID) -> any Identities {
        ContainerPeople(container: container, all: self)
    }

    private struct ContainerPeople: Identities {
        let container: ContainerID
        let all: KnownPeople

        func person(named name: UserRecordName) throws -> Person? {
            try all.person(named: name, in: container)
        }
    }

    private func person(named name: UserRecordName, in container: ContainerID) throws -> Person? {
        let key = Key(container: container, name: name)
        let version = catalog.version
        let found = known.withLock { known in
            if known.version != version || known.people.count >= Self.peopleMax {
                known = Known(version: version)
            }
            return known.people[key]
        }
        if let found { return found }
        // An unknown name is not remembered: a new user does not move the version.
        guard let id = try catalog.account(named: name, in: container),
            let account = try catalog.account(id)
        else { return nil }
        let person = Person(account)
        known.withLock { known in
            if known.version == version { known.people[key] = person }
        }
        return person
    }
}

extension Person {
    /// An account as others may come to see it.
    package init(_ account: AccountRecord) {
        self.init(
            givenName: account.givenName, familyName: account.familyName,
            addresses: Set(
                account.addresses.filter { $0.verifiedAt != nil }.map(\.address.folded)))
    }
}
