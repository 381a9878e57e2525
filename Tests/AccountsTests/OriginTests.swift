import Accounts
import CloudModel
import Storage
import Testing

@Suite("Origins of pages")
struct OriginTests {
    @Test(
        "An origin has one spelling",
        arguments: [
            ("https://tea.example.org", "https://tea.example.org"),
            ("HTTPS://Tea.Example.ORG:443", "https://tea.example.org"),
            ("http://tea.example.org:80", "http://tea.example.org"),
            ("http://tea.example.org:0443", "http://tea.example.org:443"),
            ("http://localhost:3000", "http://localhost:3000"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("http://[::1]:8080", "http://[::1]:8080"),
            ("https://[2001:DB8::1]", "https://[2001:db8::1]"),
            ("capacitor://localhost", "capacitor://localhost"),
            ("chrome-extension://abcdef", "chrome-extension://abcdef"),
        ])
    func spelling(text: String, serialized: String) {
        #expect(WebOrigin.serialized(text) == serialized)
        #expect(WebOrigin.serialized(serialized) == serialized)
    }

    @Test(
        "What is not scheme, host and port is no origin",
        arguments: [
            "", "null", "*", "https://*.example.org", "tea.example.org", "//tea.example.org",
            "https:/tea.example.org", "https://", "https://:443", "://tea", "1http://tea",
            "https://tea.example.org/", "https://tea.example.org/path", "https://tea.example.org?q",
            "https://tea.example.org#f", "https://me@tea.example.org", "https://tea.example.org:",
            "https://tea.example.org:0", "https://tea.example.org:65536",
            "https://tea.example.org:+1",
            "https://tea.example.org:443:1", "https://[::1", "https://[]", "https://[g]",
            "https://tea example", " https://tea.example.org", "https://tea.example.org\r\nX: y",
            "https://täa.example.org", "https://tea.example.org\u{0}",
            "https://" + String(repeating: "a", count: 254),
        ])
    func noOrigin(text: String) { #expect(WebOrigin.serialized(text) == nil) }

    @Test(
        "A URL has its host behind any user's name, its port, and the rest as it was written",
        arguments: [
            ("HTTPS://Tea.example:8443/a?b#c", "Tea.example", 8443, "/a?b#c", false),
            ("https://tea.example@evil.example/", "evil.example", nil, "/", true),
            ("http://[::1]?q", "[::1]", nil, "?q", false),
            ("myapp://open", "open", nil, "", false),
        ] as [(String, String, Int?, String, Bool)])
    func parts(text: String, host: String, port: Int?, rest: String, hasUser: Bool) throws {
        let url = try #require(WebURL(text))
        #expect(url.host == host && url.port == port && url.rest == rest)
        #expect(url.hasUser == hasUser && url.scheme == url.scheme.lowercased())
    }

    @Test("A URL whose port the system chooses is read, and is no origin")
    func chosenPort() {
        #expect(WebURL("http://127.0.0.1:0/a")?.host == "127.0.0.1")
        #expect(WebOrigin.serialized("http://127.0.0.1:0") == nil)
    }

    @Test("Any text gives no origin or one whose spelling is stable and plain")
    func fuzz() {
        let seed = UInt64.random(in: .min ... .max)
        print("origin seed", seed)
        var generator = SplitMix(state: seed)
        let pieces = [
            "https", "http", ":", "//", "/", "a", "Z", ".", "-", "[", "]", "::1", "443", "80", "@",
            "?", "#", "%", "é", "\r\n", "\u{0}", "99999", "*", " ", "_",
        ]
        for _ in 0..<50_000 {
            let text = (0..<Int(generator.next() % 9)).map { _ in
                pieces[Int(generator.next() % UInt64(pieces.count))]
            }.joined()
            if let url = WebURL(text) {
                #expect(text.hasSuffix(url.rest) && text.contains(url.host), "seed \(seed)")
                #expect(!"/?#@".contains { url.host.contains($0) }, "seed \(seed): \(text)")
                #expect(WebURL(url.origin)?.origin == url.origin, "seed \(seed): \(text)")
                #expect(url.rest.first.map { "/?#".contains($0) } ?? true, "seed \(seed)")
            }
            guard let serialized = WebOrigin.serialized(text) else { continue }
            #expect(WebOrigin.serialized(serialized) == serialized, "seed \(seed): \(text)")
            #expect(serialized.utf8.allSatisfy { (0x21...0x7e).contains($0) }, "seed \(seed)")
            #expect(serialized == serialized.lowercased(), "seed \(seed)")
        }
    }

    @Test("A token with origins lets in their pages and requests of no page, and nobody else")
    func listed() throws {
        let server = try TestServer()
        let api = try server.apiToken(
            origins: ["https://tea.example.org", "http://localhost:3000"]
        ).token
        for _ in 0..<2 {
            for origin in ["https://tea.example.org", "http://localhost:3000"] {
                let found = server.identify(query: "ckAPIToken=\(api)", origin: origin)
                #expect(found.fault == nil)
                #expect(found.allowedOrigin == origin)
            }
            let plain = server.identify(query: "ckAPIToken=\(api)")
            #expect(plain.fault == nil)
            #expect(plain.allowedOrigin == nil)
            for origin in [
                "https://tea.example.org.evil.example", "https://evil.example", "null", "",
                "http://tea.example.org", "https://tea.example.org:8443", "https://ea.example.org",
            ] {
                let found = server.identify(query: "ckAPIToken=\(api)", origin: origin)
                #expect(found.fault == Fault(.authenticationFailed, "Authentication failed"))
                // The page reads this, and nothing else: it is told the same of a token that is not there.
                let unknown = server.identify(query: "ckAPIToken=x", origin: origin)
                #expect(found.allowedOrigin == (origin == "" ? nil : origin))
                #expect(unknown.allowedOrigin == found.allowedOrigin)
                #expect(unknown.fault == found.fault)
            }
        }
        let spelled = server.identify(
            query: "ckAPIToken=\(api)", origin: "HTTPS://TEA.example.org:443")
        #expect(spelled.fault == nil)
    }

    @Test("A token without origins lets in any page, and only an origin is echoed")
    func unlisted() throws {
        let server = try TestServer()
        let api = try server.apiToken().token
        for (origin, echoed): (String, String?) in [
            ("https://any.example", "https://any.example"), ("null", "null"),
            ("not an origin", nil), ("https://a.example\r\nX: y", nil), ("", nil),
        ] {
            let found = server.identify(query: "ckAPIToken=\(api)", origin: origin)
            #expect(found.fault == nil)
            #expect(found.allowedOrigin == echoed)
        }
    }

    @Test("The origin is allowed in a refusal too, so that a page reads why it was refused")
    func refusal() throws {
        let server = try TestServer()
        let api = try server.apiToken(origins: ["https://tea.example.org"]).token
        let found = server.identify(
            query: "ckAPIToken=\(api)&ckWebAuthToken=gone", origin: "https://tea.example.org")
        #expect(found.fault?.code == .authenticationRequired)
        #expect(found.allowedOrigin == "https://tea.example.org")
        let unknown = server.identify(query: "ckAPIToken=x", origin: "https://tea.example.org")
        #expect(unknown.fault?.code == .authenticationFailed)
        #expect(unknown.allowedOrigin == "https://tea.example.org")
        for forged in ["not an origin", "https://a.example\r\nX: y"] {
            let found = server.identify(query: "ckAPIToken=x", origin: forged)
            #expect(found.allowedOrigin == nil)
        }
    }
}
