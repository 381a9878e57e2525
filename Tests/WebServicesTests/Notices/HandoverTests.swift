import Accounts
import CloudModel
import Storage
import Synchronization
import Testing
import WebServices

/// What polls get that wait while somebody saves.
@Suite("Notices from hand to hand")
struct HandoverTests {
    private let server: WireServer
    private let ida: WireClient
    private let phone: NoticeListener

    init() throws { try self.init { _ in } }

    private init(limits change: (inout ServiceLimits) -> Void) throws {
        server = try WireServer(limits: change)
        ida = try server.user("ida")
        try ida.make("Shelf")
        phone = try NoticeListener(ida, device: "phone")
        try phone.subscribe(querySubscription("all"))
    }

    private func held(_ count: Int) throws {
        try server.until { server.web.heldCount == count }
    }

    private func destination(of listener: NoticeListener) throws -> DestinationNumber {
        let user = try #require(UserRecordName(listener.client.name))
        let all = try server.store().read { try $0.destinations(of: user) }
        return try #require(all.first { $0.device == listener.device }).number
    }

    private static func name(_ answer: Answer) -> String? {
        answer.json["ck"]["qry"]["rid"].string
    }

    @Test("A poll that waits is answered, and nothing of its notice was in the outbox")
    func direct() throws {
        // However late the event loop comes to it.
        let patient = try HandoverTests { $0.handoverMilliseconds = 600_000 }
        for name in ["a", "b", "c"] {
            let waiting = patient.phone.begin()
            // One that is held may still look once more, since the last page was noted meanwhile.
            let part = StorePart.destination(try patient.destination(of: patient.phone))
            let notices = try patient.server.store().notices
            try patient.server.until { notices.takes(at: part) }
            try patient.ida.save(name)
            #expect(Self.name(try waiting.answer()) == name)
        }
        // The first that the outbox ever had: it counts on from there for ever.
        let tablet = try NoticeListener(patient.ida, device: "tablet")
        try patient.phone.by().save("d")
        #expect(try EventListener(tablet).events(1).map(\.id) == ["1"])
    }

    @Test("Who hears by a waiting poll of what fires once finds the subscription gone")
    func once() throws {
        let tablet = try NoticeListener(ida, device: "tablet")
        for round in 0..<10 {
            try tablet.subscribe(
                querySubscription(
                    "one", filter: textFilter("name", "EQUALS", "tea"),
                    more: ",\"firesOnce\":true"))
            let waiting = tablet.begin()
            try held(1)
            try phone.by().save("a\(round)", #"{"name":{"value":"tea"}}"#)
            _ = try waiting.answer()
            // That of the subscription to everything, or that of the one that fires once.
            _ = try tablet.poll()
            let gone = try ida.send("private/subscriptions/lookup", #"{"subscriptions":["one"]}"#)
            #expect(gone.json["subscriptions"][0].code == "NOT_FOUND")
        }
    }

    @Test("Each of several devices that wait gets its own, and those that come later find theirs")
    func several() throws {
        let tablet = try NoticeListener(ida, device: "tablet")
        let waiting = [phone.begin(), phone.begin()]
        try held(2)
        for name in ["a", "b", "c"] { try ida.save(name) }
        let names = try waiting.map { Self.name(try $0.answer()) }
        #expect(Set(names) == ["a", "b"])
        #expect(Self.name(try phone.poll()) == "c")
        #expect(try (0..<3).map { _ in Self.name(try tablet.poll()) } == ["a", "b", "c"])
    }

    @Test("What was handed on and did not arrive is in the outbox, for the next poll")
    func cut() throws {
        let notices = try server.store().notices
        let part = StorePart.destination(try destination(of: phone))
        let isCut = Atomic(false)
        notices.watch([part]).whenMoved({ _ in }) { handed in
            handed.whenSent(false)
            isCut.store(true, ordering: .releasing)
            return true
        }
        try ida.save("a")
        try server.until { isCut.load(ordering: .acquiring) }
        #expect(Self.name(try phone.poll()) == "a")
        try ida.save("b")
        #expect(Self.name(try phone.poll()) == "b")
    }

    @Test("One who never says whether it arrived holds up nobody for long")
    func silent() throws {
        let hasty = try HandoverTests { $0.handoverMilliseconds = 1 }
        let notices = try hasty.server.store().notices
        let part = StorePart.destination(try hasty.destination(of: hasty.phone))
        notices.watch([part]).whenMoved({ _ in }) { _ in true }
        try hasty.ida.save("a")
        #expect(Self.name(try hasty.phone.poll()) == "a")
    }

    @Test("A poller that reads nothing holds up nobody, and its next poll finds the notice")
    func unread() throws {
        let tablet = try NoticeListener(ida, device: "tablet")
        var deaf = phone.client
        deaf.reads = false
        _ = deaf.start(raw: Array(phone.target.utf8), body: [], method: .get)
        try held(1)
        // What is waited for a loop that does not answer is longer than any test.
        try ida.save("a")
        #expect(Self.name(try tablet.poll()) == "a")
        let waiting = tablet.begin()
        try held(1)
        try ida.save("b")
        #expect(Self.name(try waiting.answer()) == "b")
        #expect(try (0..<2).map { _ in Self.name(try phone.poll()) } == ["a", "b"])
    }

    @Test("Badges go on counting, whether somebody waits or not")
    func badges() throws {
        let counting = try NoticeListener(server.user("bo"), device: "phone")
        let bo = counting.client
        try bo.make("Shelf")
        try counting.subscribe(
            querySubscription("counted", more: ",\"notificationInfo\":{\"shouldBadge\":true}"))
        for badge in 1...3 {
            let waiting = counting.begin()
            try held(1)
            try bo.save("r\(badge)")
            #expect(try waiting.answer().json["aps"]["badge"].int == Int64(badge))
        }
    }

    @Test("A waiting device of somebody who may read no more is told nothing")
    func rights() throws {
        let bo = try server.user("bo")
        let watching = try NoticeListener(bo, device: "phone")
        try ida.save("first", zone: nil, in: "public")
        try watching.subscribe(querySubscription("all"), in: "public")
        let waiting = watching.begin()
        try held(1)
        try ida.save("a", zone: nil, in: "public")
        #expect(Self.name(try waiting.answer()) == "a")
        let again = watching.begin()
        try held(1)
        try WebTokens(catalog: server.catalog).revokeAll(email: bo.email)
        try ida.save("b", zone: nil, in: "public")
        #expect(try again.answer().status == 401)
    }
}
