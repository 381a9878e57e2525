/// Why an operator's command on accounts is refused; nothing was changed.
package enum AccountsRefusal: Error, Sendable, Equatable {
    case containerNameIllegal
    case settingUnknown
    case settingValueIllegal(ContainerSetting)
    case nameIllegal
    case originIllegal
    case callbackIllegal
    case publicKeyNotPEM
    case publicKeyOfOtherKind
    case publicKeyNotP256
    case emailIllegal
    case phoneIllegal
    case addressIllegal
    case phoneNotInternational
    case userUnknown
    case passwordIllegal
    case passwordNotHashed
    case lifetimeIllegal
    case sessionUnknown
    case externalIDIllegal
    case issuerIllegal
    case clientSecretIllegal
}

extension AccountsRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .containerNameIllegal:
            "a container ID is 1 to 128 letters, digits, dots and hyphens"
        case .settingUnknown:
            "container settings are \(ContainerSetting.allCases.map(\.rawValue).joined(separator: ", "))"
        case .settingValueIllegal(let setting): "\(setting.rawValue) takes \(setting.form)"
        case .nameIllegal: "a name is 1 to 128 printable characters"
        case .originIllegal: "an origin is scheme://host or scheme://host:port, without a path"
        case .callbackIllegal:
            "a callback is post-message or a URL, in production not one of http"
        case .publicKeyNotPEM: "the file is not exactly one key in PEM"
        case .publicKeyOfOtherKind:
            "the file holds no public key (openssl ec -in key.pem -pubout writes it)"
        case .publicKeyNotP256: "the public key is not an uncompressed one on prime256v1"
        case .emailIllegal: "that is not an e-mail address"
        case .phoneIllegal: "a phone number is 5 to 15 digits with an optional + in front"
        case .addressIllegal: "that is neither an e-mail address nor a phone number"
        case .phoneNotInternational: "a phone number begins with + and the country's code here"
        case .userUnknown: "no such user"
        case .passwordIllegal: "a password has 8 to 1024 bytes"
        case .passwordNotHashed: "there is not enough memory to hash a password"
        case .sessionUnknown: "the user has no such web token here; list shows those there are"
        case .issuerIllegal: "an issuer is an https URL without a query"
        case .clientSecretIllegal:
            "a secret has 1 to 4096 bytes; --team and --key go together, with a P-256 key in PEM"
        case .externalIDIllegal: "an externalID is 1 to 128 printable characters"
        case .lifetimeIllegal: "the seconds are not positive or over the limit"
        }
    }
}
