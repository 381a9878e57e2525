import Accounts
import CloudModel
import Storage

/// What came of a form with address and password.
enum SignInOutcome {
    /// - Parameter cookies: header fields that make the browser know it.
    case signedIn(AccountRecord, cookies: [(name: String, value: String)])
    /// - Parameter problem: what to say above the form.
    case refused(status: Int, problem: String, headers: [(name: String, value: String)])
}

extension Pages {
    /// Signs a browser in by what was typed into the form.
    func attempt(_ visit: Visit) throws -> SignInOutcome {
        let request = visit.request
        let outcome = try reception.signIn.run(
            PasswordSignIn.Attempt(
                address: request.form.filled("address") ?? "",
                password: Array((request.form["password"] ?? "").utf8), client: request.client,
                device: request.cookies[.device]), now: request.now)
        switch outcome {
        case .wrong: return .refused(status: 403, problem: Texts.wrong, headers: [])
        case .unavailable:
            return .refused(
                status: 503, problem: Texts.unavailable, headers: [("Retry-After", "5")])
        case .wait(let seconds):
            return .refused(
                status: 429, problem: Texts.wait(seconds), headers: [("Retry-After", "\(seconds)")])
        case .signedIn(let account, let isNewDevice):
            if isNewDevice, reception.hasLetters, let primary = account.primary {
                try reception.letters.post(
                    .device, to: primary, of: account.id, detail: request.device, now: request.now)
            }
            return .signedIn(account, cookies: try begin(account.id, visit, isNewDevice))
        }
    }

    /// Begins a browser's session.
    ///
    /// A session that the browser had before ends: its cookie is replaced.
    func begin(
        _ account: AccountID, _ visit: Visit, _ isNewDevice: Bool
    ) throws -> [(name: String, value: String)] {
        let request = visit.request
        if let former = visit.signedIn { try reception.sessions.end(former.session) }
        let isKept = request.form["keep"] != nil
        let made = try reception.sessions.begin(
            for: account, device: request.device, isKept: isKept, now: request.now)
        var fields = [
            request.cookies.setting(
                .session, to: made.cookie, seconds: isKept ? made.seconds : nil)
        ]
        if isNewDevice {
            let device = reception.devices.cookie(for: account)
            fields.append(request.cookies.setting(.device, to: device, seconds: Self.deviceSeconds))
        }
        return fields
    }

    /// How long browsers keep it: 400 days, which is as long as they keep any.
    private static let deviceSeconds = 34_560_000

    /// The form, with what is to be said above it.
    func signInForm(_ visit: Visit, problem: String? = nil, further: Markup = .nothing) -> Markup {
        let address = visit.request.form.filled("address") ?? ""
        let again: Markup =
            reception.signUp == .open && reception.hasLetters
            ? "<p><a href=\"/sign-in/new\">\(Texts.newHere)</a></p>" : .nothing
        return """
            \(Self.alert(problem))
            \(visit.form("""
            <input type="hidden" name="step" value="sign-in">
            <label for="address">\(Texts.address)</label>
            <input id="address" name="address" type="email" autocomplete="username" \
            required maxlength="254" value="\(address)">
            <label for="password">\(Texts.password)</label>
            <input id="password" name="password" type="password" \
            autocomplete="current-password" required maxlength="1024">
            <div class="check"><input id="keep" name="keep" type="checkbox" value="1">\
            <label for="keep">\(Texts.keepSignedIn)</label></div>
            <div class="row"><button>\(Texts.signIn)</button></div>
            """))
            \(further)
            <p><a href="/sign-in/forgotten">\(Texts.forgotten)</a></p>
            \(again)
            """
    }

    /// What went wrong, where screen readers say it at once.
    static func alert(_ problem: String?) -> Markup {
        problem.map { "<p class=\"problem\" role=\"alert\">\($0)</p>" } ?? .nothing
    }

    /// What went well, the same way.
    static func note(_ text: String?) -> Markup {
        text.map { "<p role=\"status\">\($0)</p>" } ?? .nothing
    }

    /// `/sign-in`: to the account page.
    func plainSignIn(_ visit: Visit) throws -> PageAnswer {
        guard visit.request.isPost else {
            if visit.signedIn != nil { return .redirect(to: "/account") }
            return PageAnswer(title: Texts.signIn, signInForm(visit))
        }
        switch try attempt(visit) {
        case .signedIn(_, let cookies):
            var answer = PageAnswer.redirect(to: "/account")
            answer.headers += cookies
            return answer
        case .refused(let status, let problem, let headers):
            var answer = PageAnswer(
                status, title: Texts.signIn, signInForm(visit, problem: problem))
            answer.headers += headers
            return answer
        }
    }

    /// `/sign-in/out`.
    func signOut(_ visit: Visit) throws -> PageAnswer {
        guard visit.request.isPost else { return .redirect(to: "/account") }
        if let signedIn = visit.signedIn { try reception.sessions.end(signedIn.session) }
        var answer = PageAnswer.redirect(to: "/sign-in")
        answer.headers.append(visit.request.cookies.setting(.session, to: "", seconds: 0))
        return answer
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
