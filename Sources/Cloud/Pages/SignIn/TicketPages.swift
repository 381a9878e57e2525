import Accounts
import CloudModel
import JSON
import Storage

// The sign-in page that an app opens: `redirectURL` of an answer 421 (rulings.md 54 and 55).
extension Pages {
    /// An app's request to have a person signed in.
    private struct Asking {
        let visit: Visit
        let asker: HandOver.Asker
        let way: HandOver.Way

        let app: AppLabel

        /// Whether the window that opened this one waits for a message.
        var isByMessage: Bool { if case .message = way { true } else { false } }

        /// Where a form's answer may lead.
        var policy: PageAnswer.Policy {
            switch way {
            case .message: return PageAnswer.Policy()
            case .tokens(let callback), .code(let callback, _, _):
                let source = CallbackAddress.policySource(callback)
                return PageAnswer.Policy(formTargets: source.map { [$0] } ?? [])
            }
        }
    }

    /// `/sign-in/{ticket}`.
    func ticketSignIn(_ visit: Visit, _ ticket: String) throws -> PageAnswer {
        let request = visit.request
        guard let asker = try accountUseCases.handOver.asker(ticket, now: request.now) else {
            return PageAnswer(
                404, title: Phrase.ticketEnded.text, "<p>\(Phrase.ticketEndedHint)</p>")
        }
        let wish = HandOver.Wish(
            callback: request.query["callback"], state: request.query["state"],
            challenge: request.query["code_challenge"],
            challengeMethod: request.query["code_challenge_method"])
        let way: HandOver.Way
        do throws(HandOver.WayRefusal) {
            way = try accountUseCases.handOver.way(to: asker, wish)
        } catch {
            return Self.refused(error)
        }
        let asking = Asking(
            visit: visit, asker: asker, way: way,
            app: try accountUseCases.label(of: asker.apiToken.container))
        switch visit.action {
        case .signIn, .typeCode, .usePasskey: return try signIn(asking)
        case .letAppIn: return try proceed(asking)
        case .switchAccount:
            if let signedIn = visit.signedIn { try accountUseCases.sessions.end(signedIn.session) }
            var answer = PageAnswer.redirect(to: request.target)
            answer.headers.append(request.cookies.setting(.session, to: "", seconds: 0))
            return answer
        case .refuseApp: return Self.cancelled(asking)
        default: return try show(asking)
        }
    }

    /// Tells the person that nothing is wrong with their account, and the developer what is with their request.
    private static func refused(_ refusal: HandOver.WayRefusal) -> PageAnswer {
        let missing: Phrase =
            switch refusal {
            case .originMissing: .signInNoOrigin
            case .callbackUnregistered: .signInNoCallback
            case .callbackDiffers: .signInOtherCallback
            case .challengeMissing: .signInNoChallenge
            case .challengeIllegal: .signInBadChallenge
            case .stateTooLong: .signInLongState
            }
        return PageAnswer(
            400, title: Phrase.wayRefused.text,
            """
            <p>\(Phrase.wayRefusedHint)</p>
            <p class="note">\(missing)</p>
            <p>\(Phrase.signInDocumented.markup(["page": "<code>\(documentation)</code>"]))</p>
            """)
    }

    /// The page that describes how an app may sign people in.
    static let documentation = "docs/protocol/authentication.md#signing-in"

    private func show(_ asking: Asking) throws -> PageAnswer {
        guard let signedIn = asking.visit.signedIn else { return try form(asking) }
        let hasConsent = try accountUseCases.handOver.hasConsent(
            of: signedIn.account.id, for: asking.asker)
        let app = asking.app.name
        let title = hasConsent ? Phrase.proceedTo : Phrase.consentTitle
        let agree = hasConsent ? Phrase.proceed : Phrase.allow
        return PageAnswer(
            title: title.text(["app": app]),
            """
            \(Self.introduced(asking.app))
            <p>\(Texts.asks(app, asking.asker.origin))</p>
            <p>\(Texts.signedInAs(signedIn.account.fullName, signedIn.account.email ?? ""))</p>
            \(hasConsent ? .nothing : Texts.consent(app))
            \(asking.visit.form("""
            <div class="row"><button name="step" value="continue">\(agree)</button>
            <button class="second" name="step" value="switch">\(Phrase.useAnother)</button>
            <button class="second" name="step" value="cancel">\(Phrase.cancel)</button></div>
            """))
            """, policy: asking.policy)
    }

    private func form(
        _ asking: Asking, _ wanted: SignInAsking = SignInAsking()
    ) throws -> PageAnswer {
        var policy = asking.policy
        policy.runsScript = runsScript(wanted)
        return PageAnswer(
            wanted.status, title: Phrase.signIn.text, said: wanted.saying?.text,
            """
            \(Self.introduced(asking.app))
            <p>\(Texts.asks(asking.app.name, asking.asker.origin))</p>
            \(try signInForm(
                asking.visit, wanted,
                further: asking.visit.form("""
                <button class="second" name="step" value="cancel">\(Phrase.cancel)</button>
                """), providersApart: asking.isByMessage))
            """, policy: policy, script: policy.runsScript ? Self.passkeyScript : .nothing)
    }

