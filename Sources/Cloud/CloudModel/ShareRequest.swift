/// What a request says about a share beside its fields (web-services.md §5.12).
package struct ShareRequest: Sendable {
    /// The record that a new share begins at.
    package struct Root: Sendable {
        package let name: RecordName
        /// The tag of the version that the client saw; nil for a root that is made with its share.
        package let changeTag: String?

        package init(name: RecordName, changeTag: String?) {
            self.name = name
            self.changeTag = changeTag
        }
    }

    package var root: Root?
    /// Nil to leave it as it is.
    package var publicPermission: SharePermission?
    /// The whole list; nil to leave it as it is.
    package var participants: [ParticipantEntry]?
    /// Whether others may ask to take part; nil to leave it as it is.
    package var allowsRequests: Bool?
    /// What is decided of those who have asked.
    package var decisions = AccessDecisions()

    package init(
        root: Root? = nil, publicPermission: SharePermission? = nil,
        participants: [ParticipantEntry]? = nil
    ) {
        self.root = root
        self.publicPermission = publicPermission
        self.participants = participants
    }
}

/// What the owner or an administrator decides of those who ask to take part (rulings.md 50).
package struct AccessDecisions: Sendable, Equatable {
    package var approve: [UserRecordName] = []
    package var deny: [UserRecordName] = []
    package var block: [UserRecordName] = []
    package var unblock: [UserRecordName] = []

    package init() {}
}

/// One entry of the list of participants that a request sends.
package struct ParticipantEntry: Sendable, Equatable {
    package var id: String?
    package var user: UserRecordName?
    /// An e-mail address or a phone number in the form in which it is compared.
    package var address: String?
    package var role: ParticipantRole?
    package var permission: SharePermission?
    /// Whether the entry is for the first person who comes by its own link (rulings.md 49).
    package var isOneTimeLink = false

    /// Whether it is the owner of the zone: of that role, and without a name (rulings.md 47).
    package var isOwner: Bool { role == .owner && user == nil && address == nil }

    package init(
        id: String? = nil, user: UserRecordName? = nil, address: String? = nil,
        role: ParticipantRole? = nil, permission: SharePermission? = nil
    ) {
        self.id = id
        self.user = user
        self.address = address
        self.role = role
        self.permission = permission
    }

    /// The person that an entry names.
    package struct Handle: Hashable, Sendable {
        let id: String?
        let user: UserRecordName?
        let address: String?
    }

    package var handle: Handle { Handle(id: id, user: user, address: address) }

    /// What a list of more than so many participants is refused with.
    package static func tooMany(_ most: Int) -> Fault {
        .badRequest(
            "participants: a share has at most \(most) beside its owner "
                + "(limits.participantsPerShareMax)", detail: .tooManyParticipants)
    }
}

/// A person with an account, as others may see them.
package struct Person: Sendable, Equatable {
    package let givenName: String?
    package let familyName: String?
    /// The e-mail addresses and phone numbers that were found to be their own, as compared.
    package let addresses: Set<String>

    package init(givenName: String?, familyName: String?, addresses: Set<String>) {
        self.givenName = givenName
        self.familyName = familyName
        self.addresses = addresses
    }
}

/// The people behind the user record names of one container: stores hold neither names nor
/// addresses.
package protocol Identities: Sendable {
    /// Nil for a name that nobody signed in has had, and for an account that has been deleted.
    func person(named name: UserRecordName) throws -> Person?
}
