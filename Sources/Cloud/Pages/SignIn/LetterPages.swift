import Accounts
import CloudModel
import Storage

// Pages that have letters sent, and those that the letters' links lead to.
extension Pages {
    /// `/sign-in/forgotten`: answered alike for every address, after the same work.
    func forgotten(_ visit: Visit) throws -> PageAnswer {
        guard reception.hasLetters else {
            return PageAnswer(title: Texts.forgotten, "<p>\(Texts.noLetters)</p>")
        }
        return try ask(
            for: .reset, visit, title: Texts.forgotten, sent: Texts.resetSentHint)
    }

    /// `/sign-in/new`: where everybody may make an account.
    func newAccount(_ visit: Visit) throws -> PageAnswer {
        guard reception.signUp == .open, reception.hasLetters else {
            return PageAnswer(404, title: Texts.signUpClosed, .nothing)
        }
        return try ask(
            for: .invitation, visit, title: Texts.newHere, sent: Texts.signUpSentHint)
    }

    private func ask(
        for purpose: Letter.Purpose, _ visit: Visit, title: String, sent: String
    ) throws -> PageAnswer {
        func form(_ status: Int, _ problem: String?) -> PageAnswer {
            PageAnswer(
                status, title: title,
                """
                \(Self.alert(problem))
                \(visit.form("""
                <label for="address">\(Texts.address)</label>
                <input id="address" name="address" type="email" autocomplete="username" \
                required maxlength="254" value="\(visit.request.form.filled("address") ?? "")">
                <div class="row"><button>\(Texts.resetAsk)</button></div>
                """))
                """)
        }
        guard visit.request.isPost else { return form(200, nil) }
        guard let address = Self.email(visit.request.form.filled("address")) else {
            return form(422, Texts.addressRefused)
        }
        let outcome = try reception.letters.ask(
            for: purpose, to: address, by: visit.request.client ?? "a proxy",
            place: place(visit)?.path, now: visit.request.now)
        switch outcome {
        case .queued:
            return PageAnswer(title: Texts.resetSent, "<p role=\"status\">\(sent)</p>")
        case .wait(let seconds):
            var answer = form(429, Texts.wait(seconds))
            answer.headers.append(("Retry-After", "\(seconds)"))
            return answer
        }
    }

    /// `/sign-in/reset/{secret}`.
    func reset(_ visit: Visit, _ secret: String) throws -> PageAnswer {
        let now = visit.request.now
        guard let link = try reception.letterAnswers.link(of: secret, .reset, now: now)
        else { return Self.linkEnded }
        var problem: String?
        if visit.request.isPost {
            do {
                let account = try reception.letterAnswers.reset(
                    secret, password: typed(visit, "password"), now: now)
                guard let account else { return Self.linkEnded }
                guard let account = try reception.catalog.account(account) else {
                    return Self.linkEnded
                }
                return try answer(
                    admit(account, visit, isKept: false), visit, leadingTo: Self.next(link))
            } catch AccountsRefusal.passwordIllegal {
                problem = Texts.passwordRefused
            }
        }
        return PageAnswer(
            problem == nil ? 200 : 422, title: Texts.resetTitle,
            """
            \(Self.alert(problem))
            \(visit.form("""
            \(Self.hiddenAddress(link.address.text))
            \(Self.newPasswordField)
            <div class="row"><button>\(Texts.savePassword)</button></div>
            """))
            """)
    }

    /// `/sign-in/welcome/{secret}`.
    func welcome(_ visit: Visit, _ secret: String) throws -> PageAnswer {
        let request = visit.request
        guard
            let link = try reception.letterAnswers.link(
                of: secret, .invitation, now: request.now)
        else { return Self.linkEnded }
        var problem: String?
        if request.isPost {
            do {
                let account = try reception.letterAnswers.signUp(
                    secret, givenName: request.form.filled("given"),
                    familyName: request.form.filled("family"), password: typed(visit, "password"),
                    now: request.now)
                guard let account else { return Self.linkEnded }
                var answer = PageAnswer.redirect(to: Self.next(link))
                answer.headers += try begin(account.id, visit, true, isKept: false)
                return answer
            } catch AccountsRefusal.passwordIllegal {
                problem = Texts.passwordRefused
            } catch AccountsRefusal.nameIllegal {
                problem = Texts.nameRefused
            } catch CatalogRefusal.addressTaken {
                problem = Texts.addressTaken
            }
        }
        return PageAnswer(
            problem == nil ? 200 : 422, title: Texts.welcome,
            """
            <p>\(link.address.text)</p>
            \(Self.alert(problem))
            \(visit.form("""
            \(Self.hiddenAddress(link.address.text))
            <label for="given">\(Texts.givenName)</label>
            <input id="given" name="given" autocomplete="given-name" maxlength="128" \
            value="\(request.form["given"] ?? "")">
            <label for="family">\(Texts.familyName)</label>
            <input id="family" name="family" autocomplete="family-name" maxlength="128" \
            value="\(request.form["family"] ?? "")">
            \(Self.newPasswordField)
            <div class="row"><button>\(Texts.makeAccount)</button></div>
            """))
            """)
    }

    /// Where a letter's link leads on to.
    private static func next(_ link: LetterLink) -> String {
        SharePlace(link.place)?.path ?? "/account"
    }

    /// What somebody typed as an e-mail address; nil when it is none.
    static func email(_ text: String?) -> Address? {
        // NB: there is one way to be no address.
        try? AddressFormat.email(text ?? "")
    }

    /// What somebody typed as a password.
    func typed(_ visit: Visit, _ name: String) -> [UInt8] {
        Array((visit.request.form[name] ?? "").utf8)
    }

    /// For the browser's keeper of passwords, which has to know whose it is.
    static func hiddenAddress(_ address: String) -> Markup {
        """
        <input type="text" name="username" autocomplete="username" value="\(address)" readonly hidden>
        """
    }

    static let newPasswordField: Markup = """
        <label for="password">\(Texts.newPassword)</label>
        <input id="password" name="password" type="password" autocomplete="new-password" \
        required minlength="8" maxlength="1024" aria-describedby="rule">
        <p class="quiet" id="rule">\(Texts.passwordRule)</p>
        """

    private static var linkEnded: PageAnswer {
        PageAnswer(404, title: Texts.linkEnded, "<p><a href=\"/sign-in\">\(Texts.signIn)</a></p>")
    }
}
