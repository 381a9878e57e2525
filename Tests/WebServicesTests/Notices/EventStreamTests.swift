import Accounts
import CloudModel
import Storage
import Testing

/// Pages that stay at the courier and are told of each change as it happens (notifications.md).
@Suite("Event streams of the courier")
struct EventStreamTests {
    private struct Page {
        let server: WireServer
        let ida: WireClient
        let phone: NoticeListener

        init(_ change: (inout ServiceLimits) -> Void = { _ in }) throws {
            server = try WireServer(limits: change)
            ida = try server.user("ida")
            try ida.make("Shelf")
            phone = try NoticeListener(ida, device: "phone")
            try phone.subscribe(querySubscription("all"))
        }

        /// Notices that wait in the outbox.
        func waiting() throws -> Int {
            try server.store().read { snapshot in
                try snapshot.destinations(ofKind: .courier).reduce(0) {
                    try $0
                        + snapshot.notices(for: $1.number, after: NoticeNumber(0), limit: .max)
                        .count
                }
            }
        }
    }

    private static func names(_ events: [EventListener.Event]) -> [String] {
        events.compactMap { $0.notice["ck"]["qry"]["rid"].string }
    }

    @Test("A stream stays, and tells of each change in order, with a number that grows")
    func stays() throws {
        let page = try Page()
        try page.ida.save("a")
        let stream = try EventListener(page.phone)
        #expect(stream.answer.status == 200)
        #expect(stream.answer.header("Content-Type") == "text/event-stream")
        #expect(stream.answer.header("Cache-Control") == "no-store")
        #expect(stream.answer.header("X-Accel-Buffering") == "no")
        #expect(stream.answer.text.hasPrefix("retry: 1000\n\n"))
        #expect(Self.names(try stream.events(1)) == ["a"])
        for (index, name) in ["b", "c", "d"].enumerated() {
            try page.ida.save(name)
            #expect(Self.names(try stream.events(index + 2)).last == name)
        }
        let numbers = try stream.events(4).compactMap { Int($0.id) }
        #expect(numbers.count == 4 && numbers == numbers.sorted())
    }

    @Test("What was told stays until the client comes back and says that it has had it")
    func acknowledges() throws {
        let page = try Page()
        let first = try EventListener(page.phone)
        try page.ida.save("a")
        try page.ida.save("b")
        let told = try first.events(2)
        #expect(try page.waiting() == 2)
        let again = try EventListener(page.phone)
        #expect(Self.names(try again.events(2)) == ["a", "b"])
        let rest = try EventListener(page.phone, after: told[0].id)
        #expect(Self.names(try rest.events(1)) == ["b"])
        try page.ida.save("c")
        #expect(Self.names(try rest.events(2)) == ["b", "c"])
        try page.server.until { (try? page.waiting()) == 2 }
    }

    @Test("A stream without news says now and then that it is still there")
    func quiet() throws {
        let page = try Page { $0.streamQuietSeconds = 1 }
        let stream = try EventListener(page.phone)
        try stream.through(":\n\n")
        try page.ida.save("a")
        #expect(Self.names(try stream.events(1)) == ["a"])
    }

    @Test("A stream ends when it has lasted long enough, and its client comes back after a second")
    func age() throws {
        let page = try Page { $0.streamSecondsMax = 1 }
        #expect(try EventListener(page.phone).toEnd() == "retry: 1000\n\n")
    }

    @Test(
        "After so many events a stream ends, and its client comes back at once to acknowledge them")
    func many() throws {
        let page = try Page { $0.streamEventsMax = 20 }
        _ = try page.ida.modify((0..<30).map { operation("create", "r\($0)") })
        try page.server.until { (try? page.waiting()) == 30 }
        let text = try EventListener(page.phone).toEnd()
        let told = EventListener.events(in: text)
        #expect(told.count == 20 && text.hasSuffix("retry: 10\n\n"))
        let rest = try EventListener(page.phone, after: told.last?.id)
        let left = try rest.events(10)
        #expect(left.count == 10)
        #expect(Set(Self.names(told) + Self.names(left)).count == 30)
    }

