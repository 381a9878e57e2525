import Accounts
import CloudModel
import Foundation
import HTTP
import Storage
import Synchronization
import Testing

@testable import Pages

/// Links as the test says that they are.
private final class SaidLinks: SharedLinks {
    struct State {
        var toAll: SharedThing?
        var toUsers: SharedThing?
        var asked = 0
        var looks = 0
        var joins = 0
        var fault: Fault?
        var usage: [AppUsage] = []
        var shares: [KnownShare] = []
        /// What was asked of the sheet; of a look, an empty text.
        var changes: [String] = []
    }

    let state = Mutex(State())

    func look(at link: String, as visitor: AccountRecord?) throws -> SharedThing? {
        state.withLock { state in
            state.looks += 1
            guard link.hasPrefix("0ab") else { return nil }
            return visitor == nil ? state.toAll : state.toUsers
        }
    }

    func join(_ link: String, as visitor: AccountRecord) throws -> Bool {
        try state.withLock { state in
            if let fault = state.fault { throw fault }
            state.joins += 1
            guard state.toUsers != nil else { return false }
            state.toUsers?.participation = .joined
            return true
        }
    }

    func ask(for link: String, as visitor: AccountRecord) throws {
        try state.withLock { state in
            if let fault = state.fault { throw fault }
            state.asked += 1
        }
    }

    func sheet(of link: String, as visitor: AccountRecord, change: String?) throws -> [UInt8]? {
        state.withLock { state in
            state.changes.append(change ?? "")
            return state.toUsers?.takesPart == true ? Array(#"{"records":[]}"#.utf8) : nil
        }
    }

    func usage(of account: AccountRecord) throws -> [AppUsage] { state.withLock { $0.usage } }

    func shares(of account: AccountRecord) throws -> [KnownShare] { state.withLock { $0.shares } }
}

@Suite("Pages of shares")
struct SharePageTests {
    private let links = SaidLinks()
    private let server: PageServer
    private let browser: Browser
    private let path = "/share/0abAbCdEfGhIjKlMnOpQrStUv"

    init() throws {
        server = try PageServer(shares: links)
        browser = Browser(server)
        try server.user()
    }

    private var thing: SharedThing {
        SharedThing(
            title: "Tea & <cakes>", type: "org.example.list", owner: "Mo Roe", participation: .open,
            mayWrite: false, app: AppLabel(name: "iCloud.org.example.Tea"),
            link: "https://sync.example\(path)")
    }

    private func signIn(_ path: String) throws -> Shown {
        try browser.get(path)
        let done = try browser.signIn(path)
        #expect(done.status == 303 && done.header("Location") == path)
        return try browser.get(path)
    }

    @Test("Who is not signed in sees the same for a private link and for none, but for the link")
    func doorstep() throws {
        links.state.withLock { $0.toUsers = thing }
        try browser.get("/sign-in")
        let closed = try browser.get(path)
        let none = try browser.get("/share/0zz")
        #expect(closed.status == 200 && none.status == 200)
        // What an authenticator is asked is another thing each time.
        let random = #/["=][A-Za-z0-9_\-]{20,}"/#
        #expect(
            closed.text.replacing(path, with: "/share/0zz").replacing(random, with: "")
                == none.text.replacing(random, with: ""))
        #expect(!closed.text.contains("Tea") && closed.text.contains("Sign in to open it."))
        #expect(closed.headers.map(\.name) == none.headers.map(\.name))
        let looks = links.state.withLock { $0.looks }
        #expect(looks == 2)
    }

