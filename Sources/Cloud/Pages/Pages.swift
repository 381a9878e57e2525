import Accounts
import CloudModel

/// A visitor of a page.
struct Visit: Sendable {
    let request: PageRequest
    /// What shows that a form is ours.
    let formToken: String
    /// What the browser's own cookie holds, signed in or not.
    let browser: String
    let signedIn: BrowserSessions.SignedIn?
    /// What the form asks for, once its sender has proved what that needs; nil where the page is only to be
    /// shown.
    let action: PageAction?

    /// A form that comes back to where it is shown, or to another place.
    func form(to path: String? = nil, _ content: Markup) -> Markup {
        """
        <form method="post" action="\(path ?? request.target)">
        <input type="hidden" name="guard" value="\(formToken)">
        \(content)
        </form>
        """
    }
}

/// Which page answers what.
struct Pages: Sendable {
    typealias Work = @Sendable (PageRequest) throws -> PageAnswer

    /// What answers a request.
    struct Route: Sendable {
        let page: PageName
        /// Whether it is made already: nothing is looked up for it.
        var isFixed: Bool { page == .style || page == .script }
        /// What its form asks for; nil for none.
        var action: PageAction?
        let work: Work
    }

    let accountUseCases: AccountUseCases
    /// Nil where nothing is shared.
    let shares: (any SharedLinks)?
    let mark: ServiceMark
    /// Where the files of the JavaScript client are.
    let clientFolder: String
    private let books: Phrasebooks
    private let forms: FormGuard

    init(
        _ accountUseCases: AccountUseCases, shares: (any SharedLinks)?, books: Phrasebooks,
        mark: ServiceMark, clientFolder: String
    ) throws {
        self.accountUseCases = accountUseCases
        self.shares = shares
        self.mark = mark
        self.clientFolder = clientFolder
        self.books = books
        forms = FormGuard(key: accountUseCases.formKey, random: accountUseCases.random)
    }

    /// The page at an address, in the visitor's language.
    func find(_ request: PageRequest) -> Route {
        let (page, work) = page(at: request)
        return Route(
            page: page,
            action: request.isPost ? PageAction.asked(of: page, by: request.form) : nil
        ) { request in try speaking(to: request) { try work(request) } }
    }

    /// Whether a request comes from a browser in which somebody has signed in before, as far as it says so itself.
    func mayBeKnown(_ request: PageRequest) -> Bool {
        request.cookies[.device] != nil || request.cookies[.session] != nil
    }

    /// The account that a form is about, where its browser is signed in or has been before; nil for a stranger.
    func knownAccount(_ request: PageRequest) throws -> AccountID? {
        if let typed = request.form.filled("address") {
            // Anyone who is signed in and types another's address is a stranger.
            return try accountUseCases.signIn.account(
                knownAt: request.cookies[.device], typed: typed)
        }
        return try accountUseCases.sessions.find(request.cookies[.session], now: request.now)?
            .account.id
    }

    /// Makes a page in the language that the person chose or that their browser names.
    func speaking<Outcome>(
        to request: PageRequest, _ body: () throws -> Outcome
    ) rethrows -> Outcome {
        let chosen = request.chosenLanguage ?? request.cookies[.language]
        let book = books.choose(chosen: chosen, accepted: request.headers["accept-language"])
        return try Phrasebook.$current.withValue(book) { try body() }
    }

    private func page(at request: PageRequest) -> (page: PageName, work: Work) {
        if request.path.first == "account" { return accountPage(request.path.dropFirst()) }
        let rest = request.path.dropFirst()
        if request.path.first == "favicon.ico" {
            return request.path.count == 1 ? (.icon, { _ in favicon() }) : (.none, Self.nothing)
        }
        if request.path.first == "share" {
            guard let link = rest.first, rest.count == 1 else { return (.none, Self.nothing) }
            return visit(.share) { try share($0, link) }
        }
        if request.path.first == "share-sheet" { return shareSheetPage(rest) }
        switch (rest.first, rest.dropFirst().first, rest.count) {
        case (nil, _, _): return visit(.signIn) { try plainSignIn($0) }
        case ("style.css"?, _, 1):
            return (.style, Self.fixed(StaticParts.style, "text/css; charset=utf-8"))
        case ("hand-over.js"?, _, 1):
            return (.script, Self.fixed(StaticParts.handOver, "text/javascript; charset=utf-8"))
        case ("passkey.js"?, _, 1):
            return (.script, Self.fixed(StaticParts.passkey, "text/javascript; charset=utf-8"))
        case ("copy.js"?, _, 1):
            return (.script, Self.fixed(StaticParts.copy, "text/javascript; charset=utf-8"))
        case ("first.js"?, _, 1):
            return (
                .script, Self.fixed(StaticParts.firstOperator, "text/javascript; charset=utf-8")
            )
        case ("first"?, _, 1): return visit(.firstOperator) { try firstOperator($0) }
        case ("icon"?, let name?, 2): return (.icon, { _ in try icon(name) })
        case ("with"?, _, 1): return visit(.provider) { try signInWith($0) }
        case ("back"?, _, 1):
            return request.isPost
                ? (.providerBack, { providerForm($0) })
                : visit(.providerBack) { try providerBack($0) }
        case ("done"?, _, 1):
            return (
                .signInDone,
                { _ in PageAnswer(title: Phrase.done.text, "<p>\(Phrase.goBackToWindow)</p>") }
            )
        case ("token"?, _, 1): return (.trade, { try trade($0) })
        case ("forgotten"?, _, 1): return visit(.forgotten) { try forgotten($0) }
        case ("new"?, _, 1): return visit(.newAccount) { try newAccount($0) }
        case ("out"?, _, 1): return visit(.signOut) { try signOut($0) }
        case ("reset"?, let secret?, 2): return visit(.reset) { try reset($0, secret) }
        case ("welcome"?, let secret?, 2): return visit(.welcome) { try welcome($0, secret) }
        case (let ticket?, _, 1): return visit(.ticket) { try ticketSignIn($0, ticket) }
        default: return (.none, Self.nothing)
        }
    }

