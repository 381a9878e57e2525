import Accounts
import CloudModel
import Storage

/// What came of a sign-in form.
enum SignInOutcome {
    /// - Parameter cookies: header fields that make the browser know it.
    case signedIn(BrowserSession, isKept: Bool, cookies: [(name: String, value: String)])
    /// There is something to be typed, still or again.
    case asked(SignInAsking)
}

/// What a sign-in page asks for.
struct SignInAsking {
    var status = 200
    /// What to say above the form.
    var saying: Saying?
    /// The sign-in that waits for a second factor; nil while address and password are asked for.
    var pageToken: String?
    var headers: [(name: String, value: String)] = []
}

extension Pages {
    /// How long a person may take for their second factor.
    private static let secondFactorSeconds = 300

    /// Signs a browser in with what was typed into a form.
    func attempt(_ visit: Visit) throws -> SignInOutcome {
        let request = visit.request
        if visit.action == .typeCode { return try attemptCode(visit) }
        if visit.action == .usePasskey { return try attemptPasskey(visit) }
        let outcome = try accountUseCases.signIn.run(
            PasswordSignIn.Attempt(
                address: request.form.filled("address") ?? "",
                password: Array((request.form["password"] ?? "").utf8), client: request.client,
                device: request.cookies[.device]), now: request.now)
        switch outcome {
        case .wrong: return .asked(SignInAsking(status: 403, saying: .refusal(wrongPassword)))
        case .unavailable:
            return .asked(
                SignInAsking(
                    status: 503, saying: .obstacle(.unavailable), headers: [("Retry-After", "5")]))
        case .wait(let seconds): return .asked(.wait(seconds))
        case .signedIn(let account, _):
            return try admit(account, visit, isKept: Self.isKept(request))
        }
    }

    /// Whether the person asked to stay signed in at this browser.
    static func isKept(_ request: PageRequest) -> Bool { request.form["keep"] == "1" }

    /// Signs a person in after the first factor, or asks for their second factor.
    func admit(
        _ account: AccountRecord, _ visit: Visit, isKept: Bool
    ) throws -> SignInOutcome {
        guard try accountUseCases.secondFactors.recoveryLeft(of: account.id) != nil else {
            return try welcomeIn(account, visit, isKept: isKept)
        }
        let pageToken = accountUseCases.pageTokens.make(
            .secondFactor,
            [account.id.text, account.password ?? "", isKept ? "kept" : ""],
            browser: visit.browser, seconds: Self.secondFactorSeconds, now: visit.request.now)
        return .asked(SignInAsking(pageToken: pageToken))
    }

    /// Compares the code of somebody whose first factor was right.
    private func attemptCode(_ visit: Visit) throws -> SignInOutcome {
        let request = visit.request
        guard let pageToken = request.form["pass"],
            let contents = accountUseCases.pageTokens.open(
                pageToken, .secondFactor, browser: visit.browser, now: request.now),
            contents.count == 3,
            let account = try accountUseCases.catalog.account(AccountID(contents[0])),
            // A password that was set meanwhile ends what began with the previous one.
            account.password ?? "" == contents[1]
        else { return .asked(SignInAsking(status: 403, saying: .obstacle(.tookTooLong))) }
        let outcome = try accountUseCases.secondFactors.check(
            SecondFactors.Attempt(
                code: request.form["code"] ?? "", client: request.client,
                device: request.cookies[.device]), of: account.id, now: request.now)
        switch outcome {
        case .right: return try welcomeIn(account, visit, isKept: contents[2] == "kept")
        case .wrong:
            return .asked(
                SignInAsking(status: 403, saying: .refusal(.factorCodeWrong), pageToken: pageToken))
        case .wait(let seconds):
            var asking = SignInAsking.wait(seconds)
            asking.pageToken = pageToken
            return .asked(asking)
        }
    }

