import Accounts
import CloudModel
import Cryptography
import Testing

/// Who may do what, and how answers to all of them look (rulings.md 1-9, 40, 43, 44).
@Suite("Callers, credentials and headers")
struct CallerTests {
    let server: WireServer
    let ida: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user()
    }

    /// Every endpoint with a body that it takes.
    static let endpoints: [(path: String, body: String)] = [
        ("records/modify", "{\"operations\":[\(operation("forceReplace", "r"))]}"),
        ("records/lookup", #"{"records":[{"recordName":"r"}]}"#),
        ("records/query", #"{"query":{"recordType":"Cup"}}"#),
        ("records/changes", #"{"zoneID":{"zoneName":"Shelf"}}"#), ("zones/list", "{}"),
        ("zones/lookup", #"{"zones":[{"zoneName":"Shelf"}]}"#),
        (
            "zones/modify",
            #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"Shelf"}}}]}"#
        ),
        ("zones/changes", "{}"), ("changes/database", "{}"),
        ("changes/zone", #"{"zones":[{"zoneID":{"zoneName":"Shelf"}}]}"#), ("users/caller", "{}"),
        ("users/current", "{}"),
    ]

    private func expectFault(_ answer: Answer, _ status: Int, _ code: String, _ what: String) {
        #expect(answer.status == status && answer.code == code, "\(what): \(answer.text)")
        #expect(answer["uuid"].string == answer.requestID)
        #expect(answer.header("X-Apple-Request-UUID") == answer.requestID)
        #expect(answer.header("Content-Type") == "application/json; charset=UTF-8")
        #expect(answer.json.keys.prefix(3) == ["uuid", "reason", "serverErrorCode"])
    }

    @Test("Without credentials, every endpoint answers 400")
    func none() throws {
        for (path, body) in Self.endpoints {
            for database in ["public", "private", "shared"] {
                let answer = try server.stranger.send("\(database)/\(path)", body)
                expectFault(answer, 400, "BAD_REQUEST", path)
            }
        }
    }

    @Test("A bare API token reads public records; anything else is 421 with where to sign in")
    func bareToken() throws {
        try ida.save("r", zone: nil, in: "public")
        let visitor = server.visitor()
        for (path, body) in Self.endpoints {
            for database in ["public", "private", "shared"] {
                let answer = try visitor.send("\(database)/\(path)", body)
                if ["records/lookup", "records/query"].contains(path), database == "public" {
                    #expect(answer.records[0].name == "r")
                    #expect(answer.header("X-Apple-CloudKit-Web-Auth-Token") == nil)
                    continue
                }
                expectFault(answer, 421, "AUTHENTICATION_REQUIRED", "\(database)/\(path)")
                #expect(answer.reason == "request needs authorization")
                #expect(
                    answer["redirectURL"].string?.hasPrefix("https://sync.example/sign-in/")
                        == true)
            }
        }
        #expect(try ida.lookup(["r"], zone: nil).records[0].code == "NOT_FOUND")
    }

    @Test("A request answered 421 has changed nothing, however often it is sent")
    func noSideEffects() throws {
        for _ in 0..<2 {
            let answer = try server.visitor().send(
                "public/records/modify", "{\"operations\":[\(operation("create", "x"))]}")
            #expect(answer.status == 421)
        }
        #expect(try ida.lookup(["x"], zone: nil, in: "public").records[0].code == "NOT_FOUND")
        #expect(try server.store().schema.types.keys == Schema.builtInTypes.keys)
    }

    @Test(
        "A web token that is unknown, expired, revoked or of another place is 421; an API token 401"
    )
    func staleTokens() throws {
        let brief = try server.user("mo", seconds: 60)
        #expect(try brief.send("private/zones/list", nil).status == 200)
        server.clock.advance(60_000)
        expectFault(
            try brief.send("private/zones/list", nil), 421, "AUTHENTICATION_REQUIRED", "expired")
        try WebTokens(catalog: server.catalog).revokeAll(email: ida.email)
        expectFault(
            try ida.send("private/zones/list", nil), 421, "AUTHENTICATION_REQUIRED", "revoked")
        var other = try server.user("ida")
        guard case .tokens(let api, let web) = other.credential else { return }
        other.credential = .tokens(api: api, web: String((web ?? "").reversed()))
        expectFault(
            try other.send("private/zones/list", nil), 421, "AUTHENTICATION_REQUIRED", "unknown")
        let live = try server.user("ida", WireServer.tea, .production)
        guard case .tokens(_, let liveToken) = live.credential else { return }
        other.credential = .tokens(api: api, web: liveToken)
        #expect(try other.send("private/zones/list", nil).status == 421)
        other.credential = .tokens(api: String(repeating: "0", count: 64), web: web)
        expectFault(
            try other.send("private/zones/list", nil), 401, "AUTHENTICATION_FAILED", "API token")
        other.environment = .production
        other.credential = .tokens(api: api, web: web)
        #expect(try other.send("private/zones/list", nil).status == 401)
        other.credential = .none
        let bare = try other.send("private/zones/list", nil, query: ["ckWebAuthToken=\(web ?? "")"])
        expectFault(bare, 400, "BAD_REQUEST", "a web token alone")
    }

    @Test("Every answer to a user carries a web token, errors too; a fresh one after half its life")
    func renewal() throws {
        let brief = try server.user("mo", seconds: 1_000)
        guard case .tokens(let api, let first?) = brief.credential else { return }
        let name = "X-Apple-CloudKit-Web-Auth-Token"
        #expect(try brief.send("private/zones/list", nil).header(name) == first)
        #expect(try brief.send("private/records/lookup", "[").header(name) == first)
        #expect(try brief.send("private/nothing/here", nil).header(name) == first)
        server.clock.advance(501_000)
        let answer = try brief.send("private/zones/list", nil)
        let second = try #require(answer.header(name))
        #expect(second != first && answer.status == 200)
        #expect(
            second.count >= 100 && second.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" })
        #expect(try brief.send("private/zones/list", nil).header(name) == second)
        server.clock.advance(501_000)
        #expect(try brief.send("private/zones/list", nil).status == 421)
        var renewed = brief
        renewed.credential = .tokens(api: api, web: second)
        #expect(try renewed.send("private/zones/list", nil).status == 200)
        // A write, whose answer comes from another thread, carries it as well.
        #expect(try renewed.make("Shelf").header(name) != nil)
    }

    @Test("A session is a web token by other names: in the query, in a header, and in the answer")
    func session() throws {
        guard case .tokens(let api, let web?) = ida.credential else { return }
        var client = ida
        client.credential = .tokens(api: api, web: nil)
        for name in ["X-Apple-CloudKit-Web-Auth-Token", "X-Apple-CloudKit-Session"] {
            #expect(try ida.send("private/zones/list", nil).header(name) == web)
            let answer = try client.send("private/zones/list", nil, headers: [(name, web)])
            #expect(answer.status == 200 && answer.header(name) == web)
            let none = try client.send("private/zones/list", nil, headers: [(name, "null")])
            #expect(none.status == 421 && none.header(name) == nil)
        }
        let answer = try client.send("private/zones/list", nil, query: ["ckSession=\(web)"])
        #expect(answer.status == 200)
        // Scripts that have no token write what their language calls nothing.
        for nothing in ["ckWebAuthToken=null", "ckWebAuthToken=", "ckSession=null"] {
            let answer = try client.send("public/zones/list", nil, query: [nothing])
            expectFault(answer, 421, "AUTHENTICATION_REQUIRED", nothing)
            #expect(try client.lookup(["x"], zone: nil, in: "public").status == 200)
        }
    }

    @Test("Tokens and a signature at once are 400, repeated parameters too")
    func both() throws {
        var client = try server.key()
        guard case .key(let id, let key) = client.credential else { return }
        let target = "/database/1/\(WireServer.tea)/development/public/zones/list"
        let api = server.visitor()
        let headers = WireClient.signature(
            of: target, body: [], date: server.clock.now, id: id, key: key)
        expectFault(
            try api.send("public/zones/list", nil, headers: headers), 400, "BAD_REQUEST", "both")
        client.credential = .none
        let twice = try client.send(
            "public/zones/list", nil, query: ["ckAPIToken=a", "ckAPIToken=b"])
        expectFault(twice, 400, "BAD_REQUEST", "twice")
        for header in headers {
            let answer = try client.send(
                raw: Array(target.utf8), body: [], headers: headers + [header])
            expectFault(answer, 400, "BAD_REQUEST", header.name)
        }
        #expect(
            try client.send(raw: Array(target.utf8), body: [], headers: headers).status == 200)
    }

    @Test("A server key writes and reads public records as itself, and is nobody elsewhere")
    func serverKey() throws {
        let key = try server.key()
        let saved = try key.save("k", #"{"n":{"value":1}}"#, zone: nil, in: "public")
        let me = try key.send("private/users/caller", nil)
        let name = try #require(me["userRecordName"].string)
        #expect(saved["created"]["userRecordName"].string == name)
        for database in ["public", "private", "shared"] {
            for path in ["users/caller", "users/current"] {
                #expect(try key.send("\(database)/\(path)", nil)["userRecordName"].string == name)
            }
        }
        for (path, body) in Self.endpoints where !path.hasPrefix("users/") {
            for database in ["private", "shared"] {
                let refused = try key.send("\(database)/\(path)", body)
                expectFault(refused, 401, "AUTHENTICATION_FAILED", "\(database)/\(path)")
                #expect(refused.reason == "Authentication failed")
            }
        }
        #expect(try ida.save("k", zone: nil, in: "public").code == "ACCESS_DENIED")
        try ida.save("u", zone: nil, in: "public")
        #expect(try key.save("u", zone: nil, in: "public").code == "ACCESS_DENIED")
        #expect(try key.delete("u", zone: nil, in: "public").code == "ACCESS_DENIED")
        #expect(
            try server.visitor().lookup(["k", "u"], zone: nil, in: "public").records.count == 2)
    }

    @Test(
        "A key of container scope passes the roles, and acts for a user whom the signed target names"
    )
    func containerKey() throws {
        try ida.save("u", #"{"n":{"value":1}}"#, zone: nil, in: "public")
        let key = try server.key(scope: .container)
        #expect(try key.save("u", zone: nil, in: "public").code == nil)
        try ida.make("Shelf")
        let named = ["ckOnBehalfOf=\(ida.name)"]
        let saved = try key.send(
            "private/records/modify",
            "{\"zoneID\":{\"zoneName\":\"Shelf\"},\"operations\":[\(operation("create", "r"))]}",
            query: named)
        #expect(saved.records[0]["created"]["userRecordName"].string == ida.name)
        let seen = try server.observed.told(of: saved)
        #expect(seen.keyID != nil && seen.userRecordName?.text == ida.name)
        #expect(try ida.record("r").raw == saved.records[0].raw)
        let token = try #require(ida.changes()["syncToken"].string)
        let feed = try key.send(
            "private/changes/zone",
            "{\"zones\":[{\"zoneID\":{\"zoneName\":\"Shelf\"},\"syncToken\":\"\(token)\"}]}",
            query: named)
        #expect(feed.zones[0].code == nil)
        #expect(try key.send("private/zones/list", nil).status == 401)
        let nobody = ["ckOnBehalfOf=_0123456789abcdef0123456789abcdef"]
        #expect(try key.send("private/zones/list", nil, query: nobody).status == 401)
        #expect(try server.key().send("private/zones/list", nil, query: named).status == 401)
        guard case .key(let id, let secret) = key.credential else { return }
        let path = "/database/1/\(WireServer.tea)/development/private/zones/list"
        let headers = WireClient.signature(
            of: path, body: [], date: server.clock.now, id: id, key: secret)
        let alone = try key.send(
            raw: Array("\(path)?\(named[0])".utf8), body: [], headers: headers, method: .get)
        #expect(alone.status == 401)
    }

    @Test("Anything wrong with a signature is the same 401")
    func signatures() throws {
        let client = try server.key()
        guard case .key(let id, let key) = client.credential else { return }
        let target = "/database/1/\(WireServer.tea)/development/public/zones/list"
        let now = server.clock.now
        let cases: [(String, [(name: String, value: String)])] = [
            (
                "stale",
                WireClient.signature(of: target, body: [], date: now - 601_000, id: id, key: key)
            ),
            (
                "early",
                WireClient.signature(of: target, body: [], date: now + 601_000, id: id, key: key)
            ),
            (
                "other path",
                WireClient.signature(of: target + "x", body: [], date: now, id: id, key: key)
            ),
            (
                "other body",
                WireClient.signature(of: target, body: [1], date: now, id: id, key: key)
            ),
            (
                "other key",
                WireClient.signature(of: target, body: [], date: now, id: id, key: .init())
            ),
            ("no key", WireClient.signature(of: target, body: [], date: now, id: "x", key: key)),
            ("no headers", [("X-Apple-CloudKit-Request-KeyID", id)]),
        ]
        var texts: Set<String> = []
        for (what, headers) in cases {
            let answer = try client.send(
                raw: Array(target.utf8), body: [], headers: headers, method: .get)
            expectFault(answer, 401, "AUTHENTICATION_FAILED", what)
            texts.insert(answer.text.replacing(answer.requestID, with: ""))
        }
        #expect(texts.count == 1)
        try ServerKeys(catalog: server.catalog).revoke(keyID: id)
        #expect(try client.send("public/zones/list", nil).status == 401)
    }

    @Test("users/caller and users/current are a bare object with the names that are known")
    func caller() throws {
        let expected =
            "{\"userRecordName\":\"\(ida.name)\",\"nameComponents\":{\"givenName\":\"Ida\","
            + "\"familyName\":\"Roe\"},\"lookupInfo\":{\"userRecordName\":\"\(ida.name)\"},"
            + "\"firstName\":\"Ida\",\"lastName\":\"Roe\"}"
        for path in ["public/users/caller", "public/users/current", "private/users/current"] {
            for (body, method) in [(nil, nil), (nil, "post"), ("{}", nil)] as [(String?, String?)] {
                let answer = try ida.send(path, body, method: method == nil ? nil : .post)
                #expect(answer.status == 200 && answer.text == expected)
            }
        }
        let key = try server.key().send("public/users/caller", nil)
        #expect(key["nameComponents"].raw == "{}" && !key["firstName"].exists)
    }

    @Test(
        "The same person has another name in another container, and the same in both environments")
    func userNames() throws {
        let mate = try server.user("ida", WireServer.mate)
        let live = try server.user("ida", WireServer.tea, .production)
        #expect(mate.name != ida.name && live.name == ida.name)
    }

    @Test(
        "Answers to a page echo its origin when its token allows it, and expose the three headers")
    func origins() throws {
        let id = try WireServer.id(WireServer.tea)
        let token = try APITokens(catalog: server.catalog).create(
            container: id, environment: .development, origins: ["https://tea.example"],
            now: server.clock.now
        ).token
        var page = ida
        guard case .tokens(_, let web) = ida.credential else { return }
        page.credential = .tokens(api: token, web: web)
        func origin(_ text: String) -> [(name: String, value: String)] { [("Origin", text)] }
        var visitor = page
        visitor.credential = .tokens(api: token, web: nil)
        for (client, path, status) in [
            (page, "private/zones/list", 200), (page, "private/records/lookup", 400),
            (visitor, "private/zones/list", 421), (page, "private/no/such", 404),
        ] {
            let answer = try client.send(
                path, path.hasSuffix("lookup") ? "" : nil, headers: origin("https://tea.example"))
            #expect(answer.status == status)
            #expect(
                answer.header("Access-Control-Allow-Origin") == "https://tea.example", "\(path)")
            #expect(
                answer.header("Access-Control-Expose-Headers")
                    == "X-Apple-Request-UUID,X-Apple-CloudKit-Web-Auth-Token,"
                    + "X-Apple-CloudKit-Session,Date")
            #expect(answer.header("Vary") == "Origin")
        }
        let other = try page.send(
            "private/zones/list", nil, headers: origin("https://evil.example"))
        expectFault(other, 401, "AUTHENTICATION_FAILED", "origin")
        // A page reads why, and is told the same of a token that nobody has.
        var unknown = page
        unknown.credential = .tokens(api: String(token.reversed()), web: web)
        let stranger = try unknown.send(
            "private/zones/list", nil, headers: origin("https://evil.example"))
        expectFault(stranger, 401, "AUTHENTICATION_FAILED", "token")
        for answer in [other, stranger] {
            #expect(answer.header("Access-Control-Allow-Origin") == "https://evil.example")
            #expect(answer.header("X-Apple-CloudKit-Web-Auth-Token") == nil)
        }
        #expect(
            try page.send("private/zones/list", nil).header("Access-Control-Allow-Origin") == nil)
        let any = try ida.send("private/zones/list", nil, headers: origin("https://any.example"))
        #expect(any.header("Access-Control-Allow-Origin") == "https://any.example")
    }

    @Test("Preflights are answered on every path, with what the page asked for")
    func preflights() throws {
        for path in ["private/records/modify", "private/no/such", "public/assets/upload"] {
            let answer = try server.stranger.send(
                path, nil,
                headers: [
                    ("Origin", "https://tea.example"),
                    ("Access-Control-Request-Method", "POST"),
                    ("Access-Control-Request-Headers", "content-type,x-a"),
                ], method: .options)
            #expect(answer.status == 200)
            #expect(answer.header("Access-Control-Allow-Origin") == "https://tea.example")
            #expect(answer.header("Access-Control-Allow-Headers") == "content-type,x-a")
            #expect(answer.header("Access-Control-Allow-Methods")?.contains("POST") == true)
        }
        let plain = try server.stranger.send(target: "/", body: [], method: .options)
        #expect(plain.status == 200 && plain.header("Allow")?.contains("OPTIONS") == true)
    }

    @Test("Unknown endpoints and paths are 404; a path without a database is 400")
    func paths() throws {
        let base = "/database/1/\(WireServer.tea)/development"
        for path in [
            "\(base)/private/records/nothing", "\(base)/secret/records/lookup",
            "\(base)/private/records/lookup/", "\(base)/private//records/lookup",
            "\(base)/private/Records/Lookup", "\(base)/private", "/", "", "/database",
            "/database/2/\(WireServer.tea)/development/private/zones/list",
            "/other/1/\(WireServer.tea)/development/private/zones/list",
            "/database/1/\(WireServer.tea)/staging/private/zones/list",
            "/database/1/i%zz/development/private/zones/list",
            "/database/1/a%2fb/development/private/zones/list",
        ] {
            let answer = try ida.send(target: path, body: Array("{}".utf8))
            expectFault(answer, 404, "NOT_FOUND", path)
        }
        for module in ["database", "device"] {
            let answer = try ida.send("zones/list", nil, module: module)
            expectFault(answer, 400, "BAD_REQUEST", module)
        }
        let unknown = try ida.send(
            target: "/database/1/iCloud.unknown/development/private/zones/list", body: [])
        expectFault(unknown, 401, "AUTHENTICATION_FAILED", "container")
        let spelt = try ida.send(
            target: "/database/1/ICLOUD.org%2Eexample.tea/development/private/zones/list", body: [])
        #expect(spelt.status == 200)
    }

    /// What somebody may send to get at a zone.
    private static func attempts(zone: String, token: String) -> [(path: String, body: String)] {
        [
            (
                "records/lookup",
                "\"zoneID\":\(zone),\"records\":[{\"recordName\":\"r\"}]"
            ),
            ("records/lookup", "\"records\":[{\"recordName\":\"r\"}]"),
            ("records/changes", "\"zoneID\":\(zone)"),
            ("records/changes", "\"zoneID\":\(zone),\"syncToken\":\"\(token)\""),
            ("changes/zone", "\"zones\":[{\"zoneID\":\(zone)}]"),
            ("zones/lookup", "\"zones\":[\(zone)]"), ("zones/list", "\"a\":0"),
            ("zones/changes", "\"a\":0"), ("changes/database", "\"a\":0"),
            (
                "records/modify",
                "\"zoneID\":\(zone),\"operations\":[\(operation("create", "r"))]"
            ),
            (
                "records/modify",
                "\"zoneID\":\(zone),\"operations\":[\(operation("forceDelete", "r"))]"
            ),
            (
                "zones/modify",
                "\"operations\":[{\"operationType\":\"delete\",\"zone\":{\"zoneID\":\(zone)}}]"
            ),
        ]
    }

    @Test("Nobody sees another user's records: not by any endpoint, container or environment")
    func isolation() throws {
        try ida.make("Shelf")
        let secret = "a secret of ida's"
        try ida.save("r", "{\"s\":{\"value\":\(quoted(secret))}}")
        try ida.save("r", "{\"s\":{\"value\":\(quoted(secret))}}", zone: nil)
        let token = try #require(ida.changes()["syncToken"].string)
        let before = try ida.changes().raw
        var others = [
            try server.user("mo"), try server.user("ida", WireServer.mate),
            try server.user("ida", WireServer.tea, .production), try server.key(),
            try server.key(scope: .container), server.visitor(), server.stranger,
        ]
        // The right tokens at the wrong address.
        var crossed = ida
        crossed.container = WireServer.mate
        others.append(crossed)
        crossed = ida
        crossed.environment = .production
        others.append(crossed)
        for (index, other) in others.enumerated() {
            for owner in [nil, ida.name] as [String?] {
                let zone =
                    "{\"zoneName\":\"Shelf\""
                    + (owner.map { ",\"ownerRecordName\":\"\($0)\"" } ?? "") + "}"
                for database in ["private", "shared", "public"] {
                    for (path, body) in Self.attempts(zone: zone, token: token) {
                        let answer = try other.send("\(database)/\(path)", "{\(body)}")
                        #expect(!answer.text.contains("secret"), "\(index) \(path) \(answer.text)")
                        if answer.status == 200,
                            path.hasPrefix("zones/l") || path == "changes/database"
                        {
                            #expect(!answer.text.contains("\"syncToken\":\"\(token)\""))
                        }
                        #expect(answer.status < 500)
                    }
                }
            }
        }
        #expect(try ida.changes().raw == before)
    }

    @Test(
        "What a request logs is its row of the table, its caller and its fault, and nothing of its data"
    )
    func observed() throws {
        let seen = try server.observed.told(
            of: ida.send("private/records/lookup", #"{"records":5}"#))
        #expect(seen.operation == "records/lookup" && seen.database == .private)
        #expect(seen.userRecordName?.text == ida.name && seen.status == 400)
        #expect(seen.code == .badRequest && seen.failure == nil && seen.bytesIn == 13)
        let missed = try server.observed.told(of: ida.send("private/who/knows", nil))
        #expect(missed.operation == nil && missed.status == 404)
    }
}
