import Accounts
import CloudModel
import Storage
import Testing
import WebServices

/// What is made of feeds before somebody asks for it, and who gets it.
@Suite("The next page of a feed, made while this one is taken in")
struct PagesAheadTests {
    /// A server whose time stands still, so that no page gets too old.
    private static func server(
        storage: (any Store)? = nil, limits: (inout ServiceLimits) -> Void = { _ in }
    ) throws -> WireServer {
        try WireServer(storage: storage, rates: RateLimits(), limits: limits)
    }

    /// Makes a zone with some records, which are one page each.
    private static func fill(_ client: WireClient, _ count: Int = 12) throws {
        try client.make("Shelf")
        let saved = try client.modify(
            (10..<10 + count).map { operation("create", "r\($0)", fields: "{}") })
        #expect(saved.status == 200)
    }

    /// What is asked for one record after a token, of the zone Shelf.
    private static func question(after token: String, more: String = "") -> String {
        """
        {"zones":[{"zoneID":{"zoneName":"Shelf"},"syncToken":\(quoted(token)),\
        "resultsLimit":1\(more)}]}
        """
    }

    /// One who follows the zone Shelf, a record a page.
    private struct Follower {
        let client: WireClient
        var more = ""
        var token: String?

        init(_ client: WireClient, more: String = "") {
            self.client = client
            self.more = more
        }

        /// What they ask for next.
        var question: String {
            token.map { PagesAheadTests.question(after: $0, more: more) }
                ?? """
                {"zones":[{"zoneID":{"zoneName":"Shelf"},"resultsLimit":1\(more)}]}
                """
        }

        /// Takes a page; waits until what is made ahead for it is there.
        mutating func take() throws -> Found {
            let answer = try client.send("private/changes/zone", question)
            let page = answer.zones[0]
            token = page["syncToken"].string
            try client.server.settle()
            return page
        }

        /// Takes the pages after which one lies ready.
        mutating func begin() throws {
            for _ in 0..<3 { #expect(try take()["moreComing"].bool == true) }
            #expect(client.server.web.pagesAhead.made > 0)
        }
    }

    private static func names(_ page: Found) -> [String] {
        page["records"].elements.compactMap(\.name)
    }

