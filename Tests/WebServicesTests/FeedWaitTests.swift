import Testing

@Suite("Feeds that wait until there is news")
struct FeedWaitTests {
    private let server: WireServer
    private let ida: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user("ida")
        _ = try ida.make("Shelf", "Other")
    }

    private func token(_ zone: AnswerPart) throws -> String {
        try #require(zone["syncToken"].string)
    }

    private func ask(_ token: String, seconds: Int) -> WireClient.Pending {
        ida.start(
            "private/changes/zone",
            """
            {"zones":[{"zoneID":{"zoneName":"Shelf"},"syncToken":"\(token)"}],\
            "waitSeconds":\(seconds)}
            """)
    }

    @Test("A zone's feed without news is answered by the next change of the zone")
    func zone() throws {
        let start = try token(ida.changes("Shelf"))
        let waiting = ask(start, seconds: 55)
        try server.until { server.web.heldCount == 1 }
        _ = try ida.save("other", zone: "Other")
        #expect(waiting.response.isEmpty && server.web.heldCount == 1)
        _ = try ida.save("a")
        let answer = try waiting.answer()
        #expect(answer.status == 200)
        #expect(answer.json["zones"][0]["records"][0].name == "a")
        // There is news already: nothing waits.
        let again = try ask(start, seconds: 55).answer()
        #expect(again.json["zones"][0]["records"][0].name == "a")
    }

    @Test("A database's feed is answered by the next zone that is made or changed")
    func database() throws {
        let first = try ida.databaseChanges()
        let start = try #require(first.json["syncToken"].string)
        let waiting = ida.start(
            "private/changes/database", #"{"syncToken":"\#(start)","waitSeconds":55}"#)
        try server.until { server.web.heldCount == 1 }
        _ = try ida.make("Third")
        let answer = try waiting.answer()
        #expect(answer.json["zones"][0]["zoneID"]["zoneName"].string == "Third")
    }

    @Test("When the time is over the answer is an ordinary one without news")
    func timeOver() throws {
        let start = try token(ida.changes("Shelf"))
        let answer = try ask(start, seconds: 1).answer()
        #expect(answer.status == 200)
        let zone = answer.json["zones"][0]
        #expect(zone["records"].elements.isEmpty && zone["moreComing"].bool == false)
        #expect(try ida.changes("Shelf", after: token(zone))["records"].elements.isEmpty)
    }

    @Test("A wait of no seconds, or of more than may be, is refused with what was expected")
    func range() throws {
        let start = try token(ida.changes("Shelf"))
        for seconds in [0, -1, 56] {
            let answer = try ask(start, seconds: seconds).answer()
            #expect(answer.status == 400)
            #expect(answer.json.reason.contains("waitSeconds: \(seconds) given; expected 1 to 55"))
        }
    }
}
