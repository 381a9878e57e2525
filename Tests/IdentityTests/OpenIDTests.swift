import Cryptography
import Identity
import JSON
import Seeding
import Testing

@Suite("OpenID Connect")
struct OpenIDTests {
    private static let issuer = "https://id.example.com"
    private static let client = "app"
    private static let now: Int64 = 1_700_000_000

    private func document(_ change: (String, String) = ("", "")) -> [UInt8] {
        let text =
            "{\"issuer\":\"\(Self.issuer)\",\"authorization_endpoint\":\"https://id.example.com/a?x=1\","
            + "\"token_endpoint\":\"https://id.example.com/t\",\"jwks_uri\":\"https://id.example.com/k\","
            + "\"token_endpoint_auth_methods_supported\":[\"client_secret_basic\"]}"
        return Array((change.0.isEmpty ? text : text.replacing(change.0, with: change.1)).utf8)
    }

    private func provider(_ change: (String, String) = ("", "")) -> OpenIDProvider? {
        OpenIDProvider(document(change), ofIssuer: Self.issuer)
    }

    @Test("A provider's document is taken from its own issuer, over TLS alone")
    func discovery() throws {
        let found = try #require(provider())
        #expect(found.tokenEndpoint == "https://id.example.com/t")
        #expect(!found.takesSecretInBody)
        #expect(provider(("client_secret_basic", "client_secret_post"))?.takesSecretInBody == true)
        let refused = [
            ("\"issuer\":\"https://id.example.com\"", "\"issuer\":\"https://id.example.com/\""),
            ("\"issuer\":\"https://id.example.com\"", "\"issuer\":\"https://evil.example\""),
            ("https://id.example.com/t", "http://id.example.com/t"),
            ("https://id.example.com/k", "javascript:alert(1)"), ("jwks_uri", "other"),
            ("https://id.example.com/k", "https://id.example.com/ k"), ("{", "["),
        ]
        for change in refused { #expect(provider(change) == nil, "\(change)") }
        #expect(
            OpenIDProvider.documentAddress(ofIssuer: "https://a.b/c/")
                == "https://a.b/c/.well-known/openid-configuration")
    }

    @Test("Keys are fetched when they are old, and for an unknown key once a minute at most")
    func rotation() {
        let none = KeyRotation(fetchedAt: nil)
        #expect(none.isDue(at: 5) && none.mayFetch(at: 5))
        let fetched = KeyRotation(fetchedAt: 1_000)
        #expect(!fetched.isDue(at: 1_000 + 86_399) && fetched.isDue(at: 1_000 + 86_400))
        #expect(!fetched.mayFetch(at: 1_059) && fetched.mayFetch(at: 1_060))
        // A clock that was set back must not keep old keys for ever.
        #expect(fetched.isDue(at: 999) && fetched.mayFetch(at: 999))
    }