    @Test("A client that does not read has one piece in memory; the rest waits in the outbox")
    func slow() throws {
        let page = try Page()
        let stream = try EventListener(page.phone, reads: false)
        try page.ida.save("first")
        #expect(Self.names(try stream.events(1)) == ["first"])
        _ = try page.ida.modify((0..<40).map { operation("create", "r\($0)") })
        try page.server.until { (try? page.waiting()) == 41 }
        #expect(stream.pieceCount == 1)
        try stream.confirm(true)
        #expect(try stream.events(17).count == 17)
        #expect(stream.pieceCount == 2)
        try stream.confirm(true)
        #expect(try stream.events(33).count == 33)
    }

    @Test("What was on its way to a client that went is told when it comes back")
    func cut() throws {
        let page = try Page()
        let stream = try EventListener(page.phone, reads: false)
        try page.ida.save("a")
        _ = try stream.events(1)
        try stream.confirm(false)
        try page.server.until { page.server.web.heldCount == 0 }
        #expect(Self.names(try EventListener(page.phone).events(1)) == ["a"])
        #expect(page.server.web.courierCounts.cut == 1)
    }

    @Test("A stream ends soon after its session, and tells nothing more")
    func session() throws {
        let page = try Page()
        let stream = try EventListener(page.phone)
        try WebTokens(catalog: page.server.catalog).revokeAll(email: page.ida.email)
        try page.server.user("ida").save("a")
        #expect(try stream.toEnd() == "retry: 1000\n\n")
        #expect(try page.phone.poll().status == 401)
    }

    @Test("A stream ends when its session is over by time, also while nothing happens")
    func expiry() throws {
        let page = try Page()
        let short = try page.server.user("ida", seconds: 60)
        let stream = try EventListener(NoticeListener(short, device: "tablet"))
        page.server.clock.advance(61_000)
        #expect(try stream.toEnd() == "retry: 1000\n\n")
    }

    @Test("A stream ends when its device makes room for another")
    func room() throws {
        let page = try Page { $0.destinationsPerUserMax = 1 }
        let stream = try EventListener(page.phone)
        page.server.clock.advance(1_000)
        _ = try NoticeListener(page.ida, device: "tablet")
        #expect(try stream.toEnd() == "retry: 1000\n\n")
    }

    @Test("A server that stops ends all streams, and begins none that stays")
    func stops() throws {
        let page = try Page()
        let stream = try EventListener(page.phone)
        page.server.web.endWaits()
        #expect(try stream.toEnd() == "retry: 1000\n\n")
        try page.ida.save("a")
        try page.server.until { (try? page.waiting()) == 1 }
        let late = try EventListener(page.phone)
        #expect(Self.names(EventListener.events(in: try late.toEnd())) == ["a"])
    }

    @Test("Streams count among the polls that a user may have waiting, as long as they last")
    func locations() throws {
        let page = try Page { $0.heldPollsPerUserMax = 2 }
        let poll = page.phone.begin()
        let tablet = try NoticeListener(page.ida, device: "tablet")
        let stream = try EventListener(tablet, reads: false)
        let refused = try EventListener(page.phone).answer
        #expect(refused.status == 429 && refused.reason.contains("http.heldPollsPerUserMax"))
        #expect(try page.phone.poll().status == 429)
        try page.ida.save("a")
        _ = try stream.events(1)
        try stream.confirm(false)
        #expect(try poll.answer().json["ck"]["qry"]["rid"].string == "a")
        try page.server.until { page.server.web.heldCount == 0 }
        #expect(try EventListener(page.phone).answer.status == 200)
    }

    @Test("Where too many requests wait already, a stream tells what there is and ends")
    func full() throws {
        let page = try Page { $0.heldPollsMax = 1 }
        let first = try EventListener(page.phone)
        #expect(page.server.web.heldCount == 1)
        #expect(try EventListener(page.phone).toEnd() == "retry: 1000\n\n")
        try page.ida.save("a")
        #expect(Self.names(try first.events(1)) == ["a"])
    }
}
