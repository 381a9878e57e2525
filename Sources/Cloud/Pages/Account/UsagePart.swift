import Storage

// What the apps keep of somebody, on their account page.
extension Pages {
    func usagePart(_ account: AccountRecord) throws -> Markup {
        let usage = try shares?.usage(of: account) ?? []
        guard !usage.isEmpty else { return .nothing }
        let items: [Markup] = usage.map { app in
            """
            <li>\(app.app) (\(app.environment.rawValue)): \(Texts.amount(app.records, app.bytes))</li>
            """
        }
        return "<h2>\(Phrase.kept)</h2><ul>\(items)</ul>"
    }
}
