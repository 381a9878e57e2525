import Accounts
import CloudModel
import Cryptography
import Storage
import Testing

@Suite("Callers by signature")
struct SignedCallerTests {
    /// A client with a registered key, which signs as clients in the field do.
    struct Client {
        let server: TestServer
        let key = P256PrivateKey()
        let record: ServerKeyRecord

        init(_ server: TestServer, scope: ServerKeyRecord.Scope = .public) throws {
            self.server = server
            record = try ServerKeys(catalog: server.catalog).add(
                container: server.container, environment: .development,
                publicKeyPEM: key.publicKeyPEM, scope: scope, now: server.now)
        }

        static let date = "2026-01-01T00:00:00Z"
        static let path = "/database/1/iCloud.org.example.Tea/development/public/records/query"

        func credentials(
            target: String = path, signedTarget: String? = nil, date: String = date,
            body: String = "{}", signedHash: String? = nil, keyID: String? = nil
        ) -> Credentials {
            let hash = signedHash ?? Base64.encode(SHA256.digest(Array(body.utf8)))
            let message = "\(date):\(hash):\(signedTarget ?? target)"
            return Credentials(
                target: Array(target.utf8), keyID: keyID ?? record.keyID, date: date,
                signature: Base64.encode(key.sign(Array(message.utf8))),
                body: .bytes(Array(body.utf8)))
        }

        func found(_ credentials: Credentials) -> Caller? {
            server.identify(credentials).identified?.caller
        }
    }

    static let failed = Fault(.authenticationFailed, "Authentication failed")

