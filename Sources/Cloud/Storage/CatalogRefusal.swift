/// Why the catalog does not do what was asked; nothing was changed.
package enum CatalogRefusal: Error, Sendable, Equatable {
    case containerExists
    case containerUnknown
    case nameTaken
    case apiTokenUnknown
    case serverKeyUnknown
    case pushKeyUnknown
    case accountUnknown
    case webTokenUnknown
    /// The address is verified as another account's.
    case addressTaken
    case identityProviderUnknown
    /// What a provider says is another account's.
    case identityTaken
    case passkeyTaken
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
        case .passkeyTaken: "the passkey belongs to somebody already"
        case .addressTaken: "the address belongs to another user"
        }
    }
}
