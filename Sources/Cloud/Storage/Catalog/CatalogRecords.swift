import CloudModel

/// A container that this server holds.
package struct ContainerRecord: Sendable, Equatable {
    package let id: ContainerID
    package let createdAt: Milliseconds
    package var settings: [String: String]

    package init(id: ContainerID, createdAt: Milliseconds, settings: [String: String] = [:]) {
        self.id = id
        self.createdAt = createdAt
        self.settings = settings
    }
}

/// A picture by which people know something, and its name: a digest of it, so that an address with the name
/// always leads to the same picture.
package struct NamedPicture: Sendable, Equatable {
    package let name: String
    package let bytes: [UInt8]

    package init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}

/// What lets an app call one environment of a container; the token itself is not stored.
package struct APITokenRecord: Sendable, Equatable {
    /// SHA-256 of the token.
    package let hash: [UInt8]
    /// Unique over the whole server.
    package let name: String
    package let container: ContainerID
    package let environment: Environment
    /// The serialized origins from which it may be used; empty for any.
    package var origins: [String]
    /// Where sign-in delivers: `post-message` or a URL.
    package let callback: String?
    package let createdAt: Milliseconds
    /// When it last let somebody in, to the minute or so; nil for never.
    package let usedAt: Milliseconds?

    package init(
        hash: [UInt8], name: String, container: ContainerID, environment: Environment,
        origins: [String] = [], callback: String? = nil, createdAt: Milliseconds,
        usedAt: Milliseconds? = nil
    ) {
        self.hash = hash
        self.name = name
        self.container = container
        self.environment = environment
        self.origins = origins
        self.callback = callback
        self.createdAt = createdAt
        self.usedAt = usedAt
    }
}

/// A public key whose holder may sign requests to one environment of a container.
package struct ServerKeyRecord: Sendable, Equatable {
    /// Which databases the key opens (rulings.md 8).
    package enum Scope: String, Sendable, CaseIterable {
        /// The public database, as a user of its own.
        case `public`
        /// Also the private and shared databases of a user whom the request names.
        case container
    }

    /// 64 lower-case hexadecimal digits.
    package let keyID: String
    package let name: String?
    package let container: ContainerID
    package let environment: Environment
    /// SubjectPublicKeyInfo in DER.
    package let publicKeyDER: [UInt8]
    package let scope: Scope
    /// The user that the key is by itself.
    package let userRecordName: UserRecordName
    package let createdAt: Milliseconds
    /// When a request was last believed that it signed, to the minute or so; nil for never.
    package let usedAt: Milliseconds?

    package init(
        keyID: String, name: String?, container: ContainerID, environment: Environment,
        publicKeyDER: [UInt8], scope: Scope, userRecordName: UserRecordName,
        createdAt: Milliseconds, usedAt: Milliseconds? = nil
    ) {
        self.keyID = keyID
        self.name = name
        self.container = container
        self.environment = environment
        self.publicKeyDER = publicKeyDER
        self.scope = scope
        self.userRecordName = userRecordName
        self.createdAt = createdAt
        self.usedAt = usedAt
    }
}

/// A person's account.
package struct AccountRecord: Sendable, Equatable {
    package let id: AccountID
    package let givenName: String?
    package let familyName: String?
    /// The primary address first.
    package var addresses: [AccountAddress]
    /// A salted, slow hash in text form; nil when the account has no password.
    package var password: String?
    package let createdAt: Milliseconds
    /// Whether others find its person by an address.
    package let isDiscoverable: Bool

    package init(
        id: AccountID, givenName: String?, familyName: String?, addresses: [AccountAddress],
        password: String?, createdAt: Milliseconds, isDiscoverable: Bool = false
    ) {
        self.id = id
        self.givenName = givenName
        self.familyName = familyName
        self.addresses = addresses
        self.password = password
        self.createdAt = createdAt
        self.isDiscoverable = isDiscoverable
    }

    /// The e-mail address that names the account in commands.
    package var email: String? { addresses.first { $0.isPrimary }?.address.text }
}

/// An e-mail address or a phone number, as it was given and as it is compared.
package struct Address: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable { case email, phone }

    package let kind: Kind
    package let text: String
    package let folded: String

    /// Makes an address of spellings that the caller has checked.
    package init(kind: Kind, text: String, folded: String) {
        self.kind = kind
        self.text = text
        self.folded = folded
    }

    package static func == (left: Address, right: Address) -> Bool {
        left.kind == right.kind && left.folded == right.folded
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(folded)
    }
}

