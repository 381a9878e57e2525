import Accounts
import Foundation
import Seeding
import Storage
import Synchronization
import Testing

@testable import Pages

@Suite("Languages of pages and letters")
struct LanguageTests {
    private func german() throws -> Phrasebook {
        try Phrasebook(
            tag: "de",
            entries: [
                ("signIn", "Anmelden"), ("password", "Passwort"),
                ("waitSeconds", "Noch {count} Sekunden."), ("account", "Ihr Konto"),
                ("resetPassword", "Passwort zurücksetzen"),
                ("letterUnasked", "Andernfalls ignorieren Sie diese Nachricht."),
                ("asksAt", "{app} ({origin}) möchte auf Ihr Konto zugreifen."),
            ])
    }

    private func server(_ more: Phrasebook..., usual: String = "en") throws -> PageServer {
        try PageServer(books: Phrasebooks([german()] + more, usual: usual))
    }

    private func page(
        _ server: PageServer, _ accepted: String?, _ path: String = "/sign-in"
    ) throws -> String {
        let headers = accepted.map { [("Accept-Language", $0)] } ?? []
        return try Browser(server).send(path, method: .get, headers: headers).text
    }

    @Test(
        "A page speaks the language that the browser wants most of those at hand",
        arguments: [
            (nil, "en"), ("", "en"), ("de", "de"), ("de-CH", "de"), ("DE-ch-1901", "de"),
            ("fr, de;q=0.5", "de"), ("en;q=0.5, de;q=0.9", "de"), ("de;q=0.5, en", "en"),
            ("en-GB, de", "en"), ("de;q=0", "en"), ("fr", "en"), ("*", "en"), ("d, dee", "en"),
            ("fr, *;q=0.3, de;q=0.2", "en"), ("de;q=0.001", "de"), (";q=1,,,-", "en"),
        ] as [(String?, String)])
    func accepted(_ header: String?, _ tag: String) throws {
        let text = try page(try server(), header)
        #expect(text.contains("<html lang=\"\(tag)\" dir=\"ltr\">"))
        #expect(text.contains("<h1>\(tag == "de" ? "Anmelden" : "Sign in")</h1>"))
        // What the file does not say is said in English.
        #expect(text.contains("Stay signed in"))
    }

    @Test("The operator says what those read whose browser asks for nothing that is at hand")
    func usual() throws {
        let server = try server(usual: "de")
        #expect(try page(server, "fr").contains("lang=\"de\""))
        #expect(try page(server, "en").contains("lang=\"en\""))
        #expect(try page(server, nil).contains("Anmelden"))
    }

