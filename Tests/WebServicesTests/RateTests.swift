import Accounts
import Foundation
import HTTP
import Seeding
import Testing
import WebServices

/// What one caller may ask for in a second (rulings.md 53).
@Suite("Rates of callers")
struct RateTests {
    /// A server on which everybody may do little, with a burst of two seconds.
    private func server(
        _ user: RateLimits.Rate = RateLimits.Rate(requests: 0), anonymous: Int = 0, key: Int = 0,
        callersMax: Int = 1_024
    ) throws -> WireServer {
        var rates = RateLimits()
        rates.user = user
        rates.anonymous = RateLimits.Rate(requests: anonymous)
        rates.serverKey = RateLimits.Rate(requests: key)
        rates.burstSeconds = 2
        rates.callersMax = callersMax
        return try WireServer(rates: rates)
    }

    private func rateHeaders(_ answer: Answer) -> [String?] {
        ["Limit", "Remaining", "Reset"].map { answer.header("X-RateLimit-\($0)") }
    }

    private func isThrottled(_ answer: Answer) -> Bool {
        answer.status == 429 && answer.code == "THROTTLED"
    }

    @Test("Over their rate a user is told 429, when to come back, and what is left; nobody else is")
    func users() throws {
        let server = try server(RateLimits.Rate(requests: 2))
        let (ida, mo) = (try server.user("ida"), try server.user("mo"))
        var left: [String?] = []
        for _ in 0..<4 {
            let answer = try ida.send("private/zones/list", nil)
            #expect(answer.status == 200 && answer.header("X-RateLimit-Limit") == "4")
            left.append(answer.header("X-RateLimit-Remaining"))
        }
        #expect(left == ["3", "2", "1", "0"])
        let refused = try ida.send("private/zones/list", nil)
        #expect(isThrottled(refused) && refused["retryAfter"].int == 1, "\(refused.text)")
        #expect(refused.header("Retry-After") == "1")
        #expect(rateHeaders(refused) == ["4", "0", "2"])
        #expect(refused.reason.contains("limits.userRequestsPerSecondMax"))
        // By another token, in another container, and for what does not exist they are still themselves.
        #expect(isThrottled(try server.user("ida").send("private/zones/list", nil)))
        #expect(
            isThrottled(try server.user("ida", WireServer.mate).send("private/zones/list", nil)))
        #expect(isThrottled(try ida.send("private/no/such", nil)))
        #expect(try mo.send("private/zones/list", nil).status == 200)
        server.clock.advance(500)
        #expect(try ida.send("private/zones/list", nil).status == 200)
        #expect(isThrottled(try ida.send("private/zones/list", nil)))
        server.clock.advance(60_000)
        #expect(rateHeaders(try ida.send("private/zones/list", nil)) == ["4", "3", "1"])
        let counts = try #require(server.web.rateCounts[.user])
        #expect(counts.admitted == 7 && counts.throttled == 5)
    }

    @Test("Of two processes each lets through half of a rate, of a user's and of a container's")
    func processes() throws {
        var rates = RateLimits()
        rates.user = RateLimits.Rate(requests: 4)
        rates.anonymous = RateLimits.Rate(requests: 0)
        rates.burstSeconds = 2
        let server = try WireServer(rates: rates, processCount: 2)
        let ida = try server.user("ida")
        for _ in 0..<4 { #expect(try ida.send("private/zones/list", nil).status == 200) }
        #expect(isThrottled(try ida.send("private/zones/list", nil)))
        // Of the next second, too.
        server.clock.advance(1_000)
        for _ in 0..<2 { #expect(try ida.send("private/zones/list", nil).status == 200) }
        #expect(isThrottled(try ida.send("private/zones/list", nil)))
        server.clock.advance(60_000)
        _ = try Containers(catalog: server.catalog).set(
            [ContainerSetting.requestsPerSecondMax.rawValue: "2"], of: WireServer.tea)
        let (mo, mia) = (try server.user("mo"), try server.user("mia"))
        for user in [mo, mia] { #expect(try user.send("private/zones/list", nil).status == 200) }
        let refused = try mo.send("private/zones/list", nil)
        #expect(isThrottled(refused) && refused.reason.contains("requestsPerSecondMax"))
        #expect(
            try server.user("mo", WireServer.mate).send("private/zones/list", nil).status == 200)
    }

    @Test("A page of another origin sees what is left, and when to come back")
    func origins() throws {
        let ida = try server(RateLimits.Rate(requests: 1)).user()
        for _ in 0..<3 {
            let answer = try ida.send(
                "private/zones/list", nil, headers: [("Origin", "https://tea.example")])
            let exposed = answer.header("Access-Control-Expose-Headers") ?? ""
            for name in ["Limit", "Remaining", "Reset"] {
                #expect(exposed.contains("X-RateLimit-\(name)"))
            }
            #expect(exposed.contains("Retry-After"))
        }
    }

    @Test("Who shows no credentials of their own counts as their address, of IPv6 the /64")
    func addresses() throws {
        let server = try server(anonymous: 1)
        func lookup(
            _ address: String, _ change: (inout WireClient) -> Void = { _ in }
        ) throws -> Answer {
            var client = server.visitor()
            client.peer = Peer(address: address, isLoopback: false, isTLS: false)
            change(&client)
            return try client.lookup(["x"], zone: nil, in: "public")
        }
        for _ in 0..<2 { #expect(try lookup("192.0.2.1").status == 200) }
        let refused = try lookup("192.0.2.1")
        #expect(isThrottled(refused) && refused.reason.contains("anonymousRequestsPerSecondMax"))
        #expect(try lookup("192.0.2.2").status == 200)
        for host in 1...2 { #expect(try lookup("2001:db8::\(host)").status == 200) }
        #expect(isThrottled(try lookup("2001:db8::3")))
        #expect(try lookup("2001:db8:0:1::1").status == 200)
        // Wrong credentials count too, but apart from those who show a good token.
        for _ in 0..<2 {
            #expect(try lookup("192.0.2.1") { $0.credential = .none }.status == 400)
        }
        let wrong = WireClient.Credential.tokens(api: String(repeating: "0", count: 64), web: nil)
        #expect(isThrottled(try lookup("192.0.2.1") { $0.credential = wrong }))
        // A user from the same address is a user.
        var ida = try server.user()
        ida.peer = Peer(address: "192.0.2.1", isLoopback: false, isTLS: false)
        for _ in 0..<5 { #expect(try ida.send("private/zones/list", nil).status == 200) }
        let counts = server.web.rateCounts
        #expect(counts[.apiToken]?.throttled == 2 && counts[.address]?.throttled == 1)
        #expect(counts[.user]?.throttled == 0)
    }

    @Test("Behind a trusted proxy its clients are told apart, and the proxy itself is not counted")
    func proxies() throws {
        let server = try server(anonymous: 1)
        var proxy = server.visitor()
        proxy.peer = Peer(
            address: "10.0.0.1", isLoopback: false, isTLS: false, isTrustedProxy: true)
        func lookup(for client: String?) throws -> Answer {
            proxy.client = client
            return try proxy.lookup(["x"], zone: nil, in: "public")
        }
        for client in ["192.0.2.1", "192.0.2.2"] {
            for _ in 0..<2 { #expect(try lookup(for: client).status == 200) }
            #expect(isThrottled(try lookup(for: client)))
        }
        for _ in 0..<9 { #expect(try lookup(for: nil).status == 200) }
        proxy.credential = .none
        for _ in 0..<9 { #expect(try lookup(for: nil).status == 400) }
    }

    @Test("A server key is one caller, for whomever it acts")
    func serverKeys() throws {
        let server = try server(key: 1)
        let (ida, mo) = (try server.user("ida"), try server.user("mo"))
        var key = try server.key(scope: .container)
        for name in [ida.name, mo.name] {
            key.onBehalfOf = name
            #expect(try key.send("private/zones/list", nil).status == 200)
        }
        #expect(isThrottled(try key.send("private/zones/list", nil)))
        #expect(try ida.send("private/zones/list", nil).status == 200)
        #expect(try server.key(scope: .container).send("public/zones/list", nil).status == 200)
    }

    @Test("Records and bytes are counted when they are written, and hold back only what writes")
    func writes() throws {
        let server = try server(RateLimits.Rate(requests: 0, records: 10, bytes: 0))
        let ida = try server.user()
        try ida.make("Shelf")
        let many = try ida.modify((0..<30).map { operation("create", "r\($0)") })
        #expect(many.status == 200 && many.records.count == 30)
        let refused = try ida.modify([operation("create", "more")])
        // 31 taken of 20: 11 are to come back before the next.
        #expect(isThrottled(refused) && refused["retryAfter"].int == 2, "\(refused.text)")
        #expect(refused.reason.contains("limits.userRecordsPerSecondMax"))
        #expect(rateHeaders(refused) == ["20", "0", "4"])
        #expect(isThrottled(try ida.make("Attic")))
        #expect(try ida.lookup(["r1", "more"]).records.map(\.code) == [nil, "NOT_FOUND"])
        server.clock.advance(1_200)
        #expect(try ida.modify([operation("create", "more")]).status == 200)
        let heavy = try self.server(RateLimits.Rate(requests: 0, bytes: 1_000)).user()
        try heavy.make("Shelf")
        let text = String(repeating: "x", count: 5_000)
        #expect(try heavy.save("r", #"{"f":{"value":"\#(text)"}}"#).code == nil)
        let next = try heavy.modify([operation("create", "s")])
        #expect(isThrottled(next) && next.reason.contains("limits.userBytesPerSecondMax"))
        #expect(try heavy.record("r").code == nil)
    }

    @Test("A request is counted once, also when a worker takes it over")
    func once() throws {
        let ida = try server(RateLimits.Rate(requests: 5)).user()
        try ida.make("Shelf")
        #expect(try ida.query().header("X-RateLimit-Remaining") == "8")
        let big = String(repeating: "x", count: 100_000)
        let saved = try ida.modify([operation("create", "r", fields: #"{"f":{"value":"\#(big)"}}"#)]
        )
        #expect(saved.header("X-RateLimit-Remaining") == "7")
    }

    @Test(
        "The defaults let one caller import at 60,000 records a second, and tell nobody of budgets")
    func defaults() throws {
        let server = try WireServer(rates: RateLimits())
        let ida = try server.user()
        try ida.make("Shelf")
        for _ in 0..<3 {
            for batch in 0..<30 {
                let answer = try ida.modify(
                    (0..<200).map { operation("forceReplace", "r\(batch)-\($0)") })
                #expect(answer.status == 200 && answer.header("X-RateLimit-Limit") == nil)
            }
            server.clock.advance(100)
        }
    }

    @Test("Callers from ever new addresses take no more memory, and make nobody's debt forgotten")
    func bounded() throws {
        var random = SeededRandom("rates")
        var table = RateTable(callersMax: 1_000)
        #expect(table.capacity == 1_024)
        let abuser = random.next()
        table.withEntry(abuser) { $0.requests = 1_000_000 }
        for moment in 0..<200_000 {
            table.withEntry(random.next()) {
                #expect($0.requests == 0)
                $0.requests = UInt64(moment)
            }
        }
        #expect(table.capacity == 1_024)
        #expect(table.withEntry(abuser) { $0.requests } == 1_000_000)
        // By requests: what strangers ask for holds back no user, however many there are.
        let server = try server(RateLimits.Rate(requests: 1), anonymous: 1, callersMax: 128)
        let ida = try server.user()
        for _ in 0..<2 { #expect(try ida.send("private/zones/list", nil).status == 200) }
        var stranger = server.visitor()
        for number in 0..<2_000 {
            let address = "10.0.\(number / 250).\(number % 250)"
            stranger.peer = Peer(address: address, isLoopback: false, isTLS: false)
            #expect(try stranger.lookup(["x"], zone: nil, in: "public").status == 200)
        }
        #expect(isThrottled(try ida.send("private/zones/list", nil)))
    }
}
