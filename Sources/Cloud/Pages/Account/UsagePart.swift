import Storage

// What the apps keep of somebody, and what they share by them, on their account page.
extension Pages {
    func usagePart(_ account: AccountRecord) throws -> Markup {
        let usage = try shares?.usage(of: account) ?? []
        guard !usage.isEmpty else { return .nothing }
        let items: [Markup] = usage.map { app in
            """
            <li>\(Self.named(app.app, app.environment))<p class="quiet">\
            \(Texts.amount(app.records, app.bytes))</p></li>
            """
        }
        return "<h2>\(Phrase.kept)</h2><ul>\(items)</ul>"
    }

    /// What somebody shares, and what others share with them; each leads to its page.
    func sharingPart(_ account: AccountRecord) throws -> Markup {
        let all = try shares?.shares(of: account) ?? []
        guard !all.isEmpty else { return .nothing }
        func list(_ title: Phrase, _ shares: [KnownShare]) -> Markup {
            guard !shares.isEmpty else { return .nothing }
            let items: [Markup] = shares.map { share in
                """
                <li><a href="/share/\(share.link)">\(share.title ?? Phrase.untitled.text)</a>\
                <p class="quiet">\(Texts.partners(share))</p></li>
                """
            }
            return "<h3>\(title)</h3><ul>\(items)</ul>"
        }
        return """
            <h2>\(Phrase.sharing)</h2>
            \(list(.sharedByYou, all.filter(\.isOwn)))
            \(list(.sharedWithYou, all.filter { !$0.isOwn }))
            """
    }
}
