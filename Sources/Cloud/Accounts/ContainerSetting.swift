/// A setting that each container has for itself.
package enum ContainerSetting: String, CaseIterable, Sendable {
    /// Where a browser goes that opens a share address and has no app for it.
    case fallbackURL
    /// Whether `changes/zone` serves the public database's default zone too (rulings.md 31).
    case publicChanges

    /// Whether the setting can be set to this text.
    func accepts(_ value: String) -> Bool {
        switch self {
        case .fallbackURL:
            WebAddress.isLegal(value) && ["http", "https"].contains(WebAddress.scheme(value))
        case .publicChanges: value == "true" || value == "false"
        }
    }
}
