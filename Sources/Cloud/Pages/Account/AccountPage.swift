import Accounts
import CloudModel
import Storage

// `/account`: what somebody sees and changes of their own account.
extension Pages {
    /// What came of a change, said above the page.
    private struct Outcome {
        var status = 200
        var problem: String?
        var note: String?
        /// The address for which a code is awaited.
        var awaited: String?
    }

    func account(_ visit: Visit) throws -> PageAnswer {
        guard let signedIn = visit.signedIn else { return .redirect(to: "/sign-in") }
        guard visit.action != nil else { return try page(visit, signedIn, Outcome()) }
        let outcome = try change(visit, signedIn)
        guard outcome.problem == nil, outcome.note == nil, outcome.awaited == nil else {
            // Read anew, to show what has changed.
            let current = try reception.catalog.account(signedIn.account.id) ?? signedIn.account
            return try page(
                visit, BrowserSessions.SignedIn(account: current, session: signedIn.session),
                outcome)
        }
        return .redirect(to: "/account")
    }

    private func change(
        _ visit: Visit, _ signedIn: BrowserSessions.SignedIn
    ) throws -> Outcome {
        let (form, account) = (visit.request.form, signedIn.account.id)
        switch visit.action {
        case .endBrowser:
            try reception.sessions.end(named: form["name"] ?? "", of: account)
            return Outcome()
        case .endApp:
            try endApp(form["name"] ?? "", of: account)
            return Outcome()
        case .endAll:
            try reception.sessions.endAll(of: account, except: signedIn.session)
            return Outcome()
        case .beFindable:
            try reception.catalog.setDiscoverable(form["findable"] != nil, of: account)
            return Outcome(note: Phrase.saved.text)
        case .changePassword: return try changePassword(visit, signedIn)
        case .addAddress: return try addAddress(visit, signedIn)
        case .proveAddress: return try proveAddress(visit, signedIn)
        default: return Outcome()
        }
    }

    private func endApp(_ name: String, of account: AccountID) throws {
        for token in try reception.catalog.webTokens(of: account) where token.sessionName == name {
            try reception.catalog.deleteWebTokens(session: token.session)
        }
    }

    private func changePassword(
        _ visit: Visit, _ signedIn: BrowserSessions.SignedIn
    ) throws -> Outcome {
        let proof = try reception.signIn.run(
            PasswordSignIn.Attempt(
                address: signedIn.account.email ?? "", password: typed(visit, "present"),
                client: visit.request.client, device: visit.request.cookies[.device]),
            now: visit.request.now)
        switch proof {
        case .wrong: return Outcome(status: 403, problem: Phrase.wrong.text)
        case .unavailable: return Outcome(status: 503, problem: Phrase.unavailable.text)
        case .wait(let seconds): return Outcome(status: 429, problem: Texts.wait(seconds))
        case .signedIn: break
        }
        do {
            try reception.passwords.set(
                typed(visit, "password"), of: signedIn.account.id, except: signedIn.session.hash)
            return Outcome(note: Phrase.changed.text)
        } catch AccountsRefusal.passwordIllegal {
            return Outcome(status: 422, problem: Phrase.passwordRefused.text)
        }
    }

    private func addAddress(
        _ visit: Visit, _ signedIn: BrowserSessions.SignedIn
    ) throws -> Outcome {
        guard let address = reachable(visit.request.form.filled("address")) else {
            return Outcome(status: 422, problem: addressProblem)
        }
        let outcome = try reception.letters.ask(
            for: .address, to: address, of: signedIn.account.id,
            from: visit.request.client,
            language: Phrasebook.current.tag, now: visit.request.now)
        if case .wait(let seconds) = outcome {
            return Outcome(status: 429, problem: Texts.wait(seconds))
        }
        return Outcome(note: Phrase.codeSent.text, awaited: address.text)
    }

    private func proveAddress(
        _ visit: Visit, _ signedIn: BrowserSessions.SignedIn
    ) throws -> Outcome {
        let text = visit.request.form.filled("address") ?? ""
        guard let address = reachable(text) else {
            return Outcome(status: 422, problem: addressProblem)
        }
        do {
            let outcome = try reception.letterAnswers.prove(
                address, of: signedIn.account.id, code: visit.request.form["code"] ?? "",
                now: visit.request.now)
            return outcome == .right
                ? Outcome(note: Phrase.addressProved.text)
                : Outcome(status: 422, problem: Phrase.codeWrong.text, awaited: text)
        } catch CatalogRefusal.addressTaken {
            return Outcome(status: 422, problem: Phrase.addressTaken.text)
        }
    }

    // MARK: - Showing it

