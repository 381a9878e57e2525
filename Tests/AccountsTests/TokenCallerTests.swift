import Accounts
import CloudModel
import Storage
import Testing

@Suite("Callers by API token and web token")
struct TokenCallerTests {
    @Test("No credentials are a bad request")
    func none() throws {
        let server = try TestServer()
        for query in ["", "ckjsVersion=2.6.1", "ckAPIToken=", "ckAPIToken", "ckWebAuthToken="] {
            #expect(server.identify(query: query).fault?.code == .badRequest, "\(query)")
        }
    }

    @Test("An API token alone is the world")
    func world() throws {
        let server = try TestServer()
        let token = try server.apiToken().token
        for _ in 0..<2 {
            let identified = try #require(server.identify(query: "ckAPIToken=\(token)").identified)
            #expect(identified.caller == .world)
            #expect(identified.webToken == nil)
            #expect(!identified.isRenewalDue)
            #expect(identified.apiToken?.container == server.container)
        }
    }

    @Test("A web token beside an API token is its user, before and after it is remembered")
    func user() throws {
        let server = try TestServer()
        let account = try server.user()
        let api = try server.apiToken().token
        let web = try server.webToken()
        for _ in 0..<3 {
            let found = server.identify(query: "ckWebAuthToken=\(web.token)&ckAPIToken=\(api)")
            let identified = try #require(found.identified)
            #expect(
                identified.caller
                    == Caller(
                        kind: .user, userRecordName: web.userRecordName, account: account.id))
            #expect(identified.webToken == web.token)
        }
    }

    @Test("A web token without an API token is a bad request")
    func webTokenAlone() throws {
        let server = try TestServer()
        try server.user()
        let web = try server.webToken().token
        let fault = server.identify(query: "ckWebAuthToken=\(web)").fault
        #expect(fault?.code == .badRequest)
        #expect(fault?.reason.contains("ckAPIToken") == true)
    }

    @Test("An API token that is unknown, of another environment or container is refused the same")
    func unknownAPIToken() throws {
        let server = try TestServer()
        let production = try server.apiToken(environment: .production).token
        let other = try Containers(catalog: server.catalog).create("iCloud.other", now: 0).id
        let development = try server.apiToken().token
        let failed = Fault(.authenticationFailed, "Authentication failed")
        let unknown = String(repeating: "0", count: 64)
        for token in [unknown, production, "x", development + "0", development.uppercased()]
        where token != development {
            #expect(server.identify(query: "ckAPIToken=\(token)").fault == failed)
        }
        let credentials = Credentials(target: Array("/?ckAPIToken=\(development)".utf8))
        #expect(server.identify(credentials, in: other).fault == failed)
        // The same again once the token is remembered as good where it belongs.
        #expect(server.identify(credentials).fault == nil)
        #expect(server.identify(credentials, in: other).fault == failed)
    }

    @Test("Containers are the same in any case")
    func containerCase() throws {
        let server = try TestServer()
        let token = try server.apiToken().token
        let upper = try #require(ContainerID("ICLOUD.ORG.EXAMPLE.TEA"))
        let credentials = Credentials(target: Array("/?ckAPIToken=\(token)".utf8))
        #expect(server.identify(credentials, in: upper).fault == nil)
    }

    @Test("A web token that is unknown, expired or of another place leads to sign-in")
    func staleWebToken() throws {
        let server = try TestServer()
        try server.user()
        let api = try server.apiToken()
        let elsewhere = try server.webToken(environment: .production).token
        let short = try server.webToken(seconds: 60).token
        #expect(
            server.identify(query: "ckAPIToken=\(api.token)&ckWebAuthToken=\(short)").fault == nil)
        server.now += 60_000
        for web in [elsewhere, short, "unknown", String(repeating: "a", count: 8_000)] {
            let fault = server.identify(query: "ckAPIToken=\(api.token)&ckWebAuthToken=\(web)")
                .fault
            #expect(fault?.code == .authenticationRequired)
            #expect(fault?.reason == "request needs authorization")
            #expect(fault?.redirectURL?.hasPrefix("https://sync.example/sign-in/") == true)
        }
    }

    @Test("A web token is good to the last millisecond of its life and no longer")
    func expiry() throws {
        let server = try TestServer()
        try server.user()
        let api = try server.apiToken().token
        let web = try server.webToken(seconds: 60)
        #expect(web.expiresAt == server.now + 60_000)
        server.now = web.expiresAt - 1
        #expect(
            server.identify(query: "ckAPIToken=\(api)&ckWebAuthToken=\(web.token)").fault == nil)
        server.now = web.expiresAt
        #expect(
            server.identify(query: "ckAPIToken=\(api)&ckWebAuthToken=\(web.token)").fault != nil)
    }

    @Test("Percent-encoding of names and tokens is undone, and a plus sign is a plus sign")
    func percentEncoding() throws {
        let server = try TestServer()
        try server.user()
        let api = try server.apiToken().token
        let web = try server.webToken().token
        func encoded(_ text: String) -> String {
            text.utf8.map { "%" + String($0, radix: 16) }.joined()
        }
        for query in [
            "ckAPIToken=\(encoded(api))&ckWebAuthToken=\(encoded(web).uppercased())",
            "a=%&ck%41PIToken=\(api)&%=%zz&ckWebAuthToken=\(web)&%2",
            "&&=&ckAPIToken=\(api)&?&ckWebAuthToken=\(web)",
        ] {
            #expect(server.identify(query: query).identified?.caller.kind == .user, "\(query)")
        }
        for query in [
            "ckAPIToken=+\(api)", "ckAPIToken=\(api)%", "ckAPIToken=\(api)%2",
            "ckAPIToken=%20\(api)",
        ] {
            #expect(server.identify(query: query).fault?.code == .authenticationFailed, "\(query)")
        }
    }

    @Test("A parameter of credentials that comes twice is a bad request that names it")
    func repeated() throws {
        let server = try TestServer()
        let api = try server.apiToken().token
        let fault = server.identify(query: "ckAPIToken=\(api)&ckAPIToken=x").fault
        #expect(fault?.code == .badRequest)
        #expect(fault?.reason.contains("ckAPIToken") == true)
        let web = server.identify(query: "ckAPIToken=\(api)&ckWebAuthToken=a&ckWebAuthToken=b")
        #expect(web.fault?.code == .badRequest)
    }

    @Test(
        "A web token may come as ckSession; empty and null are none; two that differ are a bad request"
    )
    func sessions() throws {
        let server = try TestServer()
        try server.user()
        let api = "ckAPIToken=\(try server.apiToken().token)"
        let web = try server.webToken().token
        for query in [
            "ckSession=\(web)", "ckSession=\(web)&ckWebAuthToken=\(web)",
            "ckWebAuthToken=null&ckSession=\(web)", "ckWebAuthToken=\(web)&ckSession=",
        ] {
            let found = server.identify(query: "\(api)&\(query)")
            #expect(found.identified?.caller.kind == .user, "\(query)")
        }
        for query in ["ckWebAuthToken=null", "ckWebAuthToken=", "ckSession=null&ckWebAuthToken="] {
            let found = server.identify(query: "\(api)&\(query)")
            #expect(found.identified?.caller.kind == .world, "\(query)")
        }
        for query in [
            "ckSession=a&ckWebAuthToken=b", "ckSession=\(web)&ckSession=\(web)",
            "ckWebAuthToken=null&ckWebAuthToken=\(web)",
        ] {
            #expect(
                server.identify(query: "\(api)&\(query)").fault?.code == .badRequest, "\(query)")
        }
        // A word that only begins so is a token like any other.
        let odd = server.identify(query: "\(api)&ckWebAuthToken=nullx")
        #expect(odd.fault?.code == .authenticationRequired)
    }

    @Test("Parameters of other names, and the path, are no credentials")
    func otherParameters() throws {
        let server = try TestServer()
        let api = try server.apiToken().token
        for target in [
            "/ckAPIToken=\(api)", "/?ckapitoken=\(api)", "/?ckAPIToken2=\(api)",
            "/?xckAPIToken=\(api)",
            "/?a=b;ckAPIToken=\(api)", "", "?", "/?&",
        ] {
            let found = server.identify(Credentials(target: Array(target.utf8)))
            #expect(found.fault?.code == .badRequest, "\(target)")
        }
    }

    @Test("Only what was found good is remembered")
    func remembered() throws {
        let server = try TestServer()
        let token = try server.apiToken().token
        for query in ["ckAPIToken=x", "ckAPIToken=\(token)&ckWebAuthToken=x"] {
            _ = server.identify(query: query)
            #expect(server.authenticator.checkedTokenCount == 0)
        }
        _ = server.identify(query: "ckAPIToken=\(token)")
        #expect(server.authenticator.checkedTokenCount == 1)
    }

    @Test("What is remembered as checked is bounded")
    func bounded() throws {
        var settings = AccountsSettings()
        settings.cachedTokensMax = 2
        let server = try TestServer(settings: settings)
        let tokens = try (0..<5).map { _ in try server.apiToken().token }
        for _ in 0..<3 {
            for token in tokens {
                #expect(server.identify(query: "ckAPIToken=\(token)").fault == nil)
                #expect((1...2).contains(server.authenticator.checkedTokenCount))
            }
        }
    }
}
