import Accounts
import CloudModel
import Foundation
import Seeding
import Storage
import Testing

@testable import Pages

@Suite("Whom people trust: the server and its apps, by name and picture")
struct TrustPageTests {
    private static let png = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1] as [UInt8]
    private static let webp = Array("RIFF\u{0}\u{0}\u{0}\u{0}WEBPVP8 ".utf8)

    private let server: PageServer
    private let browser: Browser

    init() throws {
        server = try PageServer()
        browser = Browser(server)
        try server.user()
    }

    private func introduceApp() throws {
        _ = try Containers(catalog: server.catalog).set(
            ["name": "Tea <Notes>", "icon": "x", "website": "https://notes.example/about?a=1&b=2"],
            icon: Self.png, of: PageServer.container)
    }

    @Test("Every page says whose server it is, by name and picture, and so does its title")
    func mark() throws {
        var pages = [try browser.get("/sign-in"), try browser.get("/share/0ab")]
        pages.append(try browser.signIn("/sign-in", "no@example.org"))
        try browser.signIn("/sign-in")
        for path in [
            "/account", "/account/second-factor", "/account/passkeys", "/account/identities",
            "/account/export", "/account/delete", "/account/prove", "/sign-in/forgotten",
            "/sign-in/new", "/sign-in/done", "/sign-in/reset/x", "/sign-in/welcome/x",
            "/sign-in/AAAA", "/share/0ab", "/account/x", "/sign-in/icon/x",
        ] { pages.append(try browser.get(path)) }
        pages.append(try browser.send("/sign-in", method: .delete))
        let picture = try #require(pages[0].attribute("rel=\"icon\" href"))
        for page in pages {
            #expect(page.title.hasSuffix(" · Elm &amp; Sync"), "\(page.title)")
            #expect(page.text.contains("<header><img src=\"\(picture)\" alt=\"\""), "\(page.title)")
            #expect(page.text.contains("<bdi>Elm &amp; Sync</bdi></header>"), "\(page.title)")
        }
    }

    @Test("A passkey is kept by the server's name")
    func passkey() throws {
        try browser.get("/sign-in")
        try browser.signIn("/sign-in")
        let page = try browser.get("/account/passkeys")
        #expect(page.attribute("data-server") == "Elm & Sync")
    }

    @Test("Letters and text messages say whose they are")
    func letters() throws {
        let server = try PageServer(letterKinds: [.email, .phone])
        try server.user()
        let browser = Browser(server)
        for address in ["ida@example.org", "new@example.org", "+491712345678"] {
            try browser.get("/sign-in/new")
            try browser.post("/sign-in/new", ["address": address])
        }
        let letters = try server.letters()
        #expect(letters.count == 3)
        for (address, text) in letters {
            #expect(
                address.hasPrefix("+")
                    ? text.body.hasPrefix("Elm & Sync: You are invited.")
                    : text.body.hasSuffix("\n\nElm & Sync\nhttps://sync.example"), "\(text.body)")
        }
    }

    @Test("Pictures come from here alone, as what their bytes are, with nothing that could run")
    func pictures() throws {
        try introduceApp()
        let own = try #require(try browser.get("/sign-in").attribute("rel=\"icon\" href"))
        let name = try #require(
            try server.catalog.container(server.container)?.settings["icon"])
        for (path, type, age) in [
            (own, "image/png", 31_536_000), ("/favicon.ico", "image/png", 3_600),
            ("/sign-in/icon/\(name)", "image/png", 31_536_000),
        ] {
            let picture = try browser.get(path)
            #expect(picture.status == 200 && picture.header("Content-Type") == type, "\(path)")
            #expect(picture.header("X-Content-Type-Options") == "nosniff")
            #expect(picture.header("Cache-Control") == "public, max-age=\(age)")
            #expect(picture.header("Cross-Origin-Resource-Policy") == "same-origin")
            let policy = picture.header("Content-Security-Policy") ?? ""
            #expect(policy.hasPrefix("default-src 'none'") && !policy.contains("script-src"))
            #expect(picture.header("Set-Cookie") == nil)
        }
        #expect(Set(server.log.all.suffix(3).map(\.page)) == ["icon"])
        for path in ["/sign-in/icon/x", "/sign-in/icon/\(name)0", "/favicon.ico/x"] {
            #expect(try browser.get(path).status == 404, "\(path)")
        }
    }

    @Test("A picture is PNG, JPEG or WebP by its bytes, and small; anything else is refused")
    func formats() throws {
        let containers = Containers(catalog: server.catalog)
        func set(_ picture: [UInt8]?) throws -> String? {
            try containers.set(["icon": "x"], icon: picture, of: PageServer.container)
                .settings["icon"]
        }
        let full = Self.png + [UInt8](repeating: 0, count: 65_536 - Self.png.count)
        var names: Set<String> = []
        for picture in [Self.png, Self.webp, [0xff, 0xd8, 0xff, 0xe0], full] {
            let name = try #require(try set(picture))
            names.insert(name)
            #expect(try server.catalog.icon(named: name) == picture)
        }
        // Each took the place of the former.
        #expect(names.count == 4)
        #expect(try names.count { try server.catalog.icon(named: $0) != nil } == 1)
        let svg = Array("<svg xmlns=\"http://www.w3.org/2000/svg\"><script/></svg>".utf8)
        for picture in [
            svg, [], Array("GIF89a".utf8), full + [0], Array(Self.png.dropLast(2)), nil,
        ] {
            #expect(throws: AccountsRefusal.settingValueIllegal(.icon)) { try set(picture) }
        }
        let unset = try containers.set(["icon": ""], of: PageServer.container)
        #expect(unset.settings["icon"] == nil)
        #expect(try names.allSatisfy { try server.catalog.icon(named: $0) == nil })
        var random = SeededRandom("pictures")
        for _ in 0..<2_000 {
            let bytes = (0..<random.below(16)).map { _ in UInt8(random.below(256)) }
            #expect(PictureKind(of: bytes) == nil || bytes.count >= 3)
        }
    }

    @Test("Who is asked to let an app in reads in the title what is decided, and who asks")
    func consent() throws {
        try introduceApp()
        let path = try server.signInPath(try server.apiToken())
        let form = try browser.get(path)
        #expect(form.text.contains("<strong>Tea &lt;Notes&gt;</strong>"))
        try browser.signIn(path)
        let asked = try browser.get(path)
        let name = try #require(
            try server.catalog.container(server.container)?.settings["icon"])
        for page in [form, asked] {
            #expect(!page.text.contains(PageServer.container))
            #expect(page.text.contains("<img src=\"/sign-in/icon/\(name)\" alt=\"\">"))
            #expect(page.text.contains("href=\"https://notes.example/about?a=1&amp;b=2\""))
            #expect(page.text.contains("rel=\"noopener noreferrer\">notes.example</a>"))
        }
        #expect(asked.title.hasPrefix("Allow Tea &lt;Notes&gt; to access your account?"))
        #expect(asked.text.contains("<h1>Allow Tea &lt;Notes&gt; to access your account?</h1>"))
        #expect(asked.text.contains("value=\"continue\">Allow</button>"))
        try browser.post(path, ["step": "continue"])
        let again = try browser.get(path)
        #expect(again.text.contains("<h1>Continue to Tea &lt;Notes&gt;</h1>"))
        #expect(again.text.contains("value=\"continue\">Continue</button>"))
    }

    @Test("An app without a name is shown by its container, with no picture and no site")
    func unnamed() throws {
        let label = AppLabel(ContainerRecord(id: server.container, createdAt: 0))
        #expect(label == AppLabel(name: PageServer.container))
        for (website, site) in [
            ("https://notes.example", "notes.example"),
            ("http://a.example:8080/x?y#z", "a.example:8080"),
            ("https://notes.example@evil.example/", "evil.example"),
            ("https://notes.example?x", "notes.example"),
        ] {
            #expect(AppLabel(name: "a", website: website).site == site)
        }
    }
}
