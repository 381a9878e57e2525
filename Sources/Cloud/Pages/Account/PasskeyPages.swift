import Accounts
import Cryptography
import Storage

// Passkeys: `/account/passkeys`, and the form by which they sign in. These alone need a script.
extension Pages {
    static let passkeyScript: Markup = "<script src=\"/sign-in/passkey.js\" defer></script>"

    /// A form that a script fills by asking an authenticator; hidden where no script runs.
    private func passkeyForm(
        _ visit: Visit, _ question: Passkeys.Question, to path: String?, attributes: Markup,
        _ content: Markup
    ) -> Markup {
        """
        <form method="post" action="\(path ?? visit.request.target)" hidden \
        data-challenge="\(question.challenge)" data-host="\(accountUseCases.host)" \
        data-problem="\(Phrase.passkeyFailed)"\(attributes)>
        <input type="hidden" name="guard" value="\(visit.formToken)">
        <input type="hidden" name="pass" value="\(question.pageToken)">
        <input type="hidden" name="id"><input type="hidden" name="client-data">
        <input type="hidden" name="data"><input type="hidden" name="signature">
        <p class="problem" role="alert" hidden></p>
        \(content)
        </form>
        """
    }

    /// By which somebody signs in without typing anything; nothing where passkeys do not work.
    func passkeySignInForm(_ visit: Visit, to path: String?) -> Markup {
        guard accountUseCases.passkeys.areOffered else { return .nothing }
        let question = accountUseCases.passkeys.question(
            for: nil, browser: visit.browser, now: visit.request.now)
        return passkeyForm(
            visit, question, to: path, attributes: " data-passkey=\"use\"",
            """
            <input type="hidden" name="step" value="passkey"><input type="hidden" name="keep">
            <button class="second">\(Phrase.passkeySignIn)</button>
            """)
    }

    /// Lets somebody in whose authenticator has answered.
    func attemptPasskey(_ visit: Visit) throws -> SignInOutcome {
        let form = visit.request.form
        let signedIn = try accountUseCases.passkeys.signIn(
            Self.answer(in: form), to: form["pass"], browser: visit.browser,
            now: visit.request.now)
        guard let signedIn else {
            accountUseCases.failed(
                SignInFailure(
                    .passkey, of: nil, from: visit.request.client, at: visit.request.now))
            return .asked(SignInAsking(status: 403, saying: .obstacle(.passkeyFailed)))
        }
        return signedIn.isUserVerified
            ? try welcomeIn(signedIn.account, visit, isKept: Self.isKept(visit.request))
            : try admit(signedIn.account, visit, isKept: Self.isKept(visit.request))
    }

    private static func answer(in form: FormFields) -> Passkeys.Answer {
        Passkeys.Answer(
            id: form["id"] ?? "", clientData: form["client-data"] ?? "",
            data: form["data"] ?? "", signature: form["signature"] ?? "")
    }

    /// `/account/passkeys`.
    func passkeys(_ visit: Visit) throws -> PageAnswer {
        try signedIn(visit) { signedIn in
            let (account, form, now) = (signedIn.account, visit.request.form, visit.request.now)
            switch visit.action {
            case .removePasskey:
                let own = try accountUseCases.catalog.passkeys(of: account.id).map(\.id)
                guard let id = form["name"].flatMap({ Hexadecimal.decode($0) }),
                    own.contains(id), try mayRemovePasskey(of: account)
                else { return try passkeyPage(visit, account, .obstacle(.passkeyLast)) }
                try accountUseCases.note("passkey removed", account.id, now)
                try accountUseCases.catalog.delete(.passkey(id: id), of: account.id)
                return .redirect(to: "/account/passkeys")
            case .addPasskey:
                try accountUseCases.note("passkey added", account.id, now)
                do {
                    let isAdded = try accountUseCases.passkeys.register(
                        Self.answer(in: form), to: form["pass"], name: visit.request.device,
                        of: account.id, browser: visit.browser, now: now)
                    guard isAdded else {
                        return try passkeyPage(visit, account, .obstacle(.passkeyFailed))
                    }
                } catch CatalogRefusal.passkeyTaken {
                    return try passkeyPage(visit, account, .obstacle(.passkeyTaken))
                }
                return .redirect(to: "/account/passkeys")
            default: return try passkeyPage(visit, account)
            }
        }
    }

    /// Whether something else lets somebody in.
    private func mayRemovePasskey(of account: AccountRecord) throws -> Bool {
        if account.password != nil { return true }
        let means = try accountUseCases.catalog.signInMeans(of: account.id)
        return means.passkeys.count > 1 || !means.identities.isEmpty
    }

    private func passkeyPage(
        _ visit: Visit, _ account: AccountRecord, _ saying: Saying? = nil
    ) throws -> PageAnswer {
        let kept = try accountUseCases.catalog.passkeys(of: account.id)
        let items: [Markup] = kept.map { passkey in
            let name = passkey.name.isEmpty ? Phrase.unknownDevice.text : passkey.name
            return """
                <li>\(name), \(Phrase.lastUsed) \(PageDate.text(passkey.usedAt))\(visit.form("""
                <input type="hidden" name="name" value="\(Hexadecimal.encode(passkey.id))">
                <button class="second" name="do" value="remove" \
                aria-label="\(Phrase.passkeyRemove): \(name)">\(Phrase.passkeyRemove)</button>
                """))</li>
                """
        }
        let list: Markup = items.isEmpty ? "<p>\(Phrase.passkeyNone)</p>" : "<ul>\(items)</ul>"
        let question = accountUseCases.passkeys.question(
            for: account.id, browser: visit.browser, now: visit.request.now)
        let handle = Base64.encode(Array(account.id.text.utf8), .urlSafe)
        let known = kept.map { Base64.encode($0.id, .urlSafe) }.joined(separator: " ")
        let adding = passkeyForm(
            visit, question, to: nil,
            attributes: """
                 data-passkey="make" data-user="\(handle)" \
                data-name="\(account.email ?? account.fullName)" \
                data-known="\(known)" data-server="\(mark.name)"
                """,
            """
            <input type="hidden" name="do" value="add">
            <button>\(Phrase.passkeyAdd)</button>
            """)
        return PageAnswer(
            saying == nil ? 200 : 422, title: Phrase.passkeysTitle.text, said: saying?.text,
            """
            \(Self.said(saying))
            <p>\(Phrase.passkeysHint)</p>
            \(list)
            \(adding)
            <noscript><p>\(Phrase.passkeyNeedsScript)</p></noscript>
            <p><a href="/account">\(Phrase.account)</a></p>
            """, policy: PageAnswer.Policy(runsScript: true), script: Self.passkeyScript)
    }
}
