import Accounts
import Cryptography
import QRCode
import Storage

// `/account/second-factor`: two-factor authentication, turned on and off.
extension Pages {
    /// How long a person may take to set it up.
    private static let setupSeconds = 900

    /// What the account page says about signing in.
    func securityPart(_ visit: Visit, _ account: AccountRecord) throws -> Markup {
        let left = try accountUseCases.secondFactors.recoveryLeft(of: account.id)
        return """
            <h2>\(Phrase.security)</h2>
            <p>\(left.map { Texts.factorIsOn($0) } ?? Phrase.factorIsOff.text)</p>
            <p><a href="/account/second-factor">\
            \(left == nil ? Phrase.factorSetUp.text : Phrase.factorChange.text)</a></p>
            \(accountUseCases.passkeys.areOffered
                ? "<p><a href=\"/account/passkeys\">\(Phrase.passkeysTitle)</a></p>" : .nothing)
            \(try accountUseCases.catalog.identityProviders().isEmpty
                ? .nothing
                : "<p><a href=\"/account/identities\">\(Phrase.identitiesTitle)</a></p>")
            """
    }

    /// `/account/second-factor`.
    func secondFactor(_ visit: Visit) throws -> PageAnswer {
        try signedIn(visit) { signedIn in
            let account = signedIn.account
            let now = visit.request.now
            switch visit.action {
            case .removeSecondFactor:
                try accountUseCases.note("second factor removed", account.id, now)
                try accountUseCases.secondFactors.remove(of: account.id)
                return .redirect(to: "/account")
            case .setSecondFactor: return try setSecondFactor(visit, account)
            default: return try secondFactorPage(visit, account)
            }
        }
    }

    private func secondFactorPage(
        _ visit: Visit, _ account: AccountRecord
    ) throws -> PageAnswer {
        if let left = try accountUseCases.secondFactors.recoveryLeft(of: account.id) {
            return PageAnswer(
                title: Phrase.factorTitle.text,
                """
                <p>\(Texts.factorIsOn(left))</p>
                \(visit.form("""
                <button name="do" value="remove">\(Phrase.factorRemove)</button>
                """))
                <p><a href="/account">\(Phrase.account)</a></p>
                """)
        }
        let secret = accountUseCases.secondFactors.makeSecret()
        let pageToken = accountUseCases.pageTokens.make(
            .newSecondFactor, [account.id.text, Hexadecimal.encode(secret)],
            browser: visit.browser, seconds: Self.setupSeconds, now: visit.request.now)
        return setupPage(visit, account, secret, pageToken)
    }

    private func setupPage(
        _ visit: Visit, _ account: AccountRecord, _ secret: [UInt8], _ pageToken: String,
        _ saying: Saying? = nil
    ) -> PageAnswer {
        let address = TimeCodes(secret: secret).address(
            issuer: mark.name,
            account: account.email ?? account.fullName)
        let picture =
            QRCode(address).map { Markup(made: $0.svg(label: Phrase.factorPicture.text)) }
            ?? .nothing
        return PageAnswer(
            saying == nil ? 200 : 422, title: Phrase.factorTitle.text, said: saying?.text,
            """
            <p>\(Phrase.factorHint)</p>
            <div class="code">\(picture)</div>
            <p>\(Phrase.factorSecret) <code>\(Base32.encode(secret))</code></p>
            \(Self.said(saying))
            \(visit.form("""
            <input type="hidden" name="pass" value="\(pageToken)">
            <label for="code">\(Phrase.factorFirstCode)</label>
            <input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" \
            required maxlength="12"\(FieldState(saying).attributes())>
            <div class="row"><button name="do" value="set">\(Phrase.factorSet)</button></div>
            """))
            <p><a href="/account">\(Phrase.account)</a></p>
            """)
    }

    private func setSecondFactor(
        _ visit: Visit, _ account: AccountRecord
    ) throws -> PageAnswer {
        let request = visit.request
        guard let pageToken = request.form["pass"],
            let contents = accountUseCases.pageTokens.open(
                pageToken, .newSecondFactor, browser: visit.browser, now: request.now),
            contents.count == 2, contents[0] == account.id.text,
            let secret = Hexadecimal.decode(contents[1]),
            // One that is on already is removed first, which needs a code of it.
            try accountUseCases.secondFactors.recoveryLeft(of: account.id) == nil
        else { return .redirect(to: "/account/second-factor") }
        let step = TimeCodes(secret: secret).step(
            of: request.form["code"] ?? "", at: request.now, after: nil)
        guard step != nil,
            try accountUseCases.pageTokens.spend(
                pageToken, seconds: Self.setupSeconds, now: request.now)
        else {
            return setupPage(visit, account, secret, pageToken, .refusal(.factorCodeWrong))
        }
        try accountUseCases.note("second factor added", account.id, request.now)
        guard
            let codes = try accountUseCases.secondFactors.set(
                secret: secret, code: request.form["code"] ?? "", of: account.id, now: request.now)
        else { return .redirect(to: "/account/second-factor") }
        return recoveryPage(codes)
    }

    /// Shows recovery codes, for the person to keep: on paper, in a keeper of passwords, in a file.
    private func recoveryPage(_ codes: [String]) -> PageAnswer {
        let text = codes.joined(separator: "\n")
        // The file is in the address itself: the codes are not sent again.
        let file = Base64.encode(Array("\(mark.name)\n\n\(text)\n".utf8))
        return PageAnswer(
            title: Phrase.factorDone.text,
            """
            <p class="note" role="status" id="said" tabindex="-1" autofocus>\(Phrase.recoveryHint)</p>
            <pre id="codes">\(text)</pre>
            <div class="row"><button class="second" type="button" hidden data-copies="codes" \
            data-done="\(Phrase.copied)">\(Phrase.copyCodes)</button>
            <a class="button second" download="recovery-codes.txt" \
            href="data:text/plain;charset=utf-8;base64,\(file)">\(Phrase.downloadCodes)</a></div>
            <p id="copied" role="status"></p>
            <p><a href="/account">\(Phrase.account)</a></p>
            """, policy: PageAnswer.Policy(runsScript: true),
            script: "<script src=\"/sign-in/copy.js\" defer></script>")
    }
}
