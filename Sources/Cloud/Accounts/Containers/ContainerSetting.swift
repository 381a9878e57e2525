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
    /// What all databases of an environment may store together.
    case quotaBytes
    /// What each user may store in a private database; in place of the server's setting.
    case userQuotaBytes
    /// What a public database may store; in place of the server's setting.
    case publicQuotaBytes
    /// Requests of everybody to the container, in the long run.
    case requestsPerSecondMax
    /// Records and zones that everybody together saves and deletes in it.
    case recordsPerSecondMax

    /// Those that limit what may be stored or asked.
    package static let limits: [ContainerSetting] = [
        .quotaBytes, .userQuotaBytes, .publicQuotaBytes, .requestsPerSecondMax,
        .recordsPerSecondMax,
    ]

    /// The largest number that every JSON reader keeps exact.
    private static let bytesMax: Int64 = 1 << 53 - 1
    private static let rateMax: Int64 = 1_000_000_000

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
        case .quotaBytes, .userQuotaBytes, .publicQuotaBytes:
            Self.number(value, through: Self.bytesMax)
        case .requestsPerSecondMax, .recordsPerSecondMax: Self.number(value, through: Self.rateMax)
        }
    }

    private static func number(_ text: String, through most: Int64) -> Bool {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            && Int64(text).map { $0 <= most } ?? false
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
        case .quotaBytes, .userQuotaBytes, .publicQuotaBytes: "a number of bytes; 0 for no quota"
        case .requestsPerSecondMax, .recordsPerSecondMax:
            "a number from 0, for no limit, to \(Self.rateMax)"
        }
    }
}
