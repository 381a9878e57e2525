import Accounts
import CloudModel
import Testing
import WebServices

/// How a device waits for its notices (web-services.md §4.16, clients.md B.8, rulings.md 41 and 58).
@Suite("The web courier")
struct CourierTests {
    let server: WireServer
    let ida: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user("ida")
        try ida.make("Shelf")
    }

    private static func impatient() throws -> (WireServer, WireClient) {
        let server = try WireServer {
            $0.courierPollSeconds = 0
            $0.heldPollsPerUserMax = 2
            $0.destinationsPerUserMax = 3
        }
        return (server, try server.user("ida"))
    }

    @Test("A poll waits for a notice, and each notice is told once, in order")
    func order() throws {
        let phone = try NoticeListener(ida, device: "phone")
        try phone.subscribe(querySubscription("all"))
        let waiting = phone.begin(headers: [("Origin", "https://app.example")])
        try ida.save("a")
        let first = try waiting.answer()
        #expect(first.status == 200)
        #expect(first.header("Access-Control-Allow-Origin") == "https://app.example")
        #expect(first.json["ck"]["qry"]["rid"].string == "a")
        for name in ["b", "c", "d"] { try ida.save(name) }
        #expect(try phone.words() == ["all:Shelf/b+", "all:Shelf/c+", "all:Shelf/d+"])
    }

    @Test("Two polls of one token get two notices, each its own")
    func several() throws {
        let phone = try NoticeListener(ida, device: "phone")
        try phone.subscribe(querySubscription("all"))
        let polls = [phone.begin(), phone.begin()]
        try ida.save("a")
        try ida.save("b")
        let names = try polls.map { try $0.answer().json["ck"]["qry"]["rid"].string }
        #expect(Set(names) == ["a", "b"])
    }

    @Test("A poll without news ends empty")
    func nothing() throws {
        let (_, ida) = try Self.impatient()
        let phone = try NoticeListener(ida, device: "phone")
        let empty = try phone.poll()
        #expect(empty.status == 200 && empty.text.isEmpty)
    }

    @Test("A token ends with its session, with its account, and is nobody else's")
    func ends() throws {
        let (server, ida) = try Self.impatient()
        let phone = try NoticeListener(ida, device: "phone")
        #expect(try phone.poll().status == 200)
        let tokens = try WebTokens(catalog: server.catalog)
        try tokens.revokeAll(email: ida.email)
        let ended = try phone.poll()
        #expect(ended.status == 401 && ended.code == "AUTHENTICATION_FAILED")
        let again = try server.user("ida")
        let bo = try server.user("bo")
        let other = try NoticeListener(again, device: "phone")
        let stolen = try bo.send(
            "tokens/register",
            #"{"apnsEnvironment":"development","apnsToken":"\#(other.token)"}"#, module: "device")
        #expect(stolen.status == 200 && stolen["apnsToken"].string != other.token)
        #expect(try other.poll().status == 200)
        #expect(
            try phone.client.send(
                raw: Array(other.target.dropLast().utf8), body: [], method: .get
            ).status == 404)
    }

    @Test("A held poll is told nothing once its session has ended")
    func endsWhileHeld() throws {
        let phone = try NoticeListener(ida, device: "phone")
        try phone.subscribe(querySubscription("all"))
        let waiting = phone.begin()
        try WebTokens(catalog: server.catalog).revokeAll(email: ida.email)
        try server.user("ida").save("a")
        #expect(try waiting.answer().status == 401)
    }

    @Test("A token that nobody has polled for its days ends, and one that is polled does not")
    func idle() throws {
        #expect(ServiceLimits().courierIdleDays == 30)
        let server = try WireServer {
            $0.courierPollSeconds = 0
            $0.courierIdleDays = 3
        }
        let ida = try server.user("ida")
        let (phone, tablet) = (
            try NoticeListener(ida, device: "phone"), try NoticeListener(ida, device: "tablet")
        )
        server.clock.advance(2 * 86_400_000)
        let now = server.clock.now
        #expect(try phone.poll().status == 200)
        let user = try #require(UserRecordName(ida.name))
        try server.until {
            let all = try? server.store().read { try $0.destinations(of: user) }
            return all?.contains { $0.usedAt == now } ?? false
        }
        server.clock.advance(2 * 86_400_000)
        #expect(try tablet.poll().status == 401)
        #expect(try phone.poll().status == 200)
    }

    @Test("Polls count towards the rate of the token's account, others towards their address")
    func rates() throws {
        var rates = RateLimits()
        (rates.user.requests, rates.anonymous.requests, rates.burstSeconds) = (10, 10, 1)
        let server = try WireServer(rates: rates) { $0.courierPollSeconds = 0 }
        let ida = try server.user("ida")
        let phone = try NoticeListener(ida, device: "phone")
        func refused(_ ask: () throws -> Answer) throws -> Answer? {
            for _ in 0..<20 {
                let answer = try ask()
                if answer.status == 429 { return answer }
            }
            return nil
        }
        let polled = try #require(try refused { try phone.poll() })
        #expect(polled.code == "THROTTLED" && polled.header("Retry-After") != nil)
        let wrong =
            "/courier/1/\(WireServer.tea)/development?tok="
            + String(repeating: "ab", count: 32)
        #expect(
            try refused {
                try server.stranger.send(raw: Array(wrong.utf8), body: [], method: .get)
            } != nil)
        server.clock.advance(2_000)
        #expect(try phone.poll().status == 200)
    }

    @Test("A session that is over by time takes its courier along")
    func expires() throws {
        let (server, _) = try Self.impatient()
        let ida = try server.user("ida", seconds: 60)
        let phone = try NoticeListener(ida, device: "phone")
        #expect(try phone.poll().status == 200)
        server.clock.advance(61_000)
        #expect(try phone.poll().status == 401)
    }

    @Test("A user has so many polls waiting and no more")
    func polls() throws {
        let server = try WireServer { $0.heldPollsPerUserMax = 2 }
        let ida = try server.user("ida")
        let phone = try NoticeListener(ida, device: "phone")
        let tablet = try NoticeListener(ida, device: "tablet")
        let waiting = [phone.begin(), tablet.begin()]
        let refused = try phone.poll()
        #expect(refused.status == 429 && refused.code == "THROTTLED")
        #expect(refused.reason.contains("http.heldPollsPerUserMax"))
        let bo = try server.user("bo")
        _ = try NoticeListener(bo, device: "phone").begin()
        server.web.endWaits()
        for poll in waiting { #expect(try poll.answer().status == 200) }
    }

    @Test("Of too many couriers the one goes that was not used for the longest")
    func room() throws {
        let (server, ida) = try Self.impatient()
        let first = try NoticeListener(ida, device: "1")
        server.clock.advance(1_000)
        let second = try NoticeListener(ida, device: "2")
        server.clock.advance(1_000)
        _ = try NoticeListener(ida, device: "3")
        _ = try NoticeListener(ida, device: "4")
        #expect(try first.poll().status == 401)
        #expect(try second.poll().status == 200)
    }

    @Test("What no token is gets no answer that tells of one")
    func strangers() throws {
        let (server, _) = try Self.impatient()
        let wrong = String(repeating: "ab", count: 32)
        for target in [
            "/courier/1/\(WireServer.tea)/development?tok=\(wrong)",
            "/courier/1/iCloud.no.such/development?tok=\(wrong)",
        ] {
            let answer = try server.stranger.send(raw: Array(target.utf8), body: [], method: .get)
            #expect(answer.status == 401, "\(target): \(answer.text)")
        }
        for target in [
            "/courier/1/\(WireServer.tea)/development", "/courier/1/", "/courier/1//?tok=ab",
            "/courier/1/\(WireServer.tea)/development/x?tok=\(wrong)",
            "/courier/1/\(WireServer.tea)/development?tok=\(wrong)0",
        ] {
            let answer = try server.stranger.send(raw: Array(target.utf8), body: [], method: .get)
            #expect(answer.status == 404, "\(target): \(answer.text)")
        }
        let post = try server.stranger.send(
            raw: Array("/courier/1/\(WireServer.tea)/development?tok=\(wrong)".utf8), body: [],
            method: .post)
        #expect(post.status == 405)
    }

    @Test("A device that nothing could push to is refused, and a browser is not")
    func unreached() throws {
        let server = try WireServer(kinds: [.courier, .webPush, .webhook])
        let token = String(repeating: "0a", count: 32)
        func register(_ server: WireServer) throws -> Answer {
            try server.user("ida").send(
                "tokens/register", #"{"apnsEnvironment":"production","apnsToken":"\#(token)"}"#,
                module: "device")
        }
        let refused = try register(server)
        #expect(refused.status == 400 && refused.code == "BAD_REQUEST")
        #expect(refused.reason.contains("Apple"))
        #expect(try register(WireServer(kinds: [.apns])).status == 200)
        #expect(!(try NoticeListener(server.user("bo"), device: "phone").token.isEmpty))
    }

    @Test("What tokens/create and tokens/register need they name")
    func refusals() throws {
        func ask(_ path: String, _ body: String, by client: WireClient? = nil) throws -> Answer {
            try (client ?? ida).send(path, body, module: "device")
        }
        #expect(try ask("tokens/create", "{}").reason.contains("apnsEnvironment"))
        #expect(try ask("tokens/create", #"{"apnsEnvironment":"x"}"#).status == 400)
        #expect(
            try ask("tokens/create", #"{"apnsEnvironment":"PRODUCTION"}"#)["apnsEnvironment"]
                .string == "PRODUCTION")
        #expect(
            try ask("tokens/register", #"{"apnsEnvironment":"development"}"#)
                .reason.contains("apnsToken"))
        #expect(
            try ask("tokens/register", #"{"apnsEnvironment":"development","apnsToken":"QUJD"}"#)
                .status == 400)
        #expect(
            try ask("tokens/create", #"{"apnsEnvironment":"development"}"#, by: server.visitor())
                .status == 421)
    }
}
