import CloudModel
import Dispatch
import Fairness
import Storage
import Synchronization
import Testing
import WebServices

/// Pages that are made ahead: how many, how large, and by whom.
@Suite("What may be made of feeds before somebody asks for it")
struct PagesAheadLimitTests {
    /// Lets workers read for requests when it is told to.
    private final class Gate: ForwardingStorage {
        let store: any Store
        private let passes = DispatchSemaphore(value: 0)
        private let isShut = Atomic(false)
        private let isBroken = Atomic(false)
        private let begun = Atomic(0)

        init(_ store: any Store) { self.store = store }

        /// How many reads of workers have come to it while it was shut.
        var begunCount: Int { begun.load(ordering: .acquiring) }

        func shut() { isShut.store(true, ordering: .releasing) }

        /// - Parameter fails: whether the read that waits comes to nothing.
        func open(fails: Bool = false) {
            isBroken.store(fails, ordering: .releasing)
            isShut.store(false, ordering: .releasing)
            // For all that wait: a page may have been begun behind the one that is void.
            for _ in 0..<8 { passes.signal() }
        }

        func read<Value>(
            by reader: StoreReader, until stop: StopSignal?,
            _ body: (any StoreSnapshot) throws -> Value
        ) throws -> Value {
            if reader == .anybody, stop != nil, isShut.load(ordering: .acquiring) {
                begun.add(1, ordering: .releasing)
                _ = passes.wait(timeout: .now() + 60)
                if isBroken.exchange(false, ordering: .acquiringAndReleasing) {
                    throw StorageFailure.interrupted
                }
            }
            return try store.read(by: reader, until: stop, body)
        }
    }