    private func shareSheetPage(_ rest: ArraySlice<String>) -> (page: PageName, work: Work) {
        switch (rest.first, rest.count) {
        case (nil, _): (.shareSheet, { try shareSheet($0) })
        case ("texts"?, 1): (.shareSheetTexts, { shareSheetTexts($0) })
        default: (.none, Self.nothing)
        }
    }

    private func accountPage(_ rest: ArraySlice<String>) -> (page: PageName, work: Work) {
        switch (rest.first, rest.count) {
        case (nil, _): return visit(.account) { try account($0) }
        case ("prove"?, 1): return visit(.prove) { try prove($0) }
        case ("second-factor"?, 1): return visit(.secondFactor) { try secondFactor($0) }
        case ("identities"?, 1): return visit(.identities) { try identities($0) }
        case ("passkeys"?, 1): return visit(.passkeys) { try passkeys($0) }
        case ("export"?, 1): return visit(.export) { try export($0) }
        case ("delete"?, 1): return visit(.delete) { try deleteAccount($0) }
        default: return (.none, Self.nothing)
        }
    }

    private static let nothing: Work = { _ in PageAnswer(404, title: Phrase.notHere.text, .nothing)
    }

    private static func fixed(_ text: String, _ type: String) -> Work {
        { _ in PageAnswer(200, type: type, body: Array(text.utf8), cacheSeconds: 300) }
    }

    /// Runs a page for a browser whose forms are known to be ours, once the person has proved what the page needs.
    private func visit(
        _ page: PageName, _ work: @escaping @Sendable (Visit) throws -> PageAnswer
    ) -> (page: PageName, work: Work) {
        (
            page,
            { request in
                if request.isPost, !forms.admits(request) {
                    return PageAnswer(
                        403, title: Phrase.formExpired.text,
                        "<p><a href=\"\(request.target)\">\(Phrase.openAgain)</a></p>")
                }
                let (cookie, isNew) = forms.cookie(request.cookies[.form])
                let signedIn = try accountUseCases.sessions.find(
                    request.cookies[.session], now: request.now)
                var answer = try admitted(page, request, cookie, signedIn, work)
                if isNew {
                    answer.headers.append(
                        request.cookies.setting(.form, to: cookie, seconds: nil))
                }
                if request.chosenLanguage != nil {
                    // Links lead on without it. The tag is ours, not what was sent.
                    answer.headers.append(
                        request.cookies.setting(
                            .language, to: Phrasebook.current.tag, seconds: nil))
                }
                return answer
            }
        )
    }

    /// Does what a form asks, if it is in the table and the person has proved what it needs.
    private func admitted(
        _ page: PageName, _ request: PageRequest, _ cookie: String,
        _ signedIn: BrowserSessions.SignedIn?, _ work: (Visit) throws -> PageAnswer
    ) throws -> PageAnswer {
        var action = request.isPost ? PageAction.asked(of: page, by: request.form) : nil
        if request.isPost, action == nil { return .redirect(to: request.target) }
        switch action?.proof {
        // The page asks the visitor to sign in, or says where to do that.
        case .session, .fresh: if signedIn == nil { action = nil }
        case nil, .nothing, .ofItsOwn: break
        }
        let visit = Visit(
            request: request, formToken: forms.token(for: cookie), browser: cookie,
            signedIn: signedIn, action: action)
        if page.isShownByProof || action?.proof == .fresh, let signedIn,
            !accountUseCases.sessions.isFresh(signedIn.session, now: request.now)
        {
            return .redirect(to: proofAddress(for: page, visit))
        }
        return try work(visit)
    }
}
