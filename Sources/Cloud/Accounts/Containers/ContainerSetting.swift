import CloudModel

/// A setting that each container has for itself.
package enum ContainerSetting: String, CaseIterable, Sendable {
    /// What people know the app by.
    case name
    /// The picture beside it, which the setting names by a digest.
    case icon
    /// The app's own page.
    case website
    /// Where a browser goes that opens a share address and has no app for it.
    case fallbackURL
    /// Whether `changes/zone` serves the public database's default zone too (rulings.md 31).
    case publicChanges

    /// A larger picture does not fit beside a name.
    package static let iconBytesMax = 65_536

    /// Whether the setting can be set to this text; an icon is set to a picture only.
    func accepts(_ value: String) -> Bool {
        switch self {
        // NB: one way to be no name is as good as another.
        case .name: (try? PlainName.checked(value)) != nil
        case .icon: false
        case .website, .fallbackURL:
            WebAddress.isLegal(value) && ["http", "https"].contains(WebAddress.scheme(value))
        case .publicChanges: value == "true" || value == "false"
        }
    }

    /// Whether bytes are a picture that pages can show beside a name.
    package static func isIcon(_ picture: [UInt8]) -> Bool {
        picture.count <= iconBytesMax && PictureKind(of: picture) != nil
    }

    /// What the setting takes, as a phrase.
    package var form: String {
        switch self {
        case .name: "1 to 128 bytes of printable characters"
        case .icon:
            "the path of a PNG, JPEG or WebP picture of at most \(Self.iconBytesMax) bytes"
        case .website, .fallbackURL: "an http or https URL"
        case .publicChanges: "true or false"
        }
    }
}