    private static func fill(_ client: WireClient, _ count: Int = 12) throws {
        try client.make("Shelf")
        let text = String(repeating: "x", count: 2_000)
        let saved = try client.modify(
            (10..<10 + count).map {
                operation("create", "r\($0)", fields: #"{"t":{"value":"\#(text)"}}"#)
            })
        #expect(saved.status == 200)
    }

    private static func question(after token: String?) -> String {
        let token = token.map { ",\"syncToken\":\(quoted($0))" } ?? ""
        return #"{"zones":[{"zoneID":{"zoneName":"Shelf"},"resultsLimit":1\#(token)}]}"#
    }

    /// Takes some pages of the zone Shelf, one record each; returns the token for the next.
    @discardableResult
    private static func follow(
        _ client: WireClient, _ count: Int = 3, after token: String? = nil, settles: Bool = true
    ) throws -> String {
        var token = token
        for _ in 0..<count {
            let page = try client.send("private/changes/zone", question(after: token)).zones[0]
            token = page["syncToken"].string
            if settles { try client.server.settle() }
        }
        return try #require(token)
    }

    /// A server that is making the page which Ida asks for next, until the gate opens.
    private struct Making {
        let server: WireServer
        let gate: Gate
        let ida: WireClient
        /// The token of that page.
        let next: String
        /// Has the folder of the store behind the gate.
        private let owner: WireServer

        init() throws {
            owner = try WireServer()
            let gate = Gate(try owner.store())
            server = try WireServer(storage: gate, rates: RateLimits())
            ida = try server.user()
            try PagesAheadLimitTests.fill(ida)
            let token = try PagesAheadLimitTests.follow(ida, 2)
            gate.shut()
            next = try PagesAheadLimitTests.follow(ida, 1, after: token, settles: false)
            try server.until { gate.begunCount == 1 }
            self.gate = gate
        }
    }

    @Test("Who asks for a page while it is being made gets that page")
    func asked() throws {
        let making = try Making()
        let (server, gate, ida, next) = (making.server, making.gate, making.ida, making.next)
        let waiting = ida.start("private/changes/zone", Self.question(after: next))
        // Whoever asks the same meanwhile makes a page of their own.
        let other = try ida.send("private/changes/zone", Self.question(after: next))
        gate.open()
        let answer = try waiting.answer()
        #expect(answer.zones[0]["records"][0].name == "r13" && answer.text == other.text)
        #expect(server.web.pagesAhead.used == 1)
        // The page behind it was begun with it.
        try server.settle()
        #expect(server.web.pagesAhead.made == 2)
    }

    @Test("Who waits for a page that cannot be made ahead has it made anew")
    func failed() throws {
        let making = try Making()
        let (server, gate, ida, next) = (making.server, making.gate, making.ida, making.next)
        let waiting = ida.start("private/changes/zone", Self.question(after: next))
        gate.open(fails: true)
        #expect(try waiting.answer().zones[0]["records"][0].name == "r13")
        #expect(server.web.pagesAhead.used == 0)
    }

    @Test("Who asks after a commit does not wait for the page that was begun before it")
    func overtaken() throws {
        let making = try Making()
        let (server, gate, ida, next) = (making.server, making.gate, making.ida, making.next)
        try ida.delete("r13")
        let answer = try ida.send("private/changes/zone", Self.question(after: next))
        #expect(answer.zones[0]["records"][0].name == "r14")
        gate.open()
        try server.settle()
        #expect(server.web.pagesAhead.used == 0 && server.web.pagesAhead.wasted == 1)
    }

    @Test("No page is made ahead while others have all the workers")
    func busy() throws {
        let first = try WireServer()
        let gate = Gate(try first.store())
        var work = WorkOptions()
        (work.shortThreads, work.longNanoseconds) = (1, .max)
        let server = try WireServer(storage: gate, rates: RateLimits(), work: work) {
            $0.recordsPerResponseMax = 500
        }
        let (ida, bo) = (try server.user("ida"), try server.user("bo"))
        for user in [ida, bo] { try Self.fill(user) }
        let token = try Self.follow(ida, 2)
        gate.shut()
        // More than an event loop reads.
        let long = bo.start(
            "private/changes/zone",
            #"{"zones":[{"zoneID":{"zoneName":"Shelf"},"resultsLimit":500}]}"#)
        try server.until { gate.begunCount == 1 }
        try Self.follow(ida, 3, after: token)
        #expect(server.web.pagesAhead.made == 0 && server.web.pagesAhead.wasted == 0)
        gate.open()
        _ = try long.answer()
    }

    @Test("Pages larger than may lie ready are not made ahead, of one user and of all")
    func bytes() throws {
        for change: (inout ServiceLimits) -> Void in [
            { $0.pagesAheadBytesMax = 2_000 }, { $0.pagesAheadBytesPerUserMax = 2_000 },
            { $0.pagesAheadBytesMax = 0 }, { $0.pagesAheadBytesPerUserMax = 0 },
        ] {
            let server = try WireServer(rates: RateLimits(), limits: change)
            let ida = try server.user()
            try Self.fill(ida)
            try Self.follow(ida, 8)
            #expect(server.web.pagesAhead == PagesAheadCounts())
        }
    }

    @Test("What one user has ready takes no room of another, and all together keep to theirs")
    func shared() throws {
        let server = try WireServer(rates: RateLimits()) {
            $0.pagesAheadBytesMax = 6_000
            $0.pagesAheadBytesPerUserMax = 3_000
        }
        let users = try ["ida", "bo", "mo"].map { try server.user($0) }
        for user in users { try Self.fill(user) }
        // A page is about 2,300 bytes.
        var phone = users[0]
        phone.device = "phone"
        for (client, made) in [(users[0], 1), (phone, 1), (users[1], 2), (users[2], 2)] {
            try Self.follow(client)
            #expect(server.web.pagesAhead.made == made)
        }
    }

    @Test("Followers of one user take the places of each other, not of other users")
    func followers() throws {
        let server = try WireServer(rates: RateLimits()) { $0.pagesAheadPerUserMax = 1 }
        let (ida, bo) = (try server.user("ida"), try server.user("bo"))
        for user in [ida, bo] { try Self.fill(user) }
        var phone = ida
        phone.device = "phone"
        let theirs = try Self.follow(bo)
        let former = try Self.follow(ida)
        let present = try Self.follow(phone)
        #expect(server.web.pagesAhead.made == 3 && server.web.pagesAhead.wasted == 1)
        try Self.follow(ida, 1, after: former)
        #expect(server.web.pagesAhead.used == 0)
        try Self.follow(bo, 1, after: theirs)
        #expect(server.web.pagesAhead.used == 1)
        _ = present
    }

    @Test("Of too many followers the one who has not asked for the longest is forgotten")
    func oldest() throws {
        let server = try WireServer(rates: RateLimits()) { $0.pagesAheadMax = 2 }
        let users = try ["ida", "bo", "mo"].map { try server.user($0) }
        for user in users { try Self.fill(user) }
        let tokens = try users.map { user in
            server.clock.advance(1)
            return try Self.follow(user)
        }
        #expect(server.web.pagesAhead.made == 3 && server.web.pagesAhead.wasted == 1)
        try Self.follow(users[1], 1, after: tokens[1])
        try Self.follow(users[2], 1, after: tokens[2])
        #expect(server.web.pagesAhead.used == 2)
        try Self.follow(users[0], 1, after: tokens[0])
        #expect(server.web.pagesAhead.used == 2)
    }
}