    private func page(
        _ visit: Visit, _ signedIn: BrowserSessions.SignedIn, _ outcome: Outcome
    ) throws -> PageAnswer {
        let account = signedIn.account
        return PageAnswer(
            outcome.status, title: Phrase.account.text,
            """
            \(Self.alert(outcome.problem))\(Self.note(outcome.note))
            <p>\(Texts.signedInAs(account.fullName, account.email ?? ""))</p>
            \(visit.form(to: "/sign-in/out", "<button class=\"second\">\(Phrase.signOut)</button>"))
            \(addressesPart(visit, account, outcome))
            \(try browsersPart(visit, signedIn))
            \(try appsPart(visit, account.id))
            \(try usagePart(account))
            \(try findablePart(visit, account.id))
            \(passwordPart(visit, account))
            \(try securityPart(visit, account))
            \(dataPart(visit))
            """)
    }

    private func addressesPart(
        _ visit: Visit, _ account: AccountRecord, _ outcome: Outcome
    ) -> Markup {
        let held: [Markup] = account.addresses.filter { $0.verifiedAt != nil }.map {
            "<li>\($0.address.text)</li>"
        }
        var forms = Markup.nothing
        if let awaited = outcome.awaited {
            forms = visit.form(
                """
                <input type="hidden" name="address" value="\(awaited)">
                <label for="code">\(Self.codeLabel(for: awaited)) (\(awaited))</label>
                <input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" \
                required maxlength="12">
                <div class="row"><button name="do" value="prove-address">\(Phrase.proveAddress)\
                </button></div>
                """)
        } else if reception.hasLetters {
            forms = visit.form(
                """
                \(addressField(.addAddress, autocomplete: "off"))
                <div class="row"><button class="second" name="do" value="add-address">\
                \(Phrase.sendCode)</button></div>
                """)
        }
        return "<h2>\(Phrase.addresses)</h2><ul>\(held)</ul>\(forms)"
    }

    private func browsersPart(
        _ visit: Visit, _ signedIn: BrowserSessions.SignedIn
    ) throws -> Markup {
        let sessions = try reception.sessions.list(signedIn.account.id, now: visit.request.now)
        let items: [Markup] = sessions.map { session in
            let device = session.device.isEmpty ? Phrase.unknownDevice.text : session.device
            let time = "\(Phrase.lastUsed.text) \(PageDate.text(session.usedAt))"
            guard session.hash != signedIn.session.hash else {
                return "<li>\(device) (\(Phrase.thisBrowser)), \(time)</li>"
            }
            return """
                <li>\(device), \(time)\(visit.form("""
                <input type="hidden" name="name" value="\(session.name)">
                <button class="second" name="do" value="end-browser" \
                aria-label="\(Phrase.revoke): \(device)">\(Phrase.revoke)</button>
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
        var newest: [String: WebTokenRecord] = [:]
        for token in try reception.catalog.webTokens(of: account)
        where token.expiresAt > visit.request.now { newest[token.sessionName] = token }
        let items: [Markup] = newest.sorted { $0.value.madeAt < $1.value.madeAt }.map {
            name, token in
            let app = "\(token.container.name) (\(token.environment.rawValue))"
            return """
                <li>\(app), \(Phrase.lastUsed) \(PageDate.text(token.madeAt))\(visit.form("""
                <input type="hidden" name="name" value="\(name)">
                <button class="second" name="do" value="end-app" \
                aria-label="\(Phrase.revoke): \(app)">\(Phrase.revoke)</button>
                """))</li>
                """
        }
        let list: Markup = items.isEmpty ? "<p>\(Phrase.noApps)</p>" : "<ul>\(items)</ul>"
        return "<h2>\(Phrase.apps)</h2>\(list)"
    }

    private func findablePart(_ visit: Visit, _ account: AccountID) throws -> Markup {
        let isOn: Markup =
            try reception.catalog.isDiscoverable(account) ? " checked" : Markup.nothing
        return visit.form(
            """
            <div class="check"><input id="findable" name="findable" type="checkbox" value="1"\
            \(isOn)><label for="findable">\(Phrase.findable)</label></div>
            <button class="second" name="do" value="findable">\(Phrase.save)</button>
            """)
    }

    private func passwordPart(_ visit: Visit, _ account: AccountRecord) -> Markup {
        guard account.password != nil else { return .nothing }
        return """
            <h2>\(Phrase.changePassword)</h2>
            \(visit.form("""
            \(Self.hiddenAddress(account.email ?? ""))
            <label for="present">\(Phrase.presentPassword)</label>
            <input id="present" name="present" type="password" autocomplete="current-password" \
            required maxlength="1024">
            \(Self.newPasswordField)
            <div class="row"><button name="do" value="password">\(Phrase.savePassword)</button></div>
            """))
            """
    }
}

extension WebTokenRecord {
    /// Names its session on its owner's page; lets nobody in.
    fileprivate var sessionName: String { session.map { String($0, radix: 16) }.joined() }
}
