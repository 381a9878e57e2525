import CloudModel
import Storage

extension WebTokens {
    /// The user that an app with its own sign-in asks a token for.
    package enum Bearer: Sendable {
        /// A user of the container.
        case known(UserRecordName)
        /// A user of the app's, who gets an account when the container sees them for the first time.
        case external(ExternalUser)
    }

    /// Makes the first token of a session for a user that an app has signed in.
    ///
    /// Only for callers that may act for every user of the container. An address that comes with an app's user
    /// is never believed, and never leads to an account that is there already.
    ///
    /// - Parameter seconds: the life of it and of those that replace it, at most that of a user who stays
    ///   signed in; nil for that of one who does not.
    /// - Throws: `userUnknown` for a name that nobody has, `lifetimeIllegal`, `containerUnknown`.
    package func mint(
        for bearer: Bearer, container: ContainerID, environment: Environment, seconds: Int? = nil,
        now: Milliseconds
    ) throws -> Created {
        let seconds = seconds ?? settings.webTokenSeconds
        guard (1...settings.keptWebTokenSeconds).contains(seconds) else {
            throw AccountsRefusal.lifetimeIllegal
        }
        let account: AccountID
        switch bearer {
        case .known(let name):
            guard let known = try catalog.account(named: name, in: container) else {
                throw AccountsRefusal.userUnknown
            }
            account = known
        case .external(let user):
            account = try catalog.account(
                of: user, in: container, orMake: newAccountID(), now: now)
        }
        return try begin(
            for: account, container: container, environment: environment, seconds: seconds,
            now: now)
    }
}

extension ExternalUser {
    /// What an app says of one of its users.
    ///
    /// - Throws: `externalIDIllegal`, `nameIllegal`, `emailIllegal`.
    package init(
        externalID: String, givenName: String?, familyName: String?, email: String?
    ) throws(AccountsRefusal) {
        do {
            _ = try PlainName.checked(externalID)
        } catch {
            throw .externalIDIllegal
        }
        self.init(
            externalID: externalID, givenName: try PlainName.checked(givenName),
            familyName: try PlainName.checked(familyName), email: try email.map(AddressFormat.email)
        )
    }
}
