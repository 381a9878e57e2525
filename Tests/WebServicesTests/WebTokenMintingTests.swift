import Accounts
import CloudModel
import SQLiteStorage
import Storage
import Testing

/// Apps with a log-in of their own get web tokens for their users.
@Suite("Minting web tokens")
struct WebTokenMintingTests {
    let server: WireServer
    let key: WireClient

    init() throws {
        server = try WireServer()
        key = try server.key(scope: .container)
    }

    private func mint(_ body: String, by client: WireClient? = nil) throws -> Answer {
        try (client ?? key).send("web-token", body, module: "accounts")
    }

    /// A caller with a minted token.
    private func caller(_ answer: Answer, _ container: String = WireServer.tea) throws -> WireClient
    {
        let web: String = try #require(answer["ckWebAuthToken"].string)
        var client = server.visitor(container)
        client.credential = .tokens(
            api: server.apiTokens["\(container)/development"] ?? "",
            web: web)
        return client
    }

    @Test("An app's user gets an account on first sight and is the same user ever after")
    func external() throws {
        let body = #"{"externalID":"u-17","givenName":"Noor","familyName":"Haas"}"#
        let first = try mint(body)
        #expect(first.status == 200)
        #expect(
            first.json.value?.members.map { $0.key.string } == [
                "ckWebAuthToken", "userRecordName", "expires",
            ])
        #expect(first["expires"].int == server.clock.now + 1_800_000)
        let second = try mint(#"{"externalID":"u-17"}"#)
        #expect(second["userRecordName"].string == first["userRecordName"].string)
        #expect(second["ckWebAuthToken"].string != first["ckWebAuthToken"].string)
        #expect(
            try mint(#"{"externalID":"u-18"}"#)["userRecordName"].string
                != first["userRecordName"].string)

        let noor = try caller(second).send("public/users/caller", nil)
        #expect(noor["userRecordName"].string == first["userRecordName"].string)
        #expect(noor["nameComponents"]["givenName"].string == "Noor")
        #expect(noor["lastName"].string == "Haas")
        try caller(second).make("Shelf")
        #expect(try caller(first).send("private/zones/list", "{}").zones.count == 2)
        #expect(try Users(catalog: server.catalog).list().items.count == 2)
        #expect(try server.catalogProblems().isEmpty)
    }

    @Test("Names that come later take the place of the former ones, at once")
    func rename() throws {
        let client = try caller(mint(#"{"externalID":"u","givenName":"Noor"}"#))
        _ = try client.send("public/users/caller", nil)
        _ = try mint(#"{"externalID":"u","familyName":"Haas"}"#)
        let found = try client.send("public/users/caller", nil)
        #expect(found["firstName"].string == "Noor" && found["lastName"].string == "Haas")
    }

    @Test("An address from an app is not believed and leads to nobody's account")
    func address() throws {
        let ida = try server.user()
        let made = try mint(#"{"externalID":"x","emailAddress":"ida@example.org"}"#)
        #expect(made["userRecordName"].string != ida.name)
        let address = try AddressFormat.email("ida@example.org")
        let owner = try #require(try server.catalog.account(verified: address))
        #expect(owner.email == "ida@example.org")
        let name = try #require(UserRecordName(made["userRecordName"].string ?? ""))
        let account = try #require(
            try server.catalog.account(named: name, in: WireServer.id(WireServer.tea)))
        #expect(account != owner.id)
        #expect(try server.catalog.account(account)?.addresses.map(\.verifiedAt) == [nil])
    }

    @Test("Two containers' users of one external ID are two people")
    func twoContainers() throws {
        let other = try server.key(scope: .container, WireServer.mate)
        let here = try mint(#"{"externalID":"1"}"#)
        let there = try mint(#"{"externalID":"1"}"#, by: other)
        #expect(here["userRecordName"].string != there["userRecordName"].string)
        let foreign = try caller(here, WireServer.mate).send("public/users/caller", nil)
        #expect(foreign.status == 421)
        var production = try caller(here)
        production.environment = .production
        #expect(try production.send("public/users/caller", nil).status == 401)
    }

    @Test("The container's own users are named by their record names, for up to 14 days")
    func named() throws {
        let ida = try server.user()
        let made = try mint("{\"userRecordName\":\"\(ida.name)\",\"expires\":1209600}")
        #expect(made["userRecordName"].string == ida.name)
        #expect(made["expires"].int == server.clock.now + 1_209_600_000)
        #expect(
            try caller(made).send("private/users/caller", nil)["userRecordName"].string
                == ida.name)
        let mate = try server.user("mo", WireServer.mate)
        for name in [mate.name, "_" + String(repeating: "0", count: 32), "ida", ""] {
            let refused = try mint("{\"userRecordName\":\"\(name)\"}")
            #expect(refused.status == 404 && refused.code == "NOT_FOUND", "\(name)")
        }
    }

    @Test(
        "What is no such request is refused and makes nobody",
        arguments: [
            "", "{}", "[]", #"{"externalID":""}"#, #"{"externalID":7}"#,
            #"{"externalID":"a\u0000"}"#, #"{"externalID":"a","userRecordName":"b"}"#,
            #"{"externalID":"a","expires":0}"#, #"{"externalID":"a","expires":1209601}"#,
            #"{"externalID":"a","expires":"soon"}"#, #"{"externalID":"a","emailAddress":"b"}"#,
            #"{"externalID":"a","givenName":"\u0007"}"#,
            #"{"externalID":"a","expires":-9223372036854775808}"#,
            "{\"externalID\":\"\(String(repeating: "a", count: 129))\"}",
        ])
    func malformed(body: String) throws {
        let answer = try mint(body)
        #expect(answer.status == 400 && answer.code == "BAD_REQUEST", "\(answer.text)")
        #expect(try Users(catalog: server.catalog).list().items.isEmpty)
    }

    @Test("Nobody but a key of container scope in its own name gets a token")
    func refusals() throws {
        let body = #"{"externalID":"a"}"#
        let ida = try server.user()
        var acting = key
        acting.onBehalfOf = ida.name
        var elsewhere = key
        elsewhere.environment = .production
        let callers: [(String, WireClient)] = [
            ("public key", try server.key()), ("on behalf", acting), ("user", ida),
            ("API token", server.visitor()), ("other environment", elsewhere),
        ]
        for (what, client) in callers {
            let answer = try mint(body, by: client)
            #expect(answer.status == 401, "\(what): \(answer.text)")
            #expect(answer.code == "AUTHENTICATION_FAILED", "\(what)")
            #expect(answer["redirectURL"].string == nil, "\(what)")
        }
        #expect(try mint(body, by: server.stranger).status == 400)
        #expect(try key.send("web-token", nil, module: "accounts").status == 405)
        #expect(try Users(catalog: server.catalog).list().items.count == 1)
        // The address is nowhere else.
        for path in ["accounts/web-token", "public/accounts/web-token", "web-token"] {
            #expect(try key.send(path, body).status == 404, "\(path)")
        }
        #expect(try key.send("public/web-token", body, module: "accounts").status == 404)
    }

    @Test("A minted token ends with its time, and with its container")
    func end() throws {
        let client = try caller(mint(#"{"externalID":"a","expires":60}"#))
        #expect(try client.send("public/users/caller", nil).status == 200)
        server.clock.advance(60_000)
        #expect(try client.send("public/users/caller", nil).status == 421)
        let catalog = try #require(server.catalog as? SQLiteCatalog)
        try catalog.delete(#require(ContainerID(WireServer.tea)))
        #expect(try Users(catalog: server.catalog).list().items.isEmpty)
        #expect(try server.catalogProblems().isEmpty)
    }
}
