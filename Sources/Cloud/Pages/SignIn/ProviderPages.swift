import Accounts
import CloudModel
import Cryptography
import Storage

// Signing in through another server: `/sign-in/with`, and `/sign-in/back`, where that server sends people back
// to.
extension Pages {
    /// Buttons of a sign-in form that lead to providers instead; nothing where there are none.
    ///
    /// They are of the same form so that what is ticked there, to stay signed in, holds for them as well.
    ///
    /// - Parameters:
    ///   - target: where to go on afterwards.
    ///   - isApart: whether the provider is shown in a window of its own. What it sends along could cut the bond
    ///     between this window and the one that opened it.
    func providerButtons(target: String, isApart: Bool) throws -> Markup {
        let offered = try offeredProviders()
        guard !offered.isEmpty else { return .nothing }
        let window: Markup = isApart ? " formtarget=\"_blank\"" : .nothing
        let buttons: [Markup] = offered.map { provider in
            """
            <button class="second" name="provider" value="\(provider.name)" \
            formaction="/sign-in/with" formnovalidate\(window)>\(Phrase.signInWith.text(["provider": provider.name]))\
            </button>
            """
        }
        return """
            <input type="hidden" name="target" value="\(isApart ? "/sign-in/done" : target)">\(buttons)
            """
    }

    /// What leads on from a window beside which a provider was shown; nothing where none is.
    func wentOn(to target: String, isApart: Bool) throws -> Markup {
        guard isApart, !(try offeredProviders()).isEmpty else { return .nothing }
        return "<p><a href=\"\(target)\">\(Phrase.wentOnThere)</a></p>"
    }

    /// Buttons that let further providers let somebody in.
    private func linkButtons(_ visit: Visit, known: [ProvidedIdentity]) throws -> Markup {
        let offered = try offeredProviders().filter { provider in
            !known.contains { $0.issuer == provider.issuer }
        }
        return Markup(
            offered.map { provider in
                visit.form(
                    to: "/sign-in/with",
                    """
                    <input type="hidden" name="do" value="link">
                    <button class="second" name="provider" value="\(provider.name)">\
                    \(Phrase.linkWith.text(["provider": provider.name]))</button>
                    """)
            })
    }

    private func offeredProviders() throws -> [IdentityProviderRecord] {
        accountUseCases.providerSignIn == nil ? [] : try accountUseCases.catalog.identityProviders()
    }

    /// `/sign-in/with`: sends the browser to a provider.
    ///
    /// It answers with a page that goes on by itself. A form that leads to another server would
    /// need permission for that server, by name, on every page that shows the form.
    func signInWith(_ visit: Visit) throws -> PageAnswer {
        let (request, form) = (visit.request, visit.request.form)
        guard visit.action != nil, let providers = accountUseCases.providerSignIn else {
            return .redirect(to: "/sign-in")
        }
        let account = visit.action == .linkProvider ? visit.signedIn?.account.id : nil
        if let wait = try accountUseCases.awayWait(client: request.client, now: request.now) {
            return providerProblem(429, Texts.wait(wait), retry: wait)
        }
        do {
            let begun = try providers.begin(
                at: form["provider"] ?? "", linking: account,
                target: Self.local(form["target"]), isKept: Self.isKept(request),
                browser: visit.browser, now: request.now)
            var answer = PageAnswer(
                title: Phrase.goingThere.text,
                """
                <p><a href="\(begun.address)">\(Phrase.proceed)</a></p>
                """, script: "<meta http-equiv=\"refresh\" content=\"0;url=\(begun.address)\">")
            answer.headers.append(
                request.cookies.setting(
                    .provider, to: begun.pageToken, seconds: ProviderSignIn.awaySeconds))
            return answer
        } catch let failure as ProviderFailure {
            return providerProblem(failure, request)
        }
    }

    /// `POST /sign-in/back`: an answer that comes as a form from another site, without cookies.
    ///
    /// It is sent on to where the browser brings its cookies along; what is not ours counts for nothing there.
    func providerForm(_ request: PageRequest) -> PageAnswer {
        var fields: [(name: String, value: String)] = []
        for name in ["state", "code", "error"] {
            if let value = request.form[name], value.utf8.count <= 4_096 {
                fields.append((name, value))
            }
        }
        return .redirect(to: CallbackAddress.adding(fields, to: "/sign-in/back"))
    }

    /// `GET /sign-in/back`: somebody comes back from a provider.
    func providerBack(_ visit: Visit) throws -> PageAnswer {
        let request = visit.request
        guard let providers = accountUseCases.providerSignIn else {
            return .redirect(to: "/sign-in")
        }
        var answer: PageAnswer
        do {
            let query = request.target.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst()
            let outcome = try providers.finish(
                pageToken: request.cookies[.provider], query: Array(query), browser: visit.browser,
                now: request.now)
            try accountUseCases.cameBack(client: request.client)
            answer =
                outcome.linkedTo == nil
                ? try comeIn(outcome, visit) : try link(outcome, visit)
        } catch let failure as ProviderFailure {
            answer = providerProblem(failure, request)
        }
        answer.headers.append(request.cookies.setting(.provider, to: "", seconds: 0))
        return answer
    }

    private func comeIn(_ outcome: ProviderSignIn.Outcome, _ visit: Visit) throws -> PageAnswer {
        guard let account = try account(behind: outcome, visit) else {
            return PageAnswer(
                403, title: Phrase.signIn.text,
                """
                \(Self.said(.obstacle(
                    Phrase.unknownThere.text(["provider": outcome.providerName]))))
                <p><a href="/sign-in">\(Phrase.signIn)</a></p>
                """)
        }
        return try answer(
            admit(account, visit, isKept: outcome.isKept), visit, leadingTo: outcome.target)
    }