    @Test("The challenge is RFC 7636's, and the browser is sent on with all that binds the answer")
    func authorization() throws {
        #expect(
            OpenIDSignIn.challenge(of: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
                == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
        let signIn = OpenIDSignIn(random: .system)
        #expect(Set([signIn.state, signIn.nonce, signIn.verifier]).count == 3)
        let client = OpenIDSignIn.Client(
            identifier: "a&b", redirectURL: "https://s.example/cb?x", scope: "openid email",
            usesFormPost: true)
        let url = signIn.authorizationURL(at: try #require(provider()), for: client)
        #expect(
            url
                == "https://id.example.com/a?x=1&response_type=code&client_id=a%26b"
                + "&redirect_uri=https%3A%2F%2Fs.example%2Fcb%3Fx&scope=openid%20email"
                + "&state=\(signIn.state)&nonce=\(signIn.nonce)"
                + "&code_challenge=\(OpenIDSignIn.challenge(of: signIn.verifier))"
                + "&code_challenge_method=S256&response_mode=form_post")
        let (body, header) = signIn.tokenRequest(
            code: "c+d", secret: "p:w", at: try #require(provider()), for: client)
        #expect(body.contains("code=c%2Bd&") && body.contains("code_verifier=\(signIn.verifier)"))
        #expect(!body.contains("client_secret"))
        #expect(header == "Basic \(Base64.encode(Array("a%26b:p%3Aw".utf8)))")
        let inBody = try #require(provider(("client_secret_basic", "client_secret_post")))
        let (other, none) = signIn.tokenRequest(code: "c", secret: "s", at: inBody, for: client)
        #expect(none == nil && other.hasSuffix("&client_id=a%26b&client_secret=s"))
    }

    @Test("What comes back counts for the sign-in that began it alone")
    func callback() throws {
        let signIn = OpenIDSignIn(state: "s t", nonce: "n", verifier: "v")
        func answer(_ text: String) -> OpenIDSignIn.Callback? {
            ProviderFields(Array(text.utf8)).flatMap { signIn.callback($0) }
        }
        #expect(answer("code=abc&state=s+t") == .code("abc"))
        #expect(answer("state=s%20t&code=%C3%A4") == .code("ä"))
        #expect(answer("error=access_denied%0d%0a&state=s+t") == .refused("access_denied"))
        for text in [
            "code=abc", "code=abc&state=", "code=abc&state=s", "code=abc&state=s+t&state=s+t",
            "state=s+t", "code=&state=s+t", "code=%&state=s+t", "code=%zz&state=s+t",
            "code=%ff&state=s+t", "",
        ] {
            #expect(answer(text) == nil, "\(text)")
        }
    }

    private let key = P256PrivateKey()

    private func keys() throws -> JSONWebKeys {
        let point = key.publicKey.point
        let text =
            "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"k\","
            + "\"x\":\"\(Base64.encode(Array(point[1..<33]), .urlSafe))\","
            + "\"y\":\"\(Base64.encode(Array(point[33...]), .urlSafe))\"}]}"
        return try #require(JSONWebKeys(Array(text.utf8)))
    }

    /// A token with these claims as they stand; what is nil is left out.
    private func token(_ changes: [String: String?] = [:]) throws -> String {
        var claims: [String: String?] = [
            "iss": "\"\(Self.issuer)\"", "aud": "\"\(Self.client)\"", "sub": "\"alice\"",
            "nonce": "\"n\"", "exp": "\(Self.now + 300)", "iat": "\(Self.now)",
        ]
        for (name, value) in changes { claims.updateValue(value, forKey: name) }
        let body = claims.compactMap { claim in claim.value.map { "\"\(claim.key)\":\($0)" } }
            .joined(separator: ",")
        let signed = ["{\"alg\":\"ES256\",\"kid\":\"k\"}", "{\(body)}"].map {
            Base64.encode(Array($0.utf8), .urlSafe)
        }.joined(separator: ".")
        let signature = try #require(
            ECDSASignature.joined(fromDER: key.sign(Array(signed.utf8))))
        return "\(signed).\(Base64.encode(signature, .urlSafe))"
    }

    private func claims(_ changes: [String: String?] = [:]) throws -> IdentityClaims {
        try IdentityClaims(
            token: token(changes), keys: keys(), issuer: Self.issuer, client: Self.client,
            nonce: "n", seconds: Self.now)
    }

    @Test("A token that is for us, now, and for this sign-in says who somebody is")
    func believed() throws {
        let plain = try claims()
        #expect(plain.issuer == Self.issuer && plain.subject == "alice")
        #expect(plain.email == nil && !plain.isEmailVerified)
        let full = try claims([
            "email": "\"a@b\"", "email_verified": "true", "given_name": "\"A\"",
            "aud": "[\"other\",\"app\"]", "azp": "\"app\"", "exp": "\(Self.now - 59)",
            "iat": "\(Self.now + 60)", "nbf": "\(Self.now + 60)",
        ])
        #expect(full.email == "a@b" && full.isEmailVerified && full.givenName == "A")
        #expect(try claims(["email_verified": "\"true\""]).isEmailVerified)
        #expect(try !claims(["email_verified": "\"false\""]).isEmailVerified)
        #expect(try !claims(["email_verified": "1"]).isEmailVerified)
    }

    @Test(
        "A token for somebody else, of another time or another sign-in is refused by its claim",
        arguments: [
            ("iss", "\"https://evil.example\""), ("iss", "\"https://id.example.com/\""),
            ("iss", nil),
            ("aud", "\"other\""), ("aud", "[]"), ("aud", "[\"other\"]"), ("aud", nil), ("aud", "1"),
            ("azp", "\"other\""), ("exp", "1699999940"), ("exp", nil), ("exp", "\"later\""),
            ("exp", "-9223372036854775808"), ("exp", "1e300"), ("iat", "1700000061"), ("iat", nil),
            ("nbf", "1700000061"), ("nbf", "\"x\""), ("nonce", "\"m\""), ("nonce", nil),
            ("sub", nil),
            ("sub", "\"\""), ("sub", "\"\(String(repeating: "x", count: 256))\""),
        ] as [(String, String?)])
    func refused(name: String, value: String?) throws {
        #expect(throws: TokenRefusal.claim(name)) { try claims([name: value]) }
    }

    @Test("A token for several is for us only if it was given to us")
    func severalAudiences() {
        #expect(throws: TokenRefusal.claim("azp")) { try claims(["aud": "[\"app\",\"other\"]"]) }
    }

    @Test("Forms of any bytes are read or refused, and what is written is read back")
    func forms() throws {
        var random = SeededRandom("forms")
        for _ in 0..<5_000 {
            let bytes = (0..<random.below(40)).map { _ in
                random.one(of: Array("ab=&%+0fF\u{0}".utf8) + [0xC3, 0xA4, 0xFF])
            }
            _ = ProviderFields(bytes)
            let value = String(decoding: bytes, as: UTF8.self)
            let written = ProviderFields.encode([("n", value), ("m&", "")])
            let read = try #require(ProviderFields(Array(written.utf8)))
            #expect(read["n"] == value && read["m&"] == "")
        }
        let many = (0...ProviderFields.fieldsMax).map { "a\($0)=1" }.joined(separator: "&")
        #expect(ProviderFields(Array(many.utf8)) == nil)
    }

    @Test("Apple's secret is a token of the client's own key")
    func appleSecret() throws {
        let text = OpenIDSignIn.appleSecret(
            team: "TEAM", client: "app", keyName: "k", seconds: Self.now, key: key)
        let token = try JSONWebToken(text)
        try token.verify(with: keys())
        #expect(token.claims["aud"]?.string == "https://appleid.apple.com")
        #expect(token.claims["sub"]?.string == "app")
        #expect(token.claims["exp"]?.int64 == Self.now + 300)
    }
}
