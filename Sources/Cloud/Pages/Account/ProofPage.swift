import Accounts
import Storage

// `/account/prove`: where people sign in again before a sensitive change.
extension Pages {
    private static let root = "account/"

    /// The address at which people sign in again on their way to a page.
    func proofAddress(for page: PageName, _ visit: Visit) -> String {
        // Identities are linked from their page, by way of another.
        let page = page == .provider ? .identities : page
        let address = "/\(PageName.prove.rawValue)"
        if page == .account { return self.address(address, keepingAddressOf: visit) }
        guard page.isShownByProof else {
            let path = String(visit.request.target.prefix { $0 != "?" })
            return self.address(address, leadingTo: ShareReturnPath(path), visit)
        }
        return "\(address)?to=\(page.rawValue.dropFirst(Self.root.count))"
    }

    /// Shows a page of the account to a visitor who is signed in, and sends others to the sign-in.
    func signedIn(
        _ visit: Visit, _ work: (BrowserSessions.SignedIn) throws -> PageAnswer
    ) throws -> PageAnswer {
        guard let signedIn = visit.signedIn else { return .redirect(to: "/sign-in") }
        return try work(signedIn)
    }

    /// `/account/prove`.
    func prove(_ visit: Visit) throws -> PageAnswer {
        guard let signedIn = visit.signedIn else { return .redirect(to: "/sign-in") }
        // Nothing of the address goes on but a name of ours.
        let page = PageName.allCases.first {
            $0.isShownByProof && $0.rawValue == "\(Self.root)\(visit.request.query["to"] ?? "")"
        }
        let next =
            page.map { "/\($0.rawValue)" } ?? returnPath(visit)?.path
            ?? address("/account", keeping: keptAddress(visit), visit)
        guard visit.action == .prove else { return try proofForm(visit, signedIn, SignInAsking()) }
        if let refusal = try refusal(visit, signedIn) {
            return try proofForm(visit, signedIn, refusal)
        }
        try accountUseCases.sessions.prove(signedIn.session, now: visit.request.now)
        return .redirect(to: next)
    }

    /// Why what was typed is not enough; nil when it is.
    private func refusal(
        _ visit: Visit, _ signedIn: BrowserSessions.SignedIn
    ) throws -> SignInAsking? {
        let (request, account) = (visit.request, signedIn.account)
        let hasFactor = try accountUseCases.secondFactors.recoveryLeft(of: account.id) != nil
        let wrong = SignInAsking(
            status: 403, saying: .refusal(hasFactor ? .proofWrong : .presentWrong))
        let password = try accountUseCases.signIn.run(
            PasswordSignIn.Attempt(
                address: account.email ?? "", password: typed(visit, "present"),
                client: request.client, device: request.cookies[.device]), now: request.now)
        switch password {
        case .wrong: return wrong
        case .unavailable: return SignInAsking(status: 503, saying: .obstacle(.unavailable))
        case .wait(let seconds): return .wait(seconds)
        case .signedIn: break
        }
        guard hasFactor else { return nil }
        let code = try accountUseCases.secondFactors.check(
            SecondFactors.Attempt(
                code: request.form["code"] ?? "", client: request.client,
                device: request.cookies[.device]), of: account.id, now: request.now)
        switch code {
        case .right: return nil
        case .wrong: return wrong
        case .wait(let seconds): return .wait(seconds)
        }
    }

    private func proofForm(
        _ visit: Visit, _ signedIn: BrowserSessions.SignedIn, _ asking: SignInAsking
    ) throws -> PageAnswer {
        let account = signedIn.account
        guard account.password != nil else {
            return PageAnswer(
                title: Phrase.proveTitle.text,
                """
                <p>\(Phrase.proveBySigningIn)</p>
                \(visit.form(to: "/sign-in/out", "<button>\(Phrase.signOut)</button>"))
                """)
        }
        let hasFactor = try accountUseCases.secondFactors.recoveryLeft(of: account.id) != nil
        var answer = PageAnswer(
            asking.status, title: Phrase.proveTitle.text, said: asking.saying?.text,
            """
            \(Self.said(asking.saying))
            <p>\(Phrase.proveHint)</p>
            \(visit.form("""
            \(Self.hiddenAddress(account.email ?? ""))
            <label for="present">\(Phrase.password)</label>
            <input id="present" name="present" type="password" autocomplete="current-password" \
            required maxlength="1024"\(FieldState(asking.saying).attributes())>
            \(hasFactor ? Self.factorCodeField(.plain) : .nothing)
            <div class="row"><button>\(Phrase.proceed)</button></div>
            """))
            <p><a href="/account">\(Phrase.account)</a></p>
            """)
        answer.headers += asking.headers
        return answer
    }
}