    @Test("Of what is open to all, title, kind and picture are shown to all, and not whose it is")
    func open() throws {
        links.state.withLock { $0.toAll = thing }
        let page = try browser.get(path)
        #expect(
            page.text.contains("Tea &amp; &lt;cakes&gt;") && page.text.contains("org.example.list"))
        #expect(!page.text.contains("Mo Roe") && !page.text.contains("<svg"))
        #expect(page.text.contains("name=\"password\""))
    }

    @Test("A session of long ago adds no address by way of a share")
    func addressProof() throws {
        _ = try signIn(path)
        _ = try server.letters()
        server.clock.advance(629_000)
        let asked = try browser.post(path, ["do": "address", "address": "thief@evil.example"])
        #expect(asked.header("Location")?.hasPrefix("/account/prove") == true)
        #expect(try server.letters().isEmpty)
        // A code that was sent while the session was fresh is of no use to an old one, either.
        try browser.get("/account/prove")
        try browser.post("/account/prove", ["present": "correct horse"])
        try browser.get(path)
        try browser.post(path, ["do": "address", "address": "ida@work.example"])
        let letter = try #require(try server.letters().first)
        let code = String(letter.text.body.split(separator: "\n").first { $0.count == 9 } ?? "")
        server.clock.advance(629_000)
        let fields = ["do": "code", "address": "ida@work.example", "code": code]
        let typed = try browser.post(path, fields)
        #expect(typed.header("Location")?.hasPrefix("/account/prove") == true)
        let id = try #require(try Users(catalog: server.catalog).list().items.first?.id)
        #expect(
            try server.catalog.account(id)?.addresses.map(\.address.text) == ["ida@example.org"])
    }

    @Test("What shows previews of links is told nothing, and looking changes nothing")
    func previews() throws {
        links.state.withLock { $0.toAll = thing }
        for method in [HTTPRequest.Method.get, .head] {
            let page = try browser.send(path, method: method)
            #expect(page.title == "Shared item · Elm &amp; Sync")
            #expect(!page.text.contains("og:") && !page.text.contains("name=\"description\""))
            #expect(page.header("X-Robots-Tag")?.contains("nosnippet") == true)
            #expect(page.header("Cache-Control") == "no-store")
        }
        let (joins, asked) = links.state.withLock { ($0.joins, $0.asked) }
        #expect(joins == 0 && asked == 0)
        #expect(server.log.all.allSatisfy { $0.page == "share" })
    }

    @Test(
        "A picture is what its bytes say, and anything else is not shown",
        arguments: [
            ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1], "image/png"),
            ([0xff, 0xd8, 0xff, 0xe0], "image/jpeg"),
            (Array("RIFF1234WEBPVP8 ".utf8), "image/webp"),
            (Array("<svg onload='alert(1)'>".utf8), nil), (Array("GIF89a".utf8), nil),
            (Array("RIFF".utf8), nil), (Array("RIFF1234WAVE".utf8), nil), ([], nil),
        ] as [([UInt8], String?)])
    func pictures(_ bytes: [UInt8], _ type: String?) throws {
        links.state.withLock {
            $0.toAll = thing
            $0.toAll?.thumbnail = bytes
        }
        let page = try browser.get(path)
        let shown = page.text.contains("<div class=\"card\"><img")
        #expect(shown == (type != nil))
        if let type { #expect(page.text.contains("src=\"data:\(type);base64,")) }
    }

    @Test("Signed in one sees who shares what and with which right, and joins by a form")
    func joining() throws {
        links.state.withLock { $0.toUsers = thing }
        let page = try signIn(path)
        #expect(page.text.contains("<strong>Mo Roe</strong>") && page.text.contains("view it"))
        #expect(!page.text.contains("edit it") && !page.text.contains("<svg"))
        let done = try browser.post(path, ["do": "join"])
        #expect(done.status == 303 && done.header("Location") == path)
        let joined = try browser.get(path)
        #expect(joined.text.contains("iCloud.org.example.Tea") && joined.text.contains("<svg"))
        #expect(joined.text.contains("<code>https://sync.example\(path)</code>"))
        #expect(!joined.text.contains("value=\"join\""))
    }

    @Test("Who has joined goes on to where the container says, which the page's policy allows")
    func destination() throws {
        links.state.withLock {
            $0.toUsers = thing
            $0.toUsers?.destination = "https://tea.example/join?s=0ab~x"
            $0.toUsers?.mayWrite = true
        }
        let page = try signIn(path)
        #expect(page.text.contains("view and edit it"))
        let policy = page.header("Content-Security-Policy") ?? ""
        #expect(policy.contains("form-action 'self' https://tea.example;"))
        let done = try browser.post(path, ["do": "join"])
        #expect(done.header("Location") == "https://tea.example/join?s=0ab~x")
        #expect(
            try browser.get(path).text.contains("href=\"https://tea.example/join?s=0ab~x\""))
    }

    @Test("Who has left is offered to join again; the owner is not")
    func standings() throws {
        links.state.withLock {
            $0.toUsers = thing
            $0.toUsers?.participation = .left
        }
        #expect(try signIn(path).text.contains("Join again"))
        links.state.withLock { $0.toUsers?.participation = .owner }
        let own = try browser.get(path)
        #expect(own.text.contains("You share this") && !own.text.contains("value=\"join\""))
    }

    @Test("A form of another site, or without its token, does nothing")
    func forgery() throws {
        links.state.withLock { $0.toUsers = thing }
        _ = try signIn(path)
        #expect(try browser.post(path, ["do": "join", "guard": "00"]).status == 403)
        let foreign = try browser.post(
            path, ["do": "join"], headers: [("Origin", "https://evil.example")])
        #expect(foreign.status == 403)
        let joins = links.state.withLock { $0.joins }
        #expect(joins == 0)
        // Somebody who is not signed in joins nothing either.
        let stranger = Browser(server)
        try stranger.get(path)
        #expect(try stranger.post(path, ["do": "join"]).text.contains("Sign in"))
        let after = links.state.withLock { $0.joins }
        #expect(after == 0)
    }

    @Test("Who takes part gets the sheet, by a script that asks this server alone; others get none")
    func sheet() throws {
        links.state.withLock { $0.toUsers = thing }
        let invited = try signIn(path)
        #expect(!invited.text.contains("<share-page") && !invited.text.contains("<script"))
        #expect(invited.header("Content-Security-Policy")?.contains("connect-src") == false)
        #expect(try browser.post(path, ["do": "sheet"]).status == 404)
        for participation in [SharedThing.Participation.joined, .owner] {
            links.state.withLock { $0.toUsers?.participation = participation }
            let page = try browser.get(path)
            #expect(page.text.contains("<script type=\"module\" src=\"/client/elements.js\">"))
            #expect(page.text.contains("<share-page data-guard=\"\(page.guardField ?? "")\""))
            let policy = page.header("Content-Security-Policy") ?? ""
            #expect(policy.contains("script-src 'self'; connect-src 'self';"))
            let seen = try browser.post(path, ["do": "sheet"])
            #expect(seen.status == 200 && seen.text == "{\"records\":[]}")
            #expect(seen.header("Content-Type") == "application/json; charset=utf-8")
            try browser.get(path)
            try browser.post(path, ["do": "sheet", "operation": "{}"])
            try browser.get(path)
        }
        // Nobody changes it by a form of another site, without the page's token, or signed out.
        let before = links.state.withLock { $0.changes }
        #expect(before == ["", "", "{}", "", "{}"])
        let change = ["do": "sheet", "operation": "{}"]
        #expect(try browser.post(path, change.merging(["guard": "00"]) { $1 }).status == 403)
        try browser.get(path)
        let foreign = try browser.post(
            path, change, headers: [("Origin", "https://evil.example")])
        #expect(foreign.status == 403)
        let stranger = Browser(server)
        try stranger.get(path)
        #expect(try stranger.post(path, change).text.contains("Sign in"))
        let after = links.state.withLock { $0.changes }
        #expect(after == before)
    }

    @Test("For what is not there or not for them, people are told the same, and may ask")
    func nothing() throws {
        let page = try signIn(path)
        let other = try browser.get("/share/0zz")
        #expect(page.status == 404 && page.text.replacing(path, with: "/share/0zz") == other.text)
        #expect(page.text.contains("Invited at another address?"))
        let asked = try browser.post("/share/0zz", ["do": "ask"])
        #expect(asked.status == 200 && asked.text.contains("If this item accepts requests"))
        links.state.withLock { $0.fault = Fault(.throttled, "enough") }
        #expect(try browser.post("/share/0zz", ["do": "ask"]).status == 429)
        links.state.withLock {
            $0.fault = .badRequest("full")
            $0.toUsers = thing
        }
        try browser.get(path)
        #expect(try browser.post(path, ["do": "join"]).status == 409)
    }

    @Test("A code is sent to any address, and makes it the account's for good")
    func otherAddress() throws {
        _ = try signIn(path)
        _ = try server.letters()
        let sent = try browser.post(path, ["do": "address", "address": "later@example.org"])
        #expect(
            sent.status == 200 && sent.text.contains("Verification code (later@example.org)"))
        let letter = try #require(try server.letters().first)
        #expect(letter.address == "later@example.org")
        let line = try #require(
            letter.text.body.split(separator: "\n").first { $0.first?.isNumber == true })
        let wrong = try browser.post(
            path, ["do": "code", "address": "later@example.org", "code": "00000000"])
        #expect(wrong.status == 422 && wrong.text.contains("This code is incorrect"))
        let right = try browser.post(
            path, ["do": "code", "address": "later@example.org", "code": String(line)])
        #expect(right.status == 303 && right.header("Location") == path)
        #expect(try browser.get("/account").text.contains("later@example.org"))
        // Another account cannot have it any more.
        try server.user("mo@example.org", given: "Mo")
        let mo = Browser(server)
        try mo.get(path)
        try mo.signIn(path, "mo@example.org")
        try mo.get(path)
        try mo.post(path, ["do": "address", "address": "later@example.org"])
        let second = try #require(
            try server.letters().first { $0.address == "later@example.org" })
        let code = try #require(
            second.text.body.split(separator: "\n").first { $0.first?.isNumber == true })
        let taken = try mo.post(
            path, ["do": "code", "address": "later@example.org", "code": String(code)])
        #expect(taken.status == 422 && taken.text.contains("already in use"))
    }

    @Test("Codes for other addresses are rate-limited, and what is no address is refused")
    func codeLimit() throws {
        _ = try signIn(path)
        #expect(try browser.post(path, ["do": "address", "address": "nobody"]).status == 422)
        var statuses: [Int] = []
        for number in 0..<12 {
            statuses.append(
                try browser.post(
                    path, ["do": "address", "address": "a\(number)@example.org"]
                ).status)
        }
        #expect(statuses.first == 200 && statuses.last == 429)
    }

    @Test("Where no letters are sent, the page says who can add an address")
    func noLetters() throws {
        let server = try PageServer(letterKinds: [], shares: links)
        try server.user()
        let browser = Browser(server)
        try browser.get(path)
        try browser.signIn(path)
        #expect(try browser.get(path).text.contains("does not send e-mail"))
        #expect(
            try browser.post(path, ["do": "address", "address": "a@example.org"]).status == 422)
    }

    @Test("Another account can be taken, and a wrong password says so on the same page")
    func accounts() throws {
        try browser.get(path)
        let wrong = try browser.signIn(path, "ida@example.org", "wrong horse")
        #expect(wrong.status == 403 && wrong.text.contains("Incorrect e-mail or password."))
        _ = try signIn(path)
        let out = try browser.post(path, ["do": "switch"])
        #expect(out.header("Location") == path)
        #expect(try browser.get(path).text.contains("Sign in to open it."))
    }

    @Test("Nothing lies below a link, and without shares every link leads nowhere")
    func addresses() throws {
        #expect(try browser.get("/share").status == 404)
        #expect(try browser.get(path + "/more").status == 404)
        let server = try PageServer()
        #expect(try Browser(server).get(path).status == 200)
    }

    @Test("The account page says what each app keeps")
    func usage() throws {
        links.state.withLock {
            $0.usage = [
                AppUsage(
                    app: AppLabel(name: "iCloud.tea"), environment: .production, bytes: 1_234_567,
                    records: 1),
                AppUsage(
                    app: AppLabel(name: "iCloud.mate"), environment: .development, bytes: 12,
                    records: 3),
            ]
        }
        _ = try signIn(path)
        let part = try browser.get("/account").part("Storage")
        #expect(part.contains("<strong>iCloud.tea</strong></span>"))
        #expect(part.contains("1 record, 1.2 MB"))
        #expect(part.contains("<strong>iCloud.mate</strong> (development)"))
        #expect(part.contains("3 records, 12 bytes"))
    }

    @Test("The account page says what one shares and what others share with one, with the links")
    func sharing() throws {
        _ = try signIn(path)
        #expect(try !browser.get("/account").text.contains("<h2>Sharing</h2>"))
        let app = AppLabel(name: "Notes")
        func share(
            _ title: String?, _ isOwn: Bool, _ others: Int, _ isOpen: Bool, _ link: String
        )
            -> KnownShare
        {
            KnownShare(
                title: title, owner: isOwn ? "" : "Mo Roe", isOwn: isOwn, others: others,
                isOpen: isOpen, app: app, link: link)
        }
        links.state.withLock {
            $0.shares = [
                share("Tea & <cakes>", true, 1, false, "0a1"), share(nil, true, 3, false, "0a2"),
                share("Open", true, 0, true, "0a3"), share("Theirs", false, 0, false, "0a4"),
            ]
        }
        let part = try browser.get("/account").part("Sharing")
        let halves = part.split(separator: "<h3>Shared with you</h3>")
        #expect(halves.count == 2 && halves[0].contains("<h3>Shared by you</h3>"))
        for (half, link, text) in [
            (
                0, "<a href=\"/share/0a1\">Tea &amp; &lt;cakes&gt;</a>",
                "In Notes, with 1 other person"
            ),
            (0, "<a href=\"/share/0a2\">Untitled</a>", "with 3 other people"),
            (0, "<a href=\"/share/0a3\">Open</a>", "with anyone who has the link"),
            (1, "<a href=\"/share/0a4\">Theirs</a>", "In Notes, from Mo Roe"),
        ] {
            #expect(halves[half].contains(link) && halves[half].contains(text), "\(link)")
        }
    }
}