    private func signIn(_ asking: Asking) throws -> PageAnswer {
        switch try attempt(asking.visit) {
        case .asked(let wanted):
            var answer = try form(asking, wanted)
            answer.headers += wanted.headers
            return answer
        case .signedIn(let session, let isKept, let cookies):
            // The next page asks people who have not agreed yet.
            var answer =
                try accountUseCases.handOver.hasConsent(of: session.account, for: asking.asker)
                ? try finish(asking, session, isKept: isKept)
                : PageAnswer.redirect(to: asking.visit.request.target)
            answer.headers += cookies
            return answer
        }
    }

    private func proceed(_ asking: Asking) throws -> PageAnswer {
        guard let signedIn = asking.visit.signedIn else {
            return .redirect(to: asking.visit.request.target)
        }
        let life = signedIn.session.expiresAt - signedIn.session.madeAt
        let isKept = life > Milliseconds(accountUseCases.settings.sessionSeconds) * 1_000
        return try finish(asking, signedIn.session, isKept: isKept)
    }

    private func finish(
        _ asking: Asking, _ session: BrowserSession, isKept: Bool
    ) throws -> PageAnswer {
        let parcel: HandOver.Parcel
        do {
            parcel = try accountUseCases.handOver.finish(
                in: session, asking.asker, asking.way, isKept: isKept,
                device: asking.visit.request.device, now: asking.visit.request.now)
        } catch CatalogRefusal.browserSessionUnknown {
            // Signed out meanwhile: the page asks them to sign in again.
            return .redirect(to: asking.visit.request.target)
        }
        switch parcel {
        case .redirect(let address): return .redirect(to: address)
        case .message(let origin, let token):
            return Self.handOver(
                Phrase.done.text,
                "<div id=\"outcome\" data-origin=\"\(origin)\" data-token=\"\(token)\">"
            )
        }
    }

    private static func cancelled(_ asking: Asking) -> PageAnswer {
        switch asking.way {
        case .message(let origin):
            return handOver(
                Phrase.cancelled.text,
                "<div id=\"outcome\" data-origin=\"\(origin)\" data-error=\"accessError\">")
        case .tokens(let callback):
            return .redirect(
                to: CallbackAddress.adding([("errorMessage", "accessError")], to: callback))
        case .code(let callback, let state, _):
            return .redirect(
                to: CallbackAddress.adding(
                    [("error", "access_denied")] + (state.map { [("state", $0)] } ?? []),
                    to: callback))
        }
    }

    private static func handOver(_ title: String, _ outcome: Markup) -> PageAnswer {
        PageAnswer(
            title: title,
            """
            \(outcome)</div>
            <p>\(Phrase.goBack)</p>
            <noscript><p class="problem">\(Phrase.needsScript)</p></noscript>
            """, policy: PageAnswer.Policy(runsScript: true),
            script: "<script src=\"/sign-in/hand-over.js\" defer></script>")
    }

    // MARK: - Codes

    /// `POST /sign-in/token`: a program trades its code (rulings.md 54).
    func trade(_ request: PageRequest) throws -> PageAnswer {
        guard request.isPost else {
            var answer = Self.json(405, "method not allowed; expected POST", request)
            answer.headers.append(("Allow", "POST"))
            return answer
        }
        // NB: what is no JSON is answered as what lacks its members.
        guard let body = try? JSONDocument(parsing: request.body).root, body.kind == .object,
            let code = body["code"]?.string, let verifier = body["code_verifier"]?.string
        else { return Self.json(400, "expected an object with code and code_verifier", request) }
        guard
            let made = try accountUseCases.handOver.trade(
                code: code, verifier: verifier, now: request.now)
        else { return Self.json(400, "the code is not good, or the verifier not its own", request) }
        var writer = JSONWriter(reserving: 360)
        for (start, text) in [
            ("{\"ckWebAuthToken\":", made.token), (",\"ckSession\":", made.token),
            (",\"userRecordName\":", made.userRecordName.text),
        ] as [(StaticString, String)] {
            writer.raw(start)
            writer.string(text)
        }
        writer.member("expires", made.expiresAt)
        writer.raw("}")
        return PageAnswer(200, type: "application/json; charset=UTF-8", body: writer.bytes)
    }

    private static func json(_ status: Int, _ reason: String, _ request: PageRequest) -> PageAnswer
    {
        var writer = JSONWriter(reserving: 200)
        writer.raw("{\"uuid\":")
        writer.string(request.id)
        writer.member("reason", reason)
        writer.raw(",\"serverErrorCode\":\"BAD_REQUEST\"}")
        return PageAnswer(status, type: "application/json; charset=UTF-8", body: writer.bytes)
    }
}
