import Accounts
import CloudModel
import Testing
import WebServices

/// What the settings of a container allow in it, whatever the server's are.
@Suite("Quotas and rates of containers")
struct ContainerLimitTests {
    private let server: WireServer
    private static let kilobyte = "{\"a\":{\"value\":\"\(String(repeating: "x", count: 1_000))\"}}"

    init() throws {
        var rates = RateLimits()
        rates.burstSeconds = 2
        server = try WireServer(rates: rates)
    }

    private func set(_ settings: [ContainerSetting: String]) throws {
        _ = try Containers(catalog: server.catalog).set(
            Dictionary(uniqueKeysWithValues: settings.map { ($0.key.rawValue, $0.value) }),
            of: WireServer.tea)
    }

    @Test("A container's quota counts private and public databases together, until it is unset")
    func whole() throws {
        try set([.quotaBytes: "5000"])
        let (ida, mo) = (try server.user("ida"), try server.user("mo"))
        try ida.make("Shelf")
        #expect(try ida.save("a", Self.kilobyte).code == nil)
        #expect(try mo.save("b", Self.kilobyte, zone: nil, in: "public").code == nil)
        #expect(try ida.save("c", Self.kilobyte).code == nil)
        let refused = try (0..<4).map { try mo.save("m\($0)", Self.kilobyte, zone: nil).code }
        #expect(refused.last == "QUOTA_EXCEEDED", "\(refused)")
        // Also for others, and in the public database; what makes room is not refused.
        #expect(try ida.save("d", Self.kilobyte).code == "QUOTA_EXCEEDED")
        #expect(
            try ida.save("d", Self.kilobyte, zone: nil, in: "public").code == "QUOTA_EXCEEDED")
        #expect(try ida.delete("a").code == nil)
        #expect(try ida.delete("c").code == nil)
        #expect(try ida.save("d", Self.kilobyte).code == nil)
        // Another container is another matter.
        let elsewhere = try server.user("ida", WireServer.mate)
        try elsewhere.make("Shelf")
        for number in 0..<8 { #expect(try elsewhere.save("\(number)", Self.kilobyte).code == nil) }
        try set([.quotaBytes: ""])
        for number in 0..<8 { #expect(try ida.save("e\(number)", Self.kilobyte).code == nil) }
    }

    @Test("A container has its own quota of each user and of its public database")
    func owners() throws {
        try set([.userQuotaBytes: "3000", .publicQuotaBytes: "2500"])
        let (ida, mo) = (try server.user("ida"), try server.user("mo"))
        for user in [ida, mo] { try user.make("Shelf") }
        let saved = try (0..<4).map { try ida.save("r\($0)", Self.kilobyte).code }
        #expect(saved.first == .some(nil) && saved.last == "QUOTA_EXCEEDED", "\(saved)")
        #expect(try mo.save("r", Self.kilobyte).code == nil)
        #expect(try ida.save("p", Self.kilobyte, zone: nil, in: "public").code == nil)
        #expect(try mo.save("q", Self.kilobyte, zone: nil, in: "public").code == "QUOTA_EXCEEDED")
    }

    @Test("Over a container's rate everybody is told 429 and when to come back, elsewhere nobody")
    func requests() throws {
        try set([.requestsPerSecondMax: "2"])
        let (ida, mo) = (try server.user("ida"), try server.user("mo"))
        let elsewhere = try server.user("ida", WireServer.mate)
        for _ in 0..<2 {
            #expect(try ida.send("private/zones/list", nil).status == 200)
            #expect(try mo.send("private/zones/list", nil).status == 200)
        }
        for user in [ida, mo] {
            let refused = try user.send("private/zones/list", nil)
            #expect(refused.status == 429 && refused.code == "THROTTLED")
            #expect(refused.header("Retry-After") == "1")
            #expect(refused.reason.contains("requestsPerSecondMax"), "\(refused.reason)")
        }
        #expect(try elsewhere.send("private/zones/list", nil).status == 200)
        server.clock.advance(500)
        #expect(try mo.send("private/zones/list", nil).status == 200)
        try set([.requestsPerSecondMax: ""])
        for _ in 0..<8 { #expect(try ida.send("private/zones/list", nil).status == 200) }
    }

    @Test("Requests that nobody vouches for use up no container's rate")
    func strangers() throws {
        try set([.requestsPerSecondMax: "1"])
        let ida = try server.user("ida")
        var stranger = ida
        stranger.credential = .tokens(api: String(repeating: "0", count: 64), web: nil)
        for _ in 0..<8 { #expect(try stranger.send("private/zones/list", nil).status != 200) }
        #expect(try ida.send("private/zones/list", nil).status == 200)
    }

    @Test("A container's rate of records holds back those who write, and not those who read")
    func records() throws {
        try set([.recordsPerSecondMax: "1"])
        let ida = try server.user("ida")
        try ida.make("Shelf")
        #expect(try ida.save("a").code == nil)
        let refused = try ida.send(
            "private/records/modify",
            #"{"zoneID":{"zoneName":"Shelf"},"operations":[{"operationType":"forceDelete","#
                + #""record":{"recordName":"a"}}]}"#)
        #expect(refused.status == 429 && refused.code == "THROTTLED")
        #expect(refused.reason.contains("recordsPerSecondMax"), "\(refused.reason)")
        #expect(try ida.send("private/zones/list", nil).status == 200)
        server.clock.advance(2_000)
        #expect(try ida.save("b").code == nil)
    }

    @Test("A limit is a whole number, and nothing else is taken for one")
    func values() throws {
        for value in ["-1", "1.5", "1e3", "many", "9007199254740993", "+5", "٣"] {
            #expect(throws: AccountsRefusal.self) { try set([.quotaBytes: value]) }
            #expect(throws: AccountsRefusal.self) { try set([.requestsPerSecondMax: value]) }
        }
        try set([.quotaBytes: "0", .requestsPerSecondMax: "1000000000"])
        #expect(throws: AccountsRefusal.self) { try set([.requestsPerSecondMax: "1000000001"]) }
    }
}
