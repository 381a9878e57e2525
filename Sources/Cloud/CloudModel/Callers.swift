/// An account on this server: the same person in every container.
///
/// A lower-case UUID; stores hold it, never the person's addresses.
package struct AccountID: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }
}

/// The caller of a request, once its credentials have been checked.
package struct Caller: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// An API token alone: reads of the public database as the role `_world`.
        case world
        /// A user by web token, or a server key acting on behalf of one.
        case user
        /// A server-to-server key by its own identity: the public database only.
        case serverKey
    }

    package let kind: Kind
    /// The name that records carry as creator and modifier; nil for `world`.
    package let userRecordName: UserRecordName?
    /// The account behind a user; nil for `world` and `serverKey`.
    package let account: AccountID?
    /// The key that signs for a user or passes the roles (rulings.md 8), for the log.
    package let keyID: String?
    /// Whether a key of scope `container` signed: it passes the roles on the public database.
    package let passesRoles: Bool

    package init(
        kind: Kind, userRecordName: UserRecordName? = nil, account: AccountID? = nil,
        keyID: String? = nil, passesRoles: Bool = false
    ) {
        self.kind = kind
        self.userRecordName = userRecordName
        self.account = account
        self.keyID = keyID
        self.passesRoles = passesRoles
    }

    package static let world = Caller(kind: .world)
}