    @Test("A signature over the whole target or the path alone is its key's identity")
    func signedTarget() throws {
        let server = try TestServer()
        let client = try Client(server)
        let names = try UserRecordNames(catalog: server.catalog, random: .system)
        let expected = Caller(
            kind: .serverKey,
            userRecordName: names.name(ofKey: client.record.keyID, in: server.container),
            keyID: client.record.keyID, passesRoles: false)
        let query = Client.path + "?ckjsBuildVersion=1&ckjsVersion=2.6.1"
        #expect(client.found(client.credentials()) == expected)
        #expect(client.found(client.credentials(target: query)) == expected)
        #expect(
            client.found(client.credentials(target: query, signedTarget: Client.path)) == expected)
        for signed in [Client.path + "?", query + "x", Client.path.uppercased(), ""] {
            #expect(client.found(client.credentials(target: query, signedTarget: signed)) == nil)
        }
    }

    @Test("An empty body is signed by the hash of nothing or by nothing, a body by its hash")
    func bodies() throws {
        let client = try Client(TestServer())
        let query = Client.path + "?a=b"
        for target in [Client.path, query] {
            for signed in [target, Client.path] {
                #expect(
                    client.found(
                        client.credentials(target: target, signedTarget: signed, body: "")) != nil)
                #expect(
                    client.found(
                        client.credentials(
                            target: target, signedTarget: signed, body: "", signedHash: ""))
                        != nil)
            }
        }
        #expect(client.found(client.credentials(body: "{}", signedHash: "")) == nil)
        let nothing = Base64.encode(SHA256.digest([UInt8]()))
        #expect(client.found(client.credentials(body: "{}", signedHash: nothing)) == nil)
    }

    @Test("The date may lie ten minutes off either way and not a millisecond more")
    func window() throws {
        let server = try TestServer()
        let client = try Client(server)
        let credentials = client.credentials()
        let signedAt = server.now
        for distance: Milliseconds in [-600_000, -1, 0, 1, 600_000] {
            server.now = signedAt + distance
            #expect(client.found(credentials) != nil, "\(distance)")
        }
        for distance: Milliseconds in [-600_001, 600_001, -.max, .max - signedAt] {
            server.now = signedAt + distance
            #expect(server.identify(credentials).fault == SignedCallerTests.failed, "\(distance)")
        }
    }

    @Test("The window is a setting")
    func otherWindow() throws {
        var settings = AccountsSettings()
        settings.signatureWindowSeconds = 5
        let server = try TestServer(settings: settings)
        let client = try Client(server)
        server.now += 5_000
        #expect(client.found(client.credentials()) != nil)
        server.now += 1
        #expect(client.found(client.credentials()) == nil)
    }

    @Test(
        "Days are counted as the calendar has them",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2000-02-29T12:34:56Z", 951_827_696),
            ("2024-02-29T23:59:59Z", 1_709_251_199), ("2100-03-01T00:00:00Z", 4_107_542_400),
            ("2038-01-19T03:14:08Z", 2_147_483_648), ("1969-12-31T23:59:59Z", -1),
        ])
    func calendar(date: String, seconds: Int64) throws {
        let server = try TestServer()
        let client = try Client(server)
        server.now = seconds * 1_000
        #expect(client.found(client.credentials(date: date)) != nil)
        server.now += 600_001
        #expect(client.found(client.credentials(date: date)) == nil)
    }

    @Test(
        "A date in any other form is refused",
        arguments: [
            "", "2026-01-01T00:00:00", "2026-01-01T00:00:00.000Z", "2026-01-01t00:00:00z",
            "2026-01-01 00:00:00Z", "2026-01-01T00:00:00+00:00", "20260101T000000Z",
            " 2026-01-01T00:00:00Z", "2026-1-01T00:00:00Z", "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-32T00:00:00Z",
            "2026-02-29T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
            "2026-01-01T00:00:60Z", "+026-01-01T00:00:00Z", "２026-01-01T00:00:0Z",
        ])
    func otherDates(date: String) throws {
        let server = try TestServer()
        let client = try Client(server)
        #expect(server.identify(client.credentials(date: date)).fault == SignedCallerTests.failed)
    }

    @Test("Every failure is the same fault")
    func failures() throws {
        let server = try TestServer()
        let client = try Client(server)
        let other = try Client(server)
        let good = client.credentials()
        #expect(client.found(good) != nil)
        let message =
            "\(Client.date):\(Base64.encode(SHA256.digest(Array("{}".utf8)))):\(Client.path)"
        let signature = Base64.encode(client.key.sign(Array(message.utf8)))
        func with(
            keyID: String? = client.record.keyID, date: String? = Client.date,
            signature: String? = signature, body: String = "{}"
        ) -> Credentials {
            Credentials(
                target: Array(Client.path.utf8), keyID: keyID, date: date, signature: signature,
                body: .bytes(Array(body.utf8)))
        }
        #expect(client.found(with()) != nil)
        let der = try #require(Base64.decode(signature))
        let cases: [(String, Credentials)] = [
            ("another's key", with(keyID: other.record.keyID)),
            ("unknown key", with(keyID: String(repeating: "0", count: 64))),
            ("upper-case key ID", with(keyID: client.record.keyID.uppercased() + "A")),
            ("no key ID", with(keyID: nil)), ("no date", with(date: nil)),
            ("no signature", with(signature: nil)), ("empty signature", with(signature: "")),
            ("another date", with(date: "2026-01-01T00:00:01Z")),
            ("another body", with(body: "{ }")),
            ("unpadded base64", with(signature: signature + "=")),
            ("line break", with(signature: signature + "\n")),
            ("longer DER", with(signature: Base64.encode(der + [0]))),
            ("shorter DER", with(signature: Base64.encode(Array(der.dropLast())))),
            ("raw form", with(signature: Base64.encode([UInt8](repeating: 1, count: 64)))),
        ]
        for (name, credentials) in cases {
            let found = server.identify(credentials)
            #expect(found.fault == SignedCallerTests.failed, "\(name)")
            #expect(found.allowedOrigin == nil)
        }
    }

    @Test("A key reaches only the environment and container that it is registered with")
    func locations() throws {
        let server = try TestServer()
        let client = try Client(server)
        let other = try Containers(catalog: server.catalog).create("iCloud.other", now: 0).id
        let credentials = client.credentials()
        #expect(server.identify(credentials, in: other).fault == SignedCallerTests.failed)
        let production = server.authenticator.identify(
            credentials, container: server.container, environment: .production, now: server.now)
        #expect(production.fault == SignedCallerTests.failed)
    }

    @Test("Equal requests are let in again: there is no replay cache")
    func equalRequests() throws {
        let client = try Client(TestServer())
        let credentials = client.credentials()
        for _ in 0..<3 { #expect(client.found(credentials) != nil) }
    }

    @Test("A revoked key is out at once, and its replacement is in at once")
    func rotation() throws {
        let server = try TestServer()
        let old = try Client(server)
        #expect(old.found(old.credentials()) != nil)
        let new = try Client(server)
        #expect(new.found(new.credentials()) != nil)
        #expect(old.record.keyID != new.record.keyID)
        try ServerKeys(catalog: server.catalog).revoke(keyID: old.record.keyID)
        #expect(server.identify(old.credentials()).fault == SignedCallerTests.failed)
        #expect(new.found(new.credentials()) != nil)
    }

    @Test("The log is told what is wrong with a signature; the fault is the same for all")
    func refusals() throws {
        let server = try TestServer()
        let client = try Client(server)
        func why(_ credentials: Credentials) -> CredentialRefusal? {
            let found = server.identify(credentials)
            #expect(found.fault == SignedCallerTests.failed)
            return found.refusal
        }
        #expect(why(client.credentials(signedHash: "wrong")) == .signatureWrong)
        #expect(why(client.credentials(keyID: String(repeating: "0", count: 64))) == .keyUnknown)
        #expect(why(client.credentials(date: "2025-01-01T00:00:00Z")) == .dateTooFar)
        #expect(why(client.credentials(date: "today")) == .dateUnreadable)
        let unreadable = Credentials(
            target: Array(Client.path.utf8), keyID: client.record.keyID, date: Client.date,
            signature: "AAAA", body: .bytes(Array("{}".utf8)))
        #expect(why(unreadable) == .signatureUnreadable)
        let named = client.credentials(target: "\(Client.path)?ckOnBehalfOf=x")
        #expect(why(named) == .scopeTooNarrow)
        #expect(server.identify(client.credentials()).refusal == nil)
    }

    @Test("A signature beside tokens is a bad request")
    func bothKinds() throws {
        let server = try TestServer()
        let client = try Client(server)
        for query in ["ckAPIToken=x", "ckWebAuthToken=x"] {
            let credentials = client.credentials(target: "\(Client.path)?\(query)")
            #expect(server.identify(credentials).fault?.code == .badRequest)
        }
        let oneHeader = Credentials(target: Array("/?ckAPIToken=x".utf8), date: Client.date)
        #expect(server.identify(oneHeader).fault?.code == .badRequest)
    }

    @Test("A key of scope container passes the roles, and acts for a user it names")
    func onBehalf() throws {
        let server = try TestServer()
        let account = try server.user()
        let name = try server.webToken().userRecordName
        let client = try Client(server, scope: .container)
        let own = try #require(client.found(client.credentials()))
        #expect(own.kind == .serverKey)
        #expect(own.passesRoles)
        let target = "\(Client.path)?ckOnBehalfOf=\(name.text)"
        #expect(
            client.found(client.credentials(target: target))
                == Caller(
                    kind: .user, userRecordName: name, account: account.id,
                    keyID: client.record.keyID, passesRoles: true))
    }

    @Test("A named user must be inside what was signed, known, and named once")
    func onBehalfRefused() throws {
        let server = try TestServer()
        try server.user()
        let name = try server.webToken().userRecordName.text
        let client = try Client(server, scope: .container)
        let target = "\(Client.path)?ckOnBehalfOf=\(name)"
        let unsigned = client.credentials(target: target, signedTarget: Client.path)
        #expect(server.identify(unsigned).fault == SignedCallerTests.failed)
        let unknown = "_" + String(repeating: "0", count: 32)
        for named in [unknown, "", "_defaultOwner", name.uppercased(), "x", name + "0"] {
            let credentials = client.credentials(target: "\(Client.path)?ckOnBehalfOf=\(named)")
            #expect(
                server.identify(credentials).fault == SignedCallerTests.failed, "\(named)")
        }
        let twice = client.credentials(target: "\(target)&ckOnBehalfOf=\(name)")
        #expect(server.identify(twice).fault?.code == .badRequest)
        // A key's own name is nobody to act for.
        let key = try #require(client.found(client.credentials())?.userRecordName)
        let asKey = client.credentials(target: "\(Client.path)?ckOnBehalfOf=\(key.text)")
        #expect(server.identify(asKey).fault == SignedCallerTests.failed)
    }

    @Test("A key of scope public acts for nobody, and a user name means nothing beside tokens")
    func onBehalfWithoutScope() throws {
        let server = try TestServer()
        try server.user()
        let name = try server.webToken().userRecordName.text
        let client = try Client(server)
        let credentials = client.credentials(target: "\(Client.path)?ckOnBehalfOf=\(name)")
        #expect(server.identify(credentials).fault == SignedCallerTests.failed)
        let api = try server.apiToken().token
        let found = server.identify(query: "ckAPIToken=\(api)&ckOnBehalfOf=\(name)")
        #expect(found.identified?.caller == .world)
    }

    @Test("Refusing an unknown key takes about as long as refusing a wrong signature")
    func timing() throws {
        let server = try TestServer()
        let client = try Client(server)
        let wrong = client.credentials(signedHash: "wrong")
        let cases: [Credentials] = [
            wrong, client.credentials(keyID: String(repeating: "0", count: 64)),
            client.credentials(date: "2025-01-01T00:00:00Z"),
            Credentials(
                target: Array(Client.path.utf8), keyID: client.record.keyID, date: Client.date,
                signature: "AAAA", body: .bytes(Array("{}".utf8))),
        ]
        // Rough on purpose: the fastest of many rounds, within a factor that a missing check exceeds.
        let clock = ContinuousClock()
        var fastest = [Duration](repeating: .seconds(60), count: cases.count)
        for _ in 0..<60 {
            for (at, credentials) in cases.enumerated() {
                let duration = clock.measure { _ = server.identify(credentials) }
                fastest[at] = min(fastest[at], duration)
            }
        }
        let shortest = try #require(fastest.min())
        let longest = try #require(fastest.max())
        #expect(longest < shortest * 2, "\(fastest)")
    }
}
