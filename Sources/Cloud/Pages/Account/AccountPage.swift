import Accounts
import CloudModel
import Storage

// `/account`: what somebody sees and changes of their own account.
extension Pages {
    /// What came of a change, said beside the form that asked for it.
    struct AccountOutcome {
        /// The form that was sent.
        enum Form: Equatable {
            case findable, password
            /// Of a further address; nil for a text that is not an address.
            case address(Address?)
        }

        var status = 200
        var said: (form: Form, saying: Saying)?

        /// What is to be said at a form; nil for nothing.
        func saying(at form: Form) -> Saying? { said?.form == form ? said?.saying : nil }
    }

    func account(_ visit: Visit) throws -> PageAnswer {
        guard let signedIn = visit.signedIn else { return .redirect(to: "/sign-in") }
        guard visit.action != nil else {
            return try accountPage(visit, signedIn, AccountOutcome())
        }
        let outcome = try change(visit, signedIn)
        guard outcome.said == nil else {
            // Read anew, to show what has changed.
            let current =
                try accountUseCases.catalog.account(signedIn.account.id) ?? signedIn.account
            return try accountPage(
                visit, BrowserSessions.SignedIn(account: current, session: signedIn.session),
                outcome)
        }
        return .redirect(to: "/account")
    }

    private func change(
        _ visit: Visit, _ signedIn: BrowserSessions.SignedIn
    ) throws -> AccountOutcome {
        let (form, account) = (visit.request.form, signedIn.account.id)
        switch visit.action {
        case .endBrowser:
            try accountUseCases.sessions.end(named: form["name"] ?? "", of: account)
            return AccountOutcome()
        case .endApp:
            try endApp(form["name"] ?? "", of: account)
            return AccountOutcome()
        case .endAll:
            try accountUseCases.sessions.endAll(of: account, except: signedIn.session)
            return AccountOutcome()
        case .beFindable:
            let change = AccountChange(isDiscoverable: form["findable"] != nil)
            try accountUseCases.catalog.change(account, by: change)
            return AccountOutcome(said: (.findable, .note(.saved)))
        case .changePassword: return try changePassword(visit, signedIn)
        case .addAddress: return try addAddress(visit, signedIn)
        case .proveAddress: return try proveAddress(visit, signedIn)
        default: return AccountOutcome()
        }
    }

    private func endApp(_ name: String, of account: AccountID) throws {
        guard let session = WebSession.bytes(named: name),
            try accountUseCases.catalog.webSession(session)?.account == account
        else { return }
        try accountUseCases.catalog.deleteWebTokens(session: session)
    }

    private func changePassword(
        _ visit: Visit, _ signedIn: BrowserSessions.SignedIn
    ) throws -> AccountOutcome {
        let proof = try accountUseCases.signIn.run(
            PasswordSignIn.Attempt(
                address: signedIn.account.email ?? "", password: typed(visit, "present"),
                client: visit.request.client, device: visit.request.cookies[.device]),
            now: visit.request.now)
        func outcome(_ status: Int, _ saying: Saying) -> AccountOutcome {
            AccountOutcome(status: status, said: (.password, saying))
        }
        let compared: String?
        switch proof {
        case .wrong: return outcome(403, .refusal(.presentWrong))
        case .unavailable: return outcome(503, .obstacle(.unavailable))
        case .wait(let seconds): return outcome(429, .obstacle(Texts.wait(seconds)))
        case .signedIn(let account, _): compared = account.password
        }
        do {
            try accountUseCases.passwords.set(
                typed(visit, "password"), of: signedIn.account.id, inPlaceOf: compared,
                except: signedIn.session.hash)
            return outcome(200, .note(.changed))
        } catch CatalogRefusal.passwordChanged {
            return outcome(403, .refusal(.presentWrong))
        } catch AccountsRefusal.passwordIllegal {
            return outcome(422, .refusal(.passwordRefused))
        }
    }

    private func addAddress(
        _ visit: Visit, _ signedIn: BrowserSessions.SignedIn
    ) throws -> AccountOutcome {
        guard let address = reachable(visit.request.form.filled("address")) else {
            return AccountOutcome(status: 422, said: (.address(nil), .refusal(addressProblem)))
        }
        let outcome = try accountUseCases.letters.ask(
            for: .address, to: address, of: signedIn.account.id,
            from: visit.request.client,
            language: Phrasebook.current.tag, now: visit.request.now)
        if case .wait(let seconds) = outcome {
            return AccountOutcome(
                status: 429, said: (.address(address), .obstacle(Texts.wait(seconds))))
        }
        return AccountOutcome(said: (.address(address), .note(.codeSent)))
    }

    private func proveAddress(
        _ visit: Visit, _ signedIn: BrowserSessions.SignedIn
    ) throws -> AccountOutcome {
        guard let address = reachable(visit.request.form.filled("address")) else {
            return AccountOutcome(status: 422, said: (.address(nil), .refusal(addressProblem)))
        }
        do {
            let outcome = try accountUseCases.letterAnswers.prove(
                address, of: signedIn.account.id, code: visit.request.form["code"] ?? "",
                now: visit.request.now)
            return outcome == .right
                ? AccountOutcome(said: (.address(nil), .note(.addressProved)))
                : AccountOutcome(status: 422, said: (.address(address), .refusal(.codeWrong)))
        } catch CatalogRefusal.addressTaken {
            return AccountOutcome(status: 422, said: (.address(address), .refusal(.addressTaken)))
        }
    }
}
