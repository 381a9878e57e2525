/// Why the catalog refuses a request; it has changed nothing.
package enum CatalogRefusal: Error, Sendable, Equatable {
    case containerExists
    case containerUnknown
    case nameTaken
    case apiTokenUnknown
    case serverKeyUnknown
    case pushKeyUnknown
    case accountUnknown
    case webTokenUnknown
    /// The address is a verified address of another account.
    case addressTaken
    case identityProviderUnknown
    /// The provider's identity already belongs to another account.
    case identityTaken
    case passkeyTaken
    case operatorUnknown
    case operatorTokenUnknown
    /// The account's password is another one by now than the caller has compared.
    case passwordChanged
    case letterLinkUnknown
    case browserSessionUnknown
    case signInCodeUnknown
}

extension CatalogRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .containerExists: "a container of that name exists"
        case .containerUnknown: "no such container"
        case .nameTaken: "the name is taken"
        case .apiTokenUnknown: "no such API token"
        case .serverKeyUnknown: "no such server key"
        case .pushKeyUnknown: "no such push key"
        case .accountUnknown: "no such user"
        case .webTokenUnknown: "no such web token"
        case .identityProviderUnknown: "no such identity provider"
        case .identityTaken: "the identity belongs to another user"
        case .operatorUnknown: "no such operator"
        case .operatorTokenUnknown: "no such operator token"
        case .passwordChanged: "the password has changed meanwhile"
        case .letterLinkUnknown: "no such link of a letter"
        case .browserSessionUnknown: "no such session of a browser"
        case .signInCodeUnknown: "no such sign-in code"
        case .passkeyTaken: "the passkey belongs to somebody already"
        case .addressTaken: "the address belongs to another user"
        }
    }
}