    /// Begins the session after all factors were right.
    func welcomeIn(
        _ account: AccountRecord, _ visit: Visit, isKept: Bool
    ) throws -> SignInOutcome {
        let request = visit.request
        let isNewDevice =
            accountUseCases.devices.name(in: request.cookies[.device], of: account.id) == nil
        let begun: (session: BrowserSession, cookies: [(name: String, value: String)])
        do {
            begun = try begin(account, visit, isNewDevice, isKept: isKept)
        } catch CatalogRefusal.passwordChanged {
            return .asked(SignInAsking(status: 403, saying: .obstacle(.tookTooLong)))
        }
        _ = try accountUseCases.endings.takeBack(of: account.id, now: request.now) {
            try accountUseCases.note("account deletion taken back", account.id, request.now)
        }
        if isNewDevice, let primary = account.primary, accountUseCases.reaches(primary.kind) {
            try accountUseCases.letters.tell(
                of: request.device, to: primary, of: account.id,
                language: Phrasebook.current.tag, now: request.now)
        }
        return .signedIn(begun.session, isKept: isKept, cookies: begun.cookies)
    }

    /// Begins a browser's session.
    ///
    /// A session that the browser had before ends: its cookie is replaced.
    ///
    /// - Throws: `accountUnknown`; `passwordChanged` for an account whose password was set since it was read.
    func begin(
        _ account: AccountRecord, _ visit: Visit, _ isNewDevice: Bool, isKept: Bool
    ) throws -> (session: BrowserSession, cookies: [(name: String, value: String)]) {
        let request = visit.request
        if let previous = visit.signedIn { try accountUseCases.sessions.end(previous.session) }
        let made = try accountUseCases.sessions.begin(
            for: account, device: request.device, isKept: isKept, now: request.now)
        var fields = [
            request.cookies.setting(
                .session, to: made.cookie, seconds: isKept ? made.seconds : nil)
        ]
        if isNewDevice {
            let device = accountUseCases.devices.cookie(for: account.id)
            fields.append(request.cookies.setting(.device, to: device, seconds: Self.deviceSeconds))
        }
        return (made.session, fields)
    }

    /// How long browsers keep it: 400 days, which is as long as they keep any.
    private static let deviceSeconds = 34_560_000

    /// The form that asks for what is wanted, with what is to be said above it.
    ///
    /// - Parameters:
    ///   - path: where the form is sent to; nil for where it is shown.
    ///   - further: what else may be done there.
    ///   - providersApart: whether providers are shown in a window of their own.
    ///   - share: where those go on who have a letter sent first; nil for the account page.
    func signInForm(
        _ visit: Visit, _ asking: SignInAsking = SignInAsking(), to path: String? = nil,
        further: Markup = .nothing, providersApart: Bool = false,
        leadingTo share: ShareReturnPath? = nil
    ) throws -> Markup {
        if let pageToken = asking.pageToken {
            return "\(codeForm(visit, pageToken, asking.saying, to: path))\(further)"
        }
        let address = visit.request.form.filled("address") ?? ""
        let new = self.address("/sign-in/new", leadingTo: share, visit)
        let again: Markup =
            accountUseCases.signUp == .open && accountUseCases.hasLetters
            ? "<p><a href=\"\(new)\">\(Phrase.newHere)</a></p>" : .nothing
        let target = path == "/sign-in" ? "/account" : visit.request.target
        let isRefused = asking.saying?.kind == .refusal
        // When the address is right, the password was mistyped, as a rule.
        let password: FieldState = isRefused ? .refused : .plain
        return """
            \(Self.said(asking.saying))
            \(visit.form(to: path, """
            <input type="hidden" name="step" value="sign-in">
            \(signInAddressField(address, isRefused ? .refusedToo : FieldState(asking.saying)))
            <label for="password">\(Phrase.password)</label>
            <input id="password" name="password" type="password" \
            autocomplete="current-password" required maxlength="1024"\(password.attributes())>
            <div class="check"><input id="keep" name="keep" type="checkbox" value="1">\
            <label for="keep">\(Phrase.keepSignedIn)</label></div>
            <div class="row"><button>\(Phrase.signIn)</button>
            \(try providerButtons(target: target, isApart: providersApart))</div>
            """))
            \(passkeySignInForm(visit, to: path))
            \(try wentOn(to: target, isApart: providersApart))
            \(further)
            <p><a href="\(self.address("/sign-in/forgotten", leadingTo: share, visit))">\
            \(Phrase.forgotten)</a></p>
            \(again)
            """
    }

