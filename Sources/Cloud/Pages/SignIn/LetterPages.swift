import Accounts
import Storage

// Pages that have letters sent, and those that the letters' links lead to.
extension Pages {
    /// `/sign-in/forgotten`: answered alike for every address, after the same work.
    func forgotten(_ visit: Visit) throws -> PageAnswer {
        guard accountUseCases.hasLetters else {
            return PageAnswer(title: Phrase.resetPassword.text, "<p>\(Phrase.noLetters)</p>")
        }
        return try ask(
            for: .reset, visit, title: Phrase.resetPassword.text, sent: Phrase.resetSentHint.text)
    }

    /// `/sign-in/new`: where everybody may create an account.
    func newAccount(_ visit: Visit) throws -> PageAnswer {
        guard accountUseCases.signUp == .open, accountUseCases.hasLetters else {
            return PageAnswer(404, title: Phrase.signUpClosed.text, .nothing)
        }
        return try ask(
            for: .invitation, visit, title: Phrase.newHere.text, sent: Phrase.signUpSentHint.text)
    }

    private func ask(
        for purpose: Letter.Purpose, _ visit: Visit, title: String, sent: String
    ) throws -> PageAnswer {
        func form(_ status: Int, _ saying: Saying?) -> PageAnswer {
            PageAnswer(
                status, title: title, said: saying?.text,
                """
                \(Self.said(saying))
                \(visit.form("""
                \(addressField(
                    autocomplete: "username", value: visit.request.form.filled("address") ?? "",
                    FieldState(saying)))
                <div class="row"><button>\(Phrase.resetAsk)</button></div>
                """))
                """)
        }
        guard visit.action != nil else { return form(200, nil) }
        guard let address = reachable(visit.request.form.filled("address")) else {
            return form(422, .refusal(addressProblem))
        }
        let outcome = try accountUseCases.letters.ask(
            for: purpose, to: address, from: visit.request.client ?? "a proxy",
            returnPath: returnPath(visit)?.path, language: Phrasebook.current.tag,
            now: visit.request.now)
        switch outcome {
        case .queued:
            let title = address.kind == .email ? Phrase.resetSent : .messageSent
            return PageAnswer(title: title.text, "<p role=\"status\">\(sent)</p>")
        case .wait(let seconds):
            var answer = form(429, .obstacle(Texts.wait(seconds)))
            answer.headers.append(("Retry-After", "\(seconds)"))
            return answer
        }
    }

    /// `/sign-in/reset/{secret}`.
    func reset(_ visit: Visit, _ secret: String) throws -> PageAnswer {
        let now = visit.request.now
        guard let link = try accountUseCases.letterAnswers.link(of: secret, .reset, now: now)
        else { return resetEnded }
        var saying: Saying?
        if visit.action == .resetPassword {
            do {
                let account = try accountUseCases.letterAnswers.reset(
                    secret, password: typed(visit, "password"), now: now)
                guard let account else { return resetEnded }
                return try answer(
                    admit(account, visit, isKept: false), visit, leadingTo: Self.next(link))
            } catch AccountsRefusal.passwordIllegal {
                saying = .refusal(.passwordRefused)
            }
        }
        return PageAnswer(
            saying == nil ? 200 : 422, title: Phrase.resetTitle.text, said: saying?.text,
            """
            \(Self.said(saying))
            \(visit.form("""
            \(Self.hiddenAddress(link.address.text))
            \(Self.newPasswordField(FieldState(saying)))
            <div class="row"><button>\(Phrase.savePassword)</button></div>
            """))
            """)
    }

    /// `/sign-in/welcome/{secret}`.
    func welcome(_ visit: Visit, _ secret: String) throws -> PageAnswer {
        let request = visit.request
        guard
            let link = try accountUseCases.letterAnswers.link(
                of: secret, .invitation, now: request.now)
        else { return invitationEnded }
        var (name, password, address): (Saying?, Saying?, Saying?)
        if visit.action == .makeAccount {
            do {
                let account = try accountUseCases.letterAnswers.signUp(
                    secret, givenName: request.form.filled("given"),
                    familyName: request.form.filled("family"), password: typed(visit, "password"),
                    now: request.now)
                guard let account else { return invitationEnded }
                var answer = PageAnswer.redirect(to: Self.next(link))
                answer.headers += try begin(account, visit, true, isKept: false).cookies
                return answer
            } catch AccountsRefusal.passwordIllegal {
                password = .refusal(.passwordRefused)
            } catch AccountsRefusal.nameIllegal {
                name = .refusal(.nameRefused)
            } catch CatalogRefusal.addressTaken {
                address = .obstacle(.addressTaken)
            }
        }
        let saying = name ?? password ?? address
        return PageAnswer(
            saying == nil ? 200 : 422, title: Phrase.welcome.text, said: saying?.text,
            """
            <p>\(link.address.text)</p>
            \(Self.said(saying))
            \(visit.form("""
            \(Self.hiddenAddress(link.address.text))
            <label for="given">\(Phrase.givenName)</label>
            <input id="given" name="given" autocomplete="given-name" maxlength="128" \
            value="\(request.form["given"] ?? "")"\
            \((name == nil && saying != nil ? .plain : FieldState(name)).attributes())>
            <label for="family">\(Phrase.familyName)</label>
            <input id="family" name="family" autocomplete="family-name" maxlength="128" \
            value="\(request.form["family"] ?? "")">
            \(Self.newPasswordField(password == nil ? .plain : .refused))
            <div class="row"><button>\(Phrase.newHere)</button></div>
            """))
            """)
    }

    /// Where a letter's link leads on to.
    private static func next(_ link: LetterLink) -> String {
        ShareReturnPath(link.returnPath)?.path ?? "/account"
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

    static func newPasswordField(_ state: FieldState) -> Markup {
        """
        <label for="password">\(Phrase.newPassword)</label>
        <input id="password" name="password" type="password" autocomplete="new-password" \
        required minlength="8" maxlength="1024"\(state.attributes(hint: "rule"))>
        <p class="quiet" id="rule">\(Phrase.passwordRule)</p>
        """
    }

    /// A link to a new password that is good no more, with the way to another one.
    private var resetEnded: PageAnswer {
        PageAnswer(
            404, title: Phrase.linkEnded.text,
            """
            <p><a class="button" href="/sign-in/forgotten">\(Phrase.newLink)</a></p>
            <p><a href="/sign-in">\(Phrase.signIn)</a></p>
            """)
    }

    /// The same of a link to a new account.
    private var invitationEnded: PageAnswer {
        let isOpen = accountUseCases.signUp == .open && accountUseCases.hasLetters
        let way: Markup =
            isOpen
            ? "<p><a class=\"button\" href=\"/sign-in/new\">\(Phrase.newLink)</a></p>"
            : "<p>\(Phrase.newLinkByInviter)</p>"
        return PageAnswer(
            404, title: Phrase.linkEnded.text,
            "\(way)<p><a href=\"/sign-in\">\(Phrase.signIn)</a></p>")
    }
}