    @Test("An address may ask for a language, and the browser keeps it")
    func chosen() throws {
        let server = try server()
        let browser = Browser(server)
        #expect(try browser.get("/sign-in?lang=de").text.contains("Anmelden"))
        #expect(try browser.get("/sign-in/forgotten").text.contains("lang=\"de\""))
        #expect(try browser.get("/sign-in?lang=en").text.contains("Sign in"))
        #expect(try browser.get("/sign-in").text.contains("lang=\"en\""))
        // Nothing of what was sent goes into the cookie.
        let odd = try browser.get("/sign-in?lang=x%0d%0aSet-Cookie:%20a=b")
        #expect(
            odd.headers.filter { $0.name == "Set-Cookie" }.allSatisfy { !$0.value.contains("a=b") })
    }

    @Test("A language that is written from right to left says so")
    func direction() throws {
        let hebrew = try Phrasebook(tag: "he", entries: [("signIn", "כניסה")])
        #expect(try page(try server(hebrew), "he-IL").contains("<html lang=\"he\" dir=\"rtl\">"))
    }

    @Test("No text of a file becomes markup")
    func escaped() throws {
        let evil = "<script>alert('1')</script>\"&"
        let entries = Phrase.allCases.map { phrase -> (key: String, text: String) in
            let names = PhraseTemplate(phrase.rawValue).names.map { "{\($0)}" }
            return (phrase.key, evil + names.joined())
        }
        let server = try PageServer(
            letterKinds: [.email, .phone],
            books: Phrasebooks([Phrasebook(tag: "xx", entries: entries)], usual: "xx"))
        try server.user()
        let browser = Browser(server)
        var shown = [try browser.get("/sign-in"), try browser.get("/share/0ab")]
        shown.append(try browser.signIn("/sign-in", "no@example.org"))
        try browser.signIn("/sign-in")
        for path in [
            "/account", "/account/second-factor", "/account/passkeys", "/account/identities",
            "/account/export", "/account/delete", "/account/prove", "/sign-in/forgotten",
            "/sign-in/new", "/sign-in/done", "/sign-in/reset/x", "/sign-in/AAAA", "/share/0ab",
            "/account/x",
        ] { shown.append(try browser.get(path)) }
        for page in shown {
            #expect(!page.text.contains("<script>") && page.text.contains("&lt;script&gt;"))
            #expect(!page.text.contains("</script>\"") && !page.text.contains("\"&\""))
        }
    }

    @Test("A letter is in the language of the page where it was asked for")
    func letters() throws {
        let server = try server()
        try server.user()
        for (accepted, subject) in [("de", "Passwort zurücksetzen"), ("en", "Reset your password")]
        {
            let browser = Browser(server)
            let headers = [("Accept-Language", accepted)]
            _ = try browser.send("/sign-in/forgotten", method: .get, headers: headers)
            try browser.post(
                "/sign-in/forgotten", ["address": "ida@example.org"], headers: headers)
            let letter = try #require(try server.letters().first)
            #expect(letter.text.subject == subject)
            #expect(letter.text.body.contains("https://sync.example/sign-in/reset/"))
            #expect(letter.text.body.contains("Andernfalls") == (accepted == "de"))
        }
    }

    @Test("Many at a time read each their own language")
    func together() throws {
        let server = try server()
        let wrong = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 64) { number in
            let (accepted, title) = number % 2 == 0 ? ("de", "Anmelden") : ("en", "Sign in")
            let text = try? page(server, accepted)
            if text?.contains("<h1>\(title)</h1>") != true { wrong.withLock { $0 += 1 } }
        }
        #expect(wrong.withLock { $0 } == 0)
    }

    @Test(
        "A file that is not as it should be is refused with what was expected",
        arguments: [
            ("de", "signin", "x", "there is no such text"),
            ("de", "signIn", " ", "expected a text of"),
            ("de", "signIn", String(repeating: "x", count: 2_001), "expected a text of"),
            ("de", "signIn", "a\nb", "expected no control characters"),
            ("de", "signIn", "{app}", "expected a text without braces"),
            ("de", "signIn", "a } b", "expected a text without braces"),
            ("de", "asks", "x", "expected {app} in it"),
            ("de", "asks", "{app} {origin}", "expected {app} in it"),
            ("de", "asks", "{app", "expected {app} in it"),
            ("de", "asksAt", "{app}", "expected {app} and {origin} in it"),
        ])
    func refused(_ tag: String, _ key: String, _ text: String, _ reason: String) {
        let refusal = #expect(throws: PhraseRefusal.self) {
            try Phrasebook(tag: tag, entries: [(key, text)])
        }
        #expect(refusal?.key == key && refusal?.reason.hasPrefix(reason) == true)
    }

    @Test(
        "The name of a file is that of a language",
        arguments: [
            "", "d", "deutsch", "de_DE", "de-", "-de", "de.bak", "de-a-b-c-d", "d1", "../de",
        ])
    func tags(_ tag: String) {
        #expect(throws: PhraseRefusal.self) { try Phrasebook(tag: tag, entries: []) }
    }

    @Test(
        "The texts are the terms that people know from other sites",
        arguments: [
            "Sign in", "Incorrect e-mail or password.", "Forgot password?", "Create account",
            "Stay signed in", "Devices", "Connected apps", "Two-factor authentication",
            "Download your data", "Delete account", "Change password", "Verification code",
        ])
    func terms(_ term: String) { #expect(Phrase(rawValue: term) != nil) }

    @Test("No text has a phrase that is this server's own")
    func ownPhrases() {
        let phrases = [
            "go together", "act for you", "let me in", "lets you in", "sign it out", "along",
            "whoever", "good for", "no more", "for ever", "present password", "take part",
        ]
        for phrase in Phrase.allCases {
            let text = phrase.rawValue.lowercased()
            for own in phrases { #expect(!text.contains(own), "\(phrase.key): \(own)") }
        }
    }

    @Test("What is printed to begin a language with is that language's file, in English")
    func template() throws {
        for phrase in Phrase.allCases {
            #expect(PhraseTemplate(checking: phrase.rawValue) != nil, "\(phrase.key)")
        }
        #expect(Set(Phrasebooks.keys).count == Phrase.allCases.count)
        let entries = Phrase.allCases.map { (key: $0.key, text: $0.rawValue) }
        #expect(try Phrasebook(tag: "en-GB", entries: entries).count == entries.count)
        for phrase in Phrase.allCases {
            #expect(Phrasebooks.template.contains("\n  \(phrase.key): \""))
        }
    }

    @Test("Whatever a browser says that it accepts, it gets a page")
    func fuzzed() throws {
        var random = SeededRandom("languages")
        let books = Phrasebooks([try german()])
        let pieces = ["de", "en", "-", ";", "q", "=", "0", "1", ".", ",", "*", " ", "é", "\u{0}"]
        for _ in 0..<5_000 {
            let text = (0..<random.below(40)).map { _ in random.one(of: pieces) }.joined()
            let tag = books.choose(chosen: nil, accepted: text).tag
            #expect(["de", "en"].contains(tag), "\(text)")
        }
    }
}