    @Test("A feed that is followed is what it is without", arguments: ["", #","reverse":true"#])
    func whole(more: String) throws {
        var pages: [[String]] = []
        var counts: [PagesAheadCounts] = []
        for bytesMax in [0, 1_000_000] {
            let server = try Self.server { $0.pagesAheadBytesMax = bytesMax }
            let ida = try server.user()
            try Self.fill(ida)
            var (follower, found, isMore) = (Follower(ida, more: more), [String](), true)
            while isMore, found.count < 20 {
                let page = try follower.take()
                found += Self.names(page)
                isMore = page["moreComing"].bool == true
            }
            pages.append(found)
            counts.append(server.web.pagesAhead)
        }
        #expect(pages[0].count == 12 && pages[1] == pages[0])
        #expect(counts[0] == PagesAheadCounts())
        // The first three are asked for before anybody knows that they are followed.
        #expect(counts[1].made == 9 && counts[1].used == 9 && counts[1].wasted == 0)
    }

    @Test("The deprecated form of a feed is followed as well")
    func deprecated() throws {
        let server = try Self.server()
        let ida = try server.user()
        try Self.fill(ida)
        var (token, found) = (String?.none, [String]())
        for _ in 0..<12 {
            let after = token.map { ",\"syncToken\":\(quoted($0))" } ?? ""
            let page = try ida.send(
                "private/records/changes",
                "{\"zoneID\":{\"zoneName\":\"Shelf\"},\"resultsLimit\":1\(after)}")
            found += page.records.compactMap(\.name)
            token = page["syncToken"].string
            try server.settle()
        }
        #expect(found == (10..<22).map { "r\($0)" })
        #expect(server.web.pagesAhead.used == 9)
    }

    @Test("A page made ahead is void once anything has been committed")
    func committed() throws {
        let server = try Self.server()
        let ida = try server.user()
        try Self.fill(ida)
        var follower = Follower(ida)
        try follower.begin()
        try ida.delete("r13")
        #expect(try Self.names(follower.take()) == ["r14"])
        #expect(server.web.pagesAhead.used == 0 && server.web.pagesAhead.wasted == 1)
    }

    @Test("Nobody gets what was made for another user, device, credential or question")
    func others() throws {
        // Each device and question of a person is a feed that they follow.
        let server = try Self.server { $0.pagesAheadPerUserMax = 16 }
        let (ida, bo) = (try server.user("ida"), try server.user("bo"))
        try Self.fill(ida)
        try Self.fill(bo)
        var follower = Follower(ida)
        try follower.begin()
        let token = try #require(follower.token)
        let thief = try bo.send("private/changes/zone", follower.question)
        #expect(thief.zones[0].code == "BAD_REQUEST", "\(thief.text)")
        let stranger = try server.stranger.send("private/changes/zone", follower.question)
        #expect((400..<500).contains(stranger.status), "\(stranger.text)")
        var phone = ida
        phone.device = "phone"
        #expect(try phone.send("private/changes/zone", follower.question).status == 200)
        let others = [
            #","desiredKeys":[]"#, #","desiredRecordTypes":["Cup"]"#, #","reverse":true"#,
        ]
        for more in others {
            let other = try ida.send(
                "private/changes/zone", Self.question(after: token, more: more))
            #expect(other.status == 200)
        }
        #expect(server.web.pagesAhead.used == 0)
        // It is still there for who asks what was foreseen.
        #expect(try Self.names(follower.take()) == ["r13"])
        #expect(server.web.pagesAhead.used == 1)
    }

    @Test("Whose session has ended gets no page that was made before")
    func session() throws {
        let server = try Self.server()
        let ida = try server.user()
        try Self.fill(ida)
        var follower = Follower(ida)
        try follower.begin()
        guard case .tokens(_, let web?) = ida.credential else { return }
        try WebTokens(catalog: server.catalog, settings: server.accounts).revoke(token: web)
        let refused = try ida.send("private/changes/zone", follower.question)
        #expect(refused.status == 421 || refused.status == 401, "\(refused.text)")
        #expect(server.web.pagesAhead.used == 0)
    }

    @Test("Who may see a shared zone no more gets no page of it that was made before")
    func rights() throws {
        let server = try Self.server()
        let (ida, bo) = (try server.user("ida"), try server.user("bo"))
        try ida.make("Shelf")
        try ida.put(("ours", nil))
        for number in 0..<8 { try ida.put(("leaf\(number)", "ours")) }
        try bo.join(try ida.share("ours"))
        var copy = SharedZone(bo, of: ida)
        for _ in 0..<3 {
            try copy.advance(limit: 1)
            try server.settle()
        }
        #expect(server.web.pagesAhead.made == 1)
        let ended = try ida.modify([
            operation("forceDelete", "share-ours", type: nil),
            operation("forceUpdate", "ours", type: "Note", fields: #"{"n":{"value":7}}"#),
        ])
        #expect(ended.records.allSatisfy { $0.code == nil }, "\(ended.text)")
        #expect(try copy.page(after: copy.token, limit: 1).code == "ZONE_NOT_FOUND")
        #expect(server.web.pagesAhead.used == 0)
    }

    @Test("A zone that was deleted has no page any more")
    func deletedZone() throws {
        let server = try Self.server()
        let ida = try server.user()
        try Self.fill(ida)
        var follower = Follower(ida)
        try follower.begin()
        try ida.remove("Shelf")
        #expect(try follower.take().code == "ZONE_NOT_FOUND")
    }

    @Test("A page is kept for a second")
    func expired() throws {
        let server = try Self.server()
        let ida = try server.user()
        try Self.fill(ida)
        var follower = Follower(ida)
        try follower.begin()
        server.clock.advance(1_000)
        #expect(try Self.names(follower.take()) == ["r13"])
        #expect(server.web.pagesAhead.used == 0 && server.web.pagesAhead.wasted == 1)
    }

    @Test("A store that was opened anew is read anew")
    func reopened() throws {
        let server = try Self.server()
        let ida = try server.user()
        try Self.fill(ida)
        var follower = Follower(ida)
        try follower.begin()
        try server.restart { _ in }
        #expect(try Self.names(follower.take()) == ["r13"])
        #expect(server.web.pagesAhead.used == 0)
    }

    @Test("After two pages that were made in vain none is made for a while")
    func vain() throws {
        let server = try Self.server()
        let ida = try server.user()
        try Self.fill(ida, 40)
        var follower = Follower(ida)
        try follower.begin()
        var made: [Int] = []
        for number in 0..<12 {
            // Each of them is void before it is asked for.
            try ida.save("late\(number)")
            _ = try follower.take()
            made.append(server.web.pagesAhead.made)
        }
        #expect(made == [2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 4, 4], "\(made)")
        #expect(server.web.pagesAhead.used == 0)
    }

    @Test("Pages are made ahead where that gains time, and else are not", arguments: [true, false])
    func trial(gains: Bool) throws {
        let server = try Self.server()
        let ida = try server.user()
        try Self.fill(ida, 180)
        var (follower, made) = (Follower(ida), 0)
        for page in 1...150 {
            _ = try follower.take()
            let isAhead = server.web.pagesAhead.made > made
            made = server.web.pagesAhead.made
            // From here to the next page.
            server.clock.advance(isAhead == gains ? 10 : 20)
            // It begins with the third page: after 64 the other way is tried, and then what has been faster.
            if (66..<130).contains(page) { #expect(made == 63) }
        }
        #expect(made == (gains ? 63 + 21 : 63))
        // Whoever comes next begins with what has been faster.
        let bo = try server.user("bo")
        try Self.fill(bo)
        var other = Follower(bo)
        for _ in 0..<6 { _ = try other.take() }
        #expect(server.web.pagesAhead.made == (gains ? made + 4 : made))
    }
}

extension WireServer {
    /// Waits until no page is being made ahead.
    func settle() throws {
        try until { web.pagesAhead.underWay == 0 }
    }
}
