import Accounts
import CloudModel
import Cryptography
import Storage

// What `/account` shows, part by part; what came of a form stands in its part.
extension Pages {
    func accountPage(
        _ visit: Visit, _ signedIn: BrowserSessions.SignedIn, _ outcome: AccountOutcome
    ) throws -> PageAnswer {
        let account = signedIn.account
        return PageAnswer(
            outcome.status, title: Phrase.account.text, said: outcome.said?.saying.text,
            """
            <p>\(Texts.signedInAs(account.fullName, account.email ?? ""))</p>
            \(visit.form(to: "/sign-in/out", "<button class=\"second\">\(Phrase.signOut)</button>"))
            \(try addressesPart(visit, account, outcome))
            \(try findablePart(visit, account.id, outcome))
            \(try sharingPart(account))
            \(try browsersPart(visit, signedIn))
            \(try appsPart(visit, account.id))
            \(try usagePart(account))
            \(passwordPart(visit, account, outcome))
            \(try securityPart(visit, account))
            \(try looksPart(account.id))
            \(dataPart(visit))
            """)
    }

    private func addressesPart(
        _ visit: Visit, _ account: AccountRecord, _ outcome: AccountOutcome
    ) throws -> Markup {
        let held: [Markup] = account.addresses.filter { $0.verifiedAt != nil }.map {
            "<li>\($0.address.text)</li>"
        }
        guard accountUseCases.hasLetters else {
            return "<h2>\(Phrase.addresses)</h2><ul>\(held)</ul>"
        }
        let awaited = try awaited(visit, account)
        var (own, answer): (Saying?, (Address, Saying)?)
        var typed = ""
        if case .address(let address)? = outcome.said?.form, let saying = outcome.said?.saying {
            if let address, awaited.contains(address) {
                answer = (address, saying)
            } else {
                own = saying
                typed = saying.kind == .note ? "" : visit.request.form.filled("address") ?? ""
            }
        }
        var state = own.map { FieldState($0) } ?? .plain
        if !visit.request.isPost, let kept = keptAddress(visit) { (typed, state) = (kept, .first) }
        return """
            <h2>\(Phrase.addresses)</h2><ul>\(held)</ul>
            \(codeForms(visit, awaited, send: "add-address", prove: "prove-address", answer))
            \(Self.said(own))
            \(visit.form("""
            \(addressField(.addAddress, autocomplete: "off", value: typed, state))
            <div class="row"><button class="second" name="do" value="add-address">\
            \(Phrase.sendCode)</button></div>
            """))
            """
    }

    private func findablePart(
        _ visit: Visit, _ account: AccountID, _ outcome: AccountOutcome
    ) throws -> Markup {
        let isDiscoverable = try accountUseCases.catalog.account(account)?.isDiscoverable ?? false
        let isOn: Markup = isDiscoverable ? " checked" : Markup.nothing
        return """
            <h2>\(Phrase.beingFound)</h2>
            \(Self.said(outcome.saying(at: .findable)))
            \(visit.form("""
            <div class="check"><input id="findable" name="findable" type="checkbox" value="1"\
            \(isOn)><label for="findable">\(Phrase.findable)</label></div>
            <button class="second" name="do" value="findable">\(Phrase.save)</button>
            """))
            """
    }

    private func browsersPart(
        _ visit: Visit, _ signedIn: BrowserSessions.SignedIn
    ) throws -> Markup {
        let sessions = try accountUseCases.sessions.list(
            signedIn.account.id, now: visit.request.now)
        let items: [Markup] = sessions.map { session in
            let device = session.device.isEmpty ? Phrase.unknownDevice.text : session.device
            let time = "\(Phrase.lastUsed.text) \(PageDate.moment(session.usedAt))"
            guard session.hash != signedIn.session.hash else {
                return "<li>\(device) (\(Phrase.thisBrowser)), \(time)</li>"
            }
            return """
                <li>\(device), \(time)\(visit.form("""
                <input type="hidden" name="name" value="\(session.name)">
                <button class="second" name="do" value="end-browser" \
                aria-label="\(Phrase.signOut): \(device), \(time)">\(Phrase.signOut)</button>
                """))</li>
                """
        }
        return """
            <h2>\(Phrase.browsers)</h2><ul>\(items)</ul>
            \(visit.form("""
            <button class="second" name="do" value="end-all">\(Phrase.signOutEverywhere)</button>
            """))
            """
    }

    private func appsPart(_ visit: Visit, _ account: AccountID) throws -> Markup {
        // Of very many the first; the others show once some of these are disconnected.
        let sessions = try accountUseCases.catalog.webSessions(
            .account(account), livingAt: visit.request.now, ListRequest())
        let items = try sessions.items.sorted { ($0.begunAt, $0.name) < ($1.begunAt, $1.name) }
            .map { session -> Markup in
                let app = try accountUseCases.label(of: session.container)
                let used = session.usedAt ?? session.madeAt.upperBound
                let times = [
                    "\(Phrase.signedInOn.text) \(PageDate.moment(session.begunAt))",
                    "\(Phrase.lastUsed.text) \(PageDate.moment(used))",
                ]
                let source = [session.source.origin, session.source.device].filter { !$0.isEmpty }
                let details = (source + times).joined(separator: ", ")
                return """
                    <li>\(Self.named(app, session.environment))<p class="quiet">\(details)</p>\
                    \(visit.form("""
                    <input type="hidden" name="name" value="\(session.name)">
                    <button class="second" name="do" value="end-app" \
                    aria-label="\(Phrase.disconnect): \(app.name), \(details)">\
                    \(Phrase.disconnect)</button>
                    """))</li>
                    """
            }
        let list: Markup = items.isEmpty ? "<p>\(Phrase.noApps)</p>" : "<ul>\(items)</ul>"
        return "<h2>\(Phrase.apps)</h2>\(list)"
    }

    private func passwordPart(
        _ visit: Visit, _ account: AccountRecord, _ outcome: AccountOutcome
    ) -> Markup {
        guard account.password != nil else { return .nothing }
        let saying = outcome.saying(at: .password)
        let isNewOne = saying?.kind == .refusal && outcome.status == 422
        let present = isNewOne ? nil : saying.map { FieldState($0) }
        return """
            <h2>\(Phrase.changePassword)</h2>
            \(Self.said(saying))
            \(visit.form("""
            \(Self.hiddenAddress(account.email ?? ""))
            <label for="present">\(Phrase.presentPassword)</label>
            <input id="present" name="present" type="password" autocomplete="current-password" \
            required maxlength="1024"\((present ?? .plain).attributes())>
            \(Self.newPasswordField(isNewOne ? .refused : .plain))
            <div class="row"><button name="do" value="password">\(Phrase.savePassword)</button></div>
            """))
            """
    }
}

extension WebSession {
    /// Names it on its owner's page; lets nobody in.
    var name: String { Hexadecimal.encode(session) }

    static func bytes(named name: String) -> [UInt8]? { Hexadecimal.decode(name) }
}
