import CloudModel

/// A user of an app that has its own log-in, as the app describes them.
package struct ExternalUser: Sendable, Equatable {
    /// The app's own name for them.
    package let externalID: String
    package let givenName: String?
    package let familyName: String?
    /// The address that the app gave for them; nobody has checked it.
    package let email: Address?

    package init(externalID: String, givenName: String?, familyName: String?, email: Address?) {
        self.externalID = externalID
        self.givenName = givenName
        self.familyName = familyName
        self.email = email
    }
}

/// What the server tells somebody who looks a person up.
package struct DiscoveredPerson: Sendable, Equatable {
    package let userRecordName: UserRecordName
    package let givenName: String?
    package let familyName: String?

    package init(userRecordName: UserRecordName, givenName: String?, familyName: String?) {
        self.userRecordName = userRecordName
        self.givenName = givenName
        self.familyName = familyName
    }
}

/// What a person is looked up by.
package enum PersonKey: Sendable {
    /// An address, which counts where it is verified.
    case address(Address)
    /// The name behind which the container knows them.
    case name(UserRecordName)
}

/// How people find each other, and how apps bring in users of their own.
package protocol PeopleCatalog: Sendable {
    /// The account of an app's user; makes it with this ID when the container sees the user for the first
    /// time.
    ///
    /// The address stays unverified. Later names replace earlier ones.
    ///
    /// - Throws: `containerUnknown`.
    func account(
        of user: ExternalUser, in container: ContainerID, orMake made: AccountID,
        now: Milliseconds
    ) throws -> AccountID

    /// The person whom a key leads to, if they let others find them and have used the container.
    ///
    /// Looks at the same things whether there is such an account or not.
    func discoverable(_ key: PersonKey, in container: ContainerID) throws -> DiscoveredPerson?
}

extension PeopleCatalog {
    /// The person with this verified address.
    package func discoverable(
        _ address: Address, in container: ContainerID
    ) throws -> DiscoveredPerson? { try discoverable(.address(address), in: container) }

    /// The person behind a user record name.
    package func discoverable(
        _ name: UserRecordName, in container: ContainerID
    ) throws -> DiscoveredPerson? { try discoverable(.name(name), in: container) }
}