/// An address as one account holds it.
package struct AccountAddress: Sendable, Equatable {
    package let address: Address
    package let isPrimary: Bool
    /// When the account proved that the address is its own; nil while it has not.
    package let verifiedAt: Milliseconds?

    package init(address: Address, isPrimary: Bool, verifiedAt: Milliseconds?) {
        self.address = address
        self.isPrimary = isPrimary
        self.verifiedAt = verifiedAt
    }
}

/// Where somebody let an app act for them, so that they know one sign-in from another.
package struct SignInSource: Sendable, Equatable {
    package static let unknown = SignInSource(origin: "", device: "")

    /// Of the page that asked, or of the address that the app is called back at; empty for none.
    package let origin: String
    /// What the browser says it is, in a few words; empty for none.
    package let device: String

    package init(origin: String, device: String) {
        self.origin = origin
        self.device = device
    }
}

/// What lets a browser or app act as a user in one environment; the token itself is not stored.
package struct WebTokenRecord: Sendable, Equatable {
    /// SHA-256 of the token.
    package let hash: [UInt8]
    /// Identifies the sign-in: a token and the tokens that replaced it share this value.
    package let session: [UInt8]
    package let account: AccountID
    package let container: ContainerID
    package let environment: Environment
    package let madeAt: Milliseconds
    package let expiresAt: Milliseconds
    /// When one of its session last let somebody in, to the minute or so; nil for never.
    package let usedAt: Milliseconds?
    /// When the session's first token was made.
    package let begunAt: Milliseconds
    package let source: SignInSource

    /// - Parameter begunAt: nil for the first token of its session.
    package init(
        hash: [UInt8], session: [UInt8], account: AccountID, container: ContainerID,
        environment: Environment, madeAt: Milliseconds, expiresAt: Milliseconds,
        usedAt: Milliseconds? = nil, begunAt: Milliseconds? = nil,
        source: SignInSource = .unknown
    ) {
        self.hash = hash
        self.session = session
        self.account = account
        self.container = container
        self.environment = environment
        self.madeAt = madeAt
        self.expiresAt = expiresAt
        self.usedAt = usedAt
        self.begunAt = begunAt ?? madeAt
        self.source = source
    }
}

/// A sign-in of an app: a web token and the tokens that replaced it.
package struct WebSession: Sendable, Equatable {
    package let session: [UInt8]
    package let account: AccountID
    /// The e-mail address that names the account in commands.
    package let email: String?
    package let container: ContainerID
    package let environment: Environment
    /// When the session's first token was made.
    package let begunAt: Milliseconds
    /// When the oldest and the newest of the tokens that are left were made.
    package let madeAt: ClosedRange<Milliseconds>
    /// When the last of them expires.
    package let expiresAt: Milliseconds
    /// When one of them last let somebody in, to the minute or so; nil for never.
    package let usedAt: Milliseconds?
    package let source: SignInSource

    package init(
        session: [UInt8], account: AccountID, email: String?, container: ContainerID,
        environment: Environment, begunAt: Milliseconds, madeAt: ClosedRange<Milliseconds>,
        expiresAt: Milliseconds, usedAt: Milliseconds?, source: SignInSource
    ) {
        self.session = session
        self.account = account
        self.email = email
        self.container = container
        self.environment = environment
        self.begunAt = begunAt
        self.madeAt = madeAt
        self.expiresAt = expiresAt
        self.usedAt = usedAt
        self.source = source
    }
}

/// What lets requests in, by what the catalog finds it by.
package enum UsedCredential: Hashable, Sendable {
    case apiToken(hash: [UInt8])
    case serverKey(keyID: String)
    case operatorToken(hash: [UInt8])
    /// A web token with those that replaced it.
    case webTokens(session: [UInt8])
}

/// A deleted account whose data both stores of a container may still hold.
package struct AccountDeletion: Sendable, Hashable {
    package let account: AccountID
    package let container: ContainerID
    package let userRecordName: UserRecordName
    package let publicRecords: PublicRecordsFate

    package init(
        account: AccountID, container: ContainerID, userRecordName: UserRecordName,
        publicRecords: PublicRecordsFate = .keep
    ) {
        self.account = account
        self.container = container
        self.userRecordName = userRecordName
        self.publicRecords = publicRecords
    }
}
