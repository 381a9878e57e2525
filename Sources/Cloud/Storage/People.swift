import CloudModel

/// A user of an app with a log-in of its own, as the app describes them.
package struct ExternalUser: Sendable, Equatable {
    /// The app's own name for them.
    package let externalID: String
    package let givenName: String?
    package let familyName: String?
    /// What the app says their address is; nobody has checked it.
    package let email: Address?

    package init(externalID: String, givenName: String?, familyName: String?, email: Address?) {
        self.externalID = externalID
        self.givenName = givenName
        self.familyName = familyName
        self.email = email
    }
}

/// What somebody who looks a person up is told of them.
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

/// How people are found, and how apps bring in their own.
package protocol PeopleCatalog: Sendable {
    /// The account behind an app's user; made with this ID when the container sees them for the first time.
    ///
    /// The address stays unverified. Names that are given later take the place of the former ones.
    ///
    /// - Throws: `containerUnknown`.
    func account(
        of user: ExternalUser, in container: ContainerID, orMake made: AccountID,
        now: Milliseconds
    ) throws -> AccountID

    /// The person with this verified address, if they let themselves be found and have used the container.
    ///
    /// Looks at the same things whether there is an account or not.
    func discoverable(_ address: Address, in container: ContainerID) throws -> DiscoveredPerson?
    /// The person behind a user record name, if they let themselves be found.
    func discoverable(
        _ name: UserRecordName, in container: ContainerID
    ) throws -> DiscoveredPerson?
    func isDiscoverable(_ account: AccountID) throws -> Bool
    /// - Throws: `accountUnknown`.
    func setDiscoverable(_ isDiscoverable: Bool, of account: AccountID) throws
}