    /// Whether a page that asks for this offers passkeys, which need a script.
    func runsScript(_ asking: SignInAsking) -> Bool {
        asking.pageToken == nil && accountUseCases.passkeys.areOffered
    }

    /// Asks for the second factor.
    private func codeForm(
        _ visit: Visit, _ pageToken: String, _ saying: Saying?, to path: String?
    ) -> Markup {
        """
        \(Self.said(saying))
        \(visit.form(to: path, """
        <input type="hidden" name="step" value="code">
        <input type="hidden" name="pass" value="\(pageToken)">
        \(Self.factorCodeField(FieldState(saying)))
        <div class="row"><button>\(Phrase.signIn)</button></div>
        """))
        """
    }

    static func factorCodeField(_ state: FieldState) -> Markup {
        """
        <label for="code">\(Phrase.factorCode)</label>
        <input id="code" name="code" autocomplete="one-time-code" autocapitalize="none" \
        spellcheck="false" required maxlength="64"\(state.attributes(hint: "factor"))>
        <p class="quiet" id="factor">\(Phrase.factorCodeHint)</p>
        """
    }

    /// `/sign-in`: to the account page.
    func plainSignIn(_ visit: Visit) throws -> PageAnswer {
        guard visit.action != nil else {
            if visit.signedIn != nil { return .redirect(to: "/account") }
            return try answer(.asked(SignInAsking()), visit)
        }
        return try answer(attempt(visit), visit)
    }

    /// Where a sign-in leads that no app asks for: to the account page, or to what is still to be typed.
    ///
    /// - Parameter target: a page of ours.
    func answer(
        _ outcome: SignInOutcome, _ visit: Visit, leadingTo target: String = "/account"
    ) throws -> PageAnswer {
        switch outcome {
        case .signedIn(_, _, let cookies):
            var answer = PageAnswer.redirect(to: target)
            answer.headers += cookies
            return answer
        case .asked(let asking):
            // The pages of apps and of shares take what is typed there themselves.
            let isTaken =
                target.hasPrefix("/sign-in/") && target != "/sign-in/done"
                || ShareReturnPath(target) != nil
            let path = isTaken ? target : "/sign-in"
            var answer = PageAnswer(
                asking.status, title: Phrase.signIn.text, said: asking.saying?.text,
                try signInForm(visit, asking, to: path),
                policy: PageAnswer.Policy(runsScript: runsScript(asking)),
                script: runsScript(asking) ? Self.passkeyScript : .nothing)
            answer.headers += asking.headers
            return answer
        }
    }

    /// `/sign-in/out`.
    func signOut(_ visit: Visit) throws -> PageAnswer {
        guard visit.action == .signOut else { return .redirect(to: "/account") }
        if let signedIn = visit.signedIn { try accountUseCases.sessions.end(signedIn.session) }
        var answer = PageAnswer.redirect(to: "/sign-in")
        answer.headers.append(visit.request.cookies.setting(.session, to: "", seconds: 0))
        return answer
    }
}

extension SignInAsking {
    static func wait(_ seconds: Int) -> SignInAsking {
        SignInAsking(
            status: 429, saying: .obstacle(Texts.wait(seconds)),
            headers: [("Retry-After", "\(seconds)")])
    }
}

extension AccountRecord {
    /// The address that names the account.
    var primary: Address? { addresses.first { $0.isPrimary }?.address }

    /// The name that people know.
    var fullName: String {
        [givenName, familyName].compactMap { $0 }.joined(separator: " ")
    }
}
