import Accounts
import CloudModel
import Cryptography
import Foundation
import Storage
import Testing

@testable import Pages

/// Everything that decides who may come in as somebody.
private struct Entrance: Equatable {
    let addresses: [String]
    let password: String?
    let passkeys: Int
    let factor: SecondFactor?
    let identities: [ProvidedIdentity]
    /// But for the browser's own session, which may end itself.
    let otherBrowsers: Int
    let hasApp: Bool
    let isEnding: Bool
    let codesUnderWay: Int

    init(_ server: PageServer, _ account: AccountID, own: [UInt8]?, app: [UInt8]) throws {
        let (catalog, record) = (server.catalog, try server.catalog.account(account))
        addresses = (record?.addresses ?? []).filter { $0.verifiedAt != nil }.map(\.address.text)
        password = record?.password
        passkeys = try catalog.passkeys(of: account).count
        factor = try catalog.secondFactor(of: account)
        identities = try catalog.identities(of: account)
        otherBrowsers = try catalog.browserSessions(of: account).count { $0.hash != own }
        hasApp = try catalog.webSessions(.account(account), livingAt: .min, ListRequest()).items
            .contains { $0.session == app }
        isEnding = try catalog.ending(of: account) != nil
        codesUnderWay = try catalog.dueLetters(to: .email, now: .max, countMax: 99)
            .count { $0.purpose == .address }
    }
}

/// Somebody with several ways to come in, at a browser that is signed in.
private final class Scene {
    private static let link = "/share/0abAbCdEfGhIjKlMnOpQrStUv"

    let server: PageServer
    let browser: Browser
    private let provider = StandInProvider()
    private let account: AccountID
    private let own: [UInt8]
    private let app: [UInt8]
    private let api: APITokens.Created

    init() throws {
        server = try PageServer(fetch: provider)
        account = try server.user().id
        browser = Browser(server)
        for browser in [Browser(server), browser] {
            try browser.get("/sign-in")
            #expect(try browser.signIn("/sign-in").status == 303)
        }
        try browser.get("/account")
        own = SHA256.digest(Array((browser.cookies["__Host-lenticular-session"] ?? "").utf8))
        for (name, issuer) in [("Id", StandInProvider.issuer), ("B", "https://b.example")] {
            _ = try server.accountUseCases.identityProviders.add(
                name: name, issuer: issuer, client: StandInProvider.client, secret: nil,
                signingKey: nil, trustsEmail: false, usesFormPost: false, now: 1)
        }
        try server.catalog.add(
            .identity(ProvidedIdentity(issuer: "https://b.example", subject: "1")), of: account,
            now: 1)
        api = try server.apiToken(callback: "https://app.example/back")
        _ = try WebTokens(catalog: server.catalog).create(
            container: server.container, environment: .development, email: "ida@example.org",
            now: server.now)
        app = try #require(
            try server.catalog.webSessions(
                .account(account), livingAt: .min, ListRequest()
            ).items.first
        ).session
        _ = try server.letters()
    }

    func entrance() throws -> Entrance { try Entrance(server, account, own: own, app: app) }

    /// Readies what a form needs.
    func prepare(_ action: PageAction) throws {
        switch action {
        case .removePasskey:
            let question = question()
            #expect(
                try server.accountUseCases.passkeys.register(
                    answer(question), to: question.pageToken, name: "", of: account,
                    browser: form, now: server.now))
        case .removeSecondFactor:
            let secret = server.accountUseCases.secondFactors.makeSecret()
            _ = try server.accountUseCases.secondFactors.set(
                secret: secret, code: code(of: secret), of: account, now: server.now)
        case .proveAddress:
            _ = try server.accountUseCases.letters.ask(
                for: .address, to: AddressFormat.email("thief@evil.example"), of: account,
                from: nil, now: server.now)
        default: break
        }
    }

    /// Sends a form that would do what it asks; leads on to where it leads.
    func send(_ form: PageAction.Form) throws -> Shown {
        var fields = try fields(for: form.action)
        if let sign = form.sign { fields[sign.field] = sign.word }
        let shown = try browser.post(try path(to: form.page), fields)
        guard form.action == .linkProvider, shown.status == 200 else { return shown }
        let start = try #require(shown.text.range(of: "href=\"\(StandInProvider.issuer)"))
        let address = shown.text[start.upperBound...].prefix { $0 != "\"" }
        let (state, code) = try provider.letIn(
            StandInProvider.issuer + address.replacing("&amp;", with: "&"))
        return try browser.get("/sign-in/back?state=\(state)&code=\(code)")
    }

    func path(to page: PageName) throws -> String {
        switch page {
        case .ticket: try server.signInPath(api)
        case .share: Self.link
        case .reset, .welcome: "/\(page.rawValue)/secret"
        default: "/\(page.rawValue)"
        }
    }

    /// What each form holds beside what it asks: a new one has to say it here.
    private func fields(for action: PageAction) throws -> [String: String] {
        switch action {
        case .signIn, .typeCode, .usePasskey, .resetPassword, .makeAccount, .becomeOperator,
            .prove, .signOut, .switchAccount, .letAppIn, .refuseApp, .joinShare, .askForShare,
            .useShareSheet, .export, .endAll,
            .removeSecondFactor:
            return [:]
        case .askForReset, .askForAccount, .addAddress: return ["address": "thief@evil.example"]
        case .goToProvider, .linkProvider: return ["provider": "Id"]
        case .unlinkProvider: return ["issuer": "https://b.example"]
        case .beFindable: return ["findable": "1"]
        case .deleteAccount: return ["public": "keep"]
        case .changePassword: return ["present": "correct horse", "password": "battery staple"]
        case .endApp:
            return [
                "name": Hexadecimal.encode(app)
            ]
        case .endBrowser:
            let sessions = try server.catalog.browserSessions(of: account)
            return ["name": try #require(sessions.first { $0.hash != own }).name]
        case .proveAddress:
            let letter = try server.letters().first { $0.address == "thief@evil.example" }
            let lines = letter?.text.body.split(separator: "\n") ?? []
            let code = lines.first { $0.count == 9 }
            return ["address": "thief@evil.example", "code": String(code ?? "")]
        case .addPasskey:
            let question = question()
            return StandInAuthenticator().made(question.challenge)
                .merging(["pass": question.pageToken]) { $1 }
        case .removePasskey:
            let id = try server.catalog.passkeys(of: account).first?.id ?? []
            return ["name": Hexadecimal.encode(id)]
        case .setSecondFactor:
            let secret = server.accountUseCases.secondFactors.makeSecret()
            let pageToken = server.accountUseCases.pageTokens.make(
                .newSecondFactor, [account.text, Hexadecimal.encode(secret)], browser: form,
                seconds: 900, now: server.now)
            return ["pass": pageToken, "code": code(of: secret)]
        }
    }

    private var form: String { browser.cookies["__Host-lenticular-form"] ?? "" }

    private func question() -> Passkeys.Question {
        server.accountUseCases.passkeys.question(for: account, browser: form, now: server.now)
    }

    private func answer(_ question: Passkeys.Question) -> Passkeys.Answer {
        let made = StandInAuthenticator().made(question.challenge)
        return Passkeys.Answer(
            id: made["id"] ?? "", clientData: made["client-data"] ?? "", data: made["data"] ?? "",
            signature: "")
    }

    private func code(of secret: [UInt8]) -> String {
        TimeCodes(secret: secret).code(ofStep: TimeCodes.step(at: server.now))
    }
}

