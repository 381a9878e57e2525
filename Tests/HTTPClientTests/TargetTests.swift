import HTTPClient
import Network
import Seeding
import Testing

@Suite("Targets that others name")
struct TargetTests {
    @Test("A target is https or http, a host, perhaps a port, path and query")
    func targets() throws {
        let plain = try #require(TargetURL("https://hooks.example.com"))
        #expect(plain.target == "/")
        #expect(plain.origin.port == 443)
        let full = try #require(TargetURL("https://a.example:8443/in?x=1&y=%20"))
        #expect(full.target == "/in?x=1&y=%20")
        #expect(full.origin.authority == "a.example:8443")
        #expect(TargetURL("https://a.example?x")?.target == "/?x")
        #expect(TargetURL("https://[2606:4700::1111]/")?.origin.host == "2606:4700::1111")
        #expect(TargetURL("https://a:00443/")?.origin.port == 443)
    }

    @Test(
        "Anything that could be read in two ways is no target",
        arguments: [
            "", "a.example", "//a.example/", "ftp://a.example/", "HTTPS://a.example/",
            "https://", "https:///x", "https://user@a.example/", "https://user:p@127.0.0.1/",
            "https://a.example#@127.0.0.1/", "https://a.example/#x", "https://a.example\\@b/",
            "https://a.example/ x", "https://a.example/\r\nHost: b", "https://a.example/\u{0}",
            "https://ä.example/", "https://a.example:0/", "https://a.example:65536/",
            "https://a.example:-1/", "https://a.example:/", "https://[::1", "https://::1/",
            "https://[fe80::1%25eth0]/", "https://a.example/ä",
            "https://a.example/" + String(repeating: "x", count: 2_048),
        ])
    func refused(text: String) {
        #expect(TargetURL(text) == nil)
    }

    @Test("Whatever is taken as a target has a host without a port, a user or a path")
    func random() {
        var random = SeededRandom("targets")
        let pieces = [
            "https://", "http://", "a", "127.0.0.1", "[::1]", ":", "@", "/", "?", "#", "\\", "%",
            "..", "80", "443", "\t", "ä", "-", "_", ".",
        ]
        for _ in 0..<20_000 {
            let text = (0..<random.below(8)).map { _ in random.one(of: pieces) }.joined()
            guard let url = TargetURL(text) else { continue }
            #expect(!url.origin.host.contains { "@/?#\\%".contains($0) }, "\(text)")
            #expect(url.target.hasPrefix("/"), "\(text)")
            #expect(TargetURL("\(url)") == url, "\(text)")
        }
    }

    private let policy = TargetPolicy { $0.hasPrefix("10.") || $0 == "127.0.0.1" }

    private func refusal(
        _ scheme: String, _ addresses: [String], namedBy namer: TargetNamer = .operators
    ) throws -> TargetRefusal? {
        let origin = try #require(HTTPOrigin("\(scheme)://a.example"))
        let found = try addresses.flatMap { try ResolvedAddress.resolve(host: $0, port: 443) }
        do throws(TargetRefusal) {
            try policy.require(origin, namedBy: namer, at: found)
            return nil
        } catch {
            return error
        }
    }

    @Test("Over https a public or allowed address may be reached, and no other beside it")
    func secure() throws {
        #expect(try refusal("https", ["8.8.8.8", "2606:4700::1111"]) == nil)
        #expect(try refusal("https", ["10.1.2.3"]) == nil)
        #expect(try refusal("https", ["8.8.8.8", "10.1.2.3"]) == nil)
        #expect(try refusal("https", ["192.168.0.1"]) == .notPublic(address: "192.168.0.1"))
        #expect(
            try refusal("https", ["8.8.8.8", "127.0.0.2"]) == .notPublic(address: "127.0.0.2"))
        #expect(try refusal("https", ["::ffff:8.8.8.8"]) != nil)
        #expect(try refusal("https", ["64:ff9b::8.8.8.8"]) != nil)
    }

    @Test("What users name is public and reached by TLS, whatever operators are allowed")
    func users() throws {
        #expect(try refusal("https", ["8.8.8.8", "2606:4700::1111"], namedBy: .users) == nil)
        #expect(try refusal("http", ["8.8.8.8"], namedBy: .users) == .notSecure)
        #expect(
            try refusal("https", ["8.8.8.8", "127.0.0.1"], namedBy: .users)
                == .notPublic(address: "127.0.0.1"))
        for scheme in ["http", "https"] {
            #expect(
                try refusal(scheme, ["10.1.2.3"], namedBy: .users)
                    == .notPublic(address: "10.1.2.3"))
        }
    }

    @Test("Without TLS only allowed addresses may be reached")
    func plain() throws {
        #expect(try refusal("http", ["10.1.2.3"]) == nil)
        #expect(try refusal("http", ["8.8.8.8"]) == .notSecure)
        #expect(try refusal("http", ["10.1.2.3", "8.8.8.8"]) == .notSecure)
        #expect(try refusal("http", ["192.168.0.1"]) == .notPublic(address: "192.168.0.1"))
    }
}