    /// The account that is known by an identity, made where everybody may make one; nil where not.
    private func account(
        behind outcome: ProviderSignIn.Outcome, _ visit: Visit
    ) throws -> AccountRecord? {
        let catalog = accountUseCases.catalog
        if let known = try catalog.account(of: outcome.identity) { return known }
        guard accountUseCases.signUp == .open else { return nil }
        let now = visit.request.now
        func made(_ address: Address?) throws -> AccountRecord {
            let addresses = address.map {
                [AccountAddress(address: $0, isPrimary: true, verifiedAt: now)]
            }
            let account = AccountRecord(
                id: AccountID(UniqueID.random(accountUseCases.random)),
                givenName: outcome.givenName,
                familyName: outcome.familyName, addresses: addresses ?? [], password: nil,
                createdAt: now)
            try catalog.add(account, by: .identity(outcome.identity), now: now)
            return account
        }
        do {
            return try made(outcome.verifiedEmail)
        } catch CatalogRefusal.addressTaken {
            // An address alone never leads to an existing account: its owner signs in and links the identity.
            return try made(nil)
        } catch CatalogRefusal.identityTaken {
            // Made by a second window a moment ago.
            return try catalog.account(of: outcome.identity)
        }
    }

    private func link(_ outcome: ProviderSignIn.Outcome, _ visit: Visit) throws -> PageAnswer {
        guard let signedIn = visit.signedIn, signedIn.account.id == outcome.linkedTo else {
            return providerProblem(.notBegun, visit.request)
        }
        let now = visit.request.now
        do {
            try accountUseCases.note("identity added", signedIn.account.id, now)
            try accountUseCases.catalog.add(
                .identity(outcome.identity), of: signedIn.account.id, now: now)
        } catch CatalogRefusal.identityTaken {
            return providerProblem(409, Phrase.identityTaken.text)
        }
        return .redirect(to: "/account")
    }

    /// A cookie carries it.
    private static let targetBytesMax = 1_500

    /// A page of ours to go on to; the account page for whatever else was sent.
    private static func local(_ target: String?) -> String {
        let roots = ["/sign-in", "/account", "/share"]
        guard let target, target.utf8.count <= Self.targetBytesMax,
            target.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\\") }),
            roots.contains(where: { root in
                guard target.hasPrefix(root) else { return false }
                let next = target.dropFirst(root.count).first
                return next == nil || next == "/" || next == "?"
            })
        else { return "/account" }
        return target
    }

    private func providerProblem(_ failure: ProviderFailure, _ request: PageRequest) -> PageAnswer {
        switch failure {
        case .unknown: return providerProblem(404, Phrase.notHere.text)
        case .unreachable(let reason):
            var answer = providerProblem(502, Phrase.providerSilent.text)
            answer.failure = "an identity provider: \(reason)"
            return answer
        case .notBegun: return providerProblem(403, Phrase.tookTooLong.text)
        case .refused: return providerProblem(403, Phrase.cancelled.text)
        case .notBelieved(let reason):
            var answer = providerProblem(403, Phrase.providerWrong.text)
            answer.failure = "an identity provider: \(reason)"
            return answer
        }
    }

    private func providerProblem(
        _ status: Int, _ problem: String, retry: Int? = nil
    ) -> PageAnswer {
        var answer = PageAnswer(
            status, title: Phrase.signIn.text, said: problem,
            """
            \(Self.said(.obstacle(problem)))
            <p><a href="/sign-in">\(Phrase.signIn)</a></p>
            """)
        if let retry { answer.headers.append(("Retry-After", "\(retry)")) }
        return answer
    }

    // MARK: - On the account page

    /// `/account/identities`: the providers that the person can sign in with.
    func identities(_ visit: Visit) throws -> PageAnswer {
        try signedIn(visit) { signedIn in
            let (account, now) = (signedIn.account, visit.request.now)
            let means = try accountUseCases.catalog.signInMeans(of: account.id)
            let known = means.identities
            if visit.action == .unlinkProvider {
                let issuer = visit.request.form["issuer"]
                // The last way to sign in stays.
                let hasOther =
                    account.password != nil || known.count > 1 || !means.passkeys.isEmpty
                guard hasOther, let identity = known.first(where: { $0.issuer == issuer }) else {
                    return .redirect(to: "/account/identities")
                }
                try accountUseCases.note("identity removed", account.id, now)
                try accountUseCases.catalog.delete(.identity(identity), of: account.id)
                return .redirect(to: "/account/identities")
            }
            let providers = try accountUseCases.catalog.identityProviders()
            let items: [Markup] = known.map { identity in
                let name = providers.first { $0.issuer == identity.issuer }?.name ?? identity.issuer
                return """
                    <li>\(name)\(visit.form("""
                    <input type="hidden" name="issuer" value="\(identity.issuer)">
                    <button class="second" name="do" value="unlink" \
                    aria-label="\(Phrase.unlink): \(name)">\(Phrase.unlink)</button>
                    """))</li>
                    """
            }
            return PageAnswer(
                title: Phrase.identitiesTitle.text,
                """
                <p>\(Phrase.identitiesHint)</p>
                <ul>\(items)</ul>
                \(try linkButtons(visit, known: known))
                <p><a href="/account">\(Phrase.account)</a></p>
                """)
        }
    }
}