@Suite("What the pages' forms ask")
struct PageActionTests {
    /// Forms that change who comes in show by themselves who sends them; every other one is tried.
    private static let tried = PageAction.forms.filter { $0.action.proof != .ofItsOwn }

    @Test(
        "No form of any page lets a session of long ago change how somebody signs in",
        arguments: tried)
    private func stale(_ form: PageAction.Form) throws {
        let scene = try Scene()
        try scene.prepare(form.action)
        scene.server.clock.advance(629_000)
        let before = try scene.entrance()
        let shown = try scene.send(form)
        let after = try scene.entrance()
        if form.action == .proveAddress {
            // The letter was read for its code.
            #expect(after.addresses == before.addresses)
        } else {
            #expect(before == after)
        }
        let leads = shown.header("Location")?.hasPrefix("/account/prove") == true
        #expect(leads == (form.action.proof == .fresh), "\(shown.status)")
        #expect(scene.server.noted.all.isEmpty)
    }

    @Test(
        "Whoever showed lately who they are changes it by the same forms",
        arguments: tried.filter { $0.action.proof == .fresh && $0.action != .export })
    private func fresh(_ form: PageAction.Form) throws {
        let scene = try Scene()
        try scene.prepare(form.action)
        let before = try scene.entrance()
        _ = try scene.send(form)
        #expect(try scene.entrance() != before)
    }

    @Test("These forms alone show by themselves who sends them")
    func ofTheirOwn() {
        let own = PageAction.allCases.filter { $0.proof == .ofItsOwn }
        #expect(
            own == [
                .signIn, .typeCode, .usePasskey, .resetPassword, .makeAccount, .becomeOperator,
                .prove,
            ])
    }

    @Test("Every action stands in the table, and none of a page hides another of it")
    func table() {
        #expect(Set(PageAction.forms.map(\.action)) == Set(PageAction.allCases))
        for form in PageAction.forms {
            let fields = form.sign.map { "\($0.field)=\($0.word)" } ?? ""
            let asked = PageAction.asked(of: form.page, by: FormFields(Array(fields.utf8)))
            #expect(asked == form.action)
        }
    }

    @Test("What stands in no table is not done, on any page")
    func unknown() throws {
        let scene = try Scene()
        for page in [PageName.account, .secondFactor, .passkeys, .identities, .share, .ticket] {
            let path = try scene.path(to: page)
            let before = try scene.entrance()
            let shown = try scene.browser.post(path, ["do": "something", "step": "other"])
            #expect(shown.header("Location") == path)
            #expect(try scene.entrance() == before)
        }
    }

    @Test("Who proves it on the way from a share comes back to the share")
    func backToShare() throws {
        let scene = try Scene()
        scene.server.clock.advance(629_000)
        let form = try #require(
            PageAction.forms.first { $0.page == .share && $0.action == .addAddress })
        let away = try #require(try scene.send(form).header("Location"))
        try scene.browser.get(away)
        let back = try scene.browser.post(away, ["present": "correct horse"])
        #expect(try back.header("Location") == scene.path(to: .share))
    }
}
