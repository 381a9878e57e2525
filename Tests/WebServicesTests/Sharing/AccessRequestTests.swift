import CloudModel
import Foundation
import Storage
import Testing

/// Users who ask to take part (rulings.md 50).
@Suite("Access requests")
struct AccessRequestTests {
    let server: WireServer
    let ida: WireClient
    let mo: WireClient
    let eve: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user("ida", seconds: 864_000)
        mo = try server.user("mo", seconds: 864_000)
        eve = try server.user("eve", seconds: 864_000)
    }

    private static let allowed = "\"allowsAccessRequests\":true"

    /// Shares a note, for which others may ask.
    private func share(_ participants: [String] = []) throws -> AnswerPart {
        _ = try ida.shareNote(participants: participants)
        return try ida.changeShare(more: Self.allowed)
    }

    /// Has somebody ask, and waits until those who decide are told: that moves the share's tag.
    private func ask(_ client: WireClient, _ guid: String) throws {
        #expect(try client.ask(guid).status == 200)
        try server.finishTelling()
    }

    private func decide(
        _ key: String, _ users: String..., by client: WireClient? = nil
    ) throws
        -> AnswerPart
    {
        let names = users.map(quoted).joined(separator: ",")
        return try (client ?? ida).changeShare(more: "\"\(key)\":[\(names)]")
    }

    @Test(
        "A share takes requests once it is said so; who asks is shown to the owner, with their name"
    )
    func asking() throws {
        let made = try ida.shareNote()
        #expect(!made["allowsAccessRequests"].exists && !made["requesters"].exists)
        #expect(try mo.ask(made.shortGUID).status == 200)
        try server.finishTelling()
        #expect(try ida.record("note-share").raw == made.raw)
        let open = try ida.changeShare(more: Self.allowed)
        #expect(open["allowsAccessRequests"].bool == true && open["requesters"].raw == "[]")
        let token = try #require(ida.changes()["syncToken"].string)
        #expect(try mo.ask(made.shortGUID).status == 200)
        try server.finishTelling()
        let asked = try ida.record("note-share")
        let requester = asked["requesters"][0]
        #expect(requester["userIdentity"]["userRecordName"].string == mo.name)
        #expect(requester["userIdentity"]["nameComponents"]["givenName"].string == "Mo")
        #expect(requester["timestamp"].int == server.clock.now)
        #expect(!asked.raw.contains("mo@"))
        #expect(try ida.changes(after: token)["records"].elements.map(\.name) == ["note-share"])
        #expect(try mo.resolve(made.shortGUID).code == "NOT_FOUND")
        let closed = try ida.changeShare(more: "\"allowsAccessRequests\":false")
        #expect(!closed["allowsAccessRequests"].exists)
        #expect(try server.problems().isEmpty)
    }

    @Test("Everybody is answered alike, whether there is anything or not")
    func nothingTold() throws {
        let guid = try share([invitation(email: "eve@example.org")]).shortGUID
        let closed = try ida.shareNote("other", as: "other-share").shortGUID
        try eve.accept(guid)
        for value in [guid, closed, "0zzAbCdEfGhIjKlMnOpQrStUv", "nonsense", "", guid + "~x"] {
            for client in [mo, eve, ida] {
                let answer = try client.ask(value)
                #expect(answer.status == 200)
                #expect(
                    answer.text == "{\"results\":[{\"shortGUID\":{\"value\":\(quoted(value))}}]}")
            }
        }
        try server.finishTelling()
        #expect(try ida.record("note-share").requesters == [mo.name])
    }

    @Test("Each request is the same write, and leaves the same work, wherever the link leads")
    func sameWrite() throws {
        let held = try HeldStorage(server.store())
        let quiet = try WireServer(storage: held)
        let (owner, guest) = (try quiet.user("ida"), try quiet.user("mo"))
        _ = try owner.shareNote()
        let guid = try owner.changeShare(more: Self.allowed).shortGUID
        func rows(_ value: String) throws -> (requests: Int, work: Int, position: Position) {
            func now() throws -> (Int, Int, Position) {
                try server.store().read { snapshot in
                    let user = try #require(UserRecordName(guest.name))
                    return (
                        try snapshot.accessRequestCount(of: user, since: 0), 0,
                        try snapshot.lastPosition()
                    )
                }
            }
            let before = try now()
            #expect(try guest.ask(value).status == 200)
            let after = try now()
            let work = try held.doStep() ? 1 : 0
            return (after.0 - before.0, work, after.2 - before.2)
        }
        let nowhere = try rows("0zzAbCdEfGhIjKlMnOpQrStUv")
        let somewhere = try rows(guid)
        #expect(nowhere == somewhere)
        #expect(nowhere == (1, 1, 0))
    }

    @Test("Who is approved becomes a participant who asked, and may accept")
    func approving() throws {
        let guid = try share().shortGUID
        try ask(mo, guid)
        let approved = try decide("approve", mo.name)
        let entry = try #require(approved.participants[mo.name])
        #expect(entry["isApprovedRequester"].bool == true)
        #expect(entry["acceptanceStatus"].string == "INVITED")
        #expect(entry["permission"].string == "READ_ONLY" && entry["type"].string == "USER")
        #expect(approved.requesters.isEmpty)
        #expect(try mo.accept(guid).status == 200)
        #expect(
            try ida.record("note-share").participants[mo.name]?["isApprovedRequester"].bool == true)
        // Approved again they are as they were; who never asked cannot be.
        #expect(try decide("approve", mo.name).code == nil)
        #expect(try decide("approve", eve.name).code == "BAD_REQUEST")
    }

    @Test("Inviting who asks is approving them, with the permission that is sent")
    func inviting() throws {
        let guid = try share().shortGUID
        try ask(mo, guid)
        let invited = try ida.changeShare(participants: [invitation(user: mo.name)])
        #expect(invited.participants[mo.name]?["isApprovedRequester"].bool == true)
        #expect(invited.participants[mo.name]?["permission"].string == "READ_WRITE")
        #expect(invited.requesters.isEmpty)
    }

    @Test("Who is denied may ask again; who is blocked may not, and is out, until unblocked")
    func denyingAndBlocking() throws {
        let guid = try share().shortGUID
        try ask(mo, guid)
        #expect(try decide("deny", mo.name).requesters.isEmpty)
        try ask(mo, guid)
        #expect(try ida.record("note-share").requesters == [mo.name])
        let blocked = try decide("block", mo.name)
        #expect(blocked.requesters.isEmpty)
        #expect(blocked["blockedIdentities"][0]["userRecordName"].string == mo.name)
        try ask(mo, guid)
        #expect(try ida.record("note-share").requesters.isEmpty)
        // The link is of no use to them either, should it be opened to all.
        #expect(try ida.changeShare(publicPermission: "READ_ONLY").code == nil)
        #expect(try mo.accept(guid).code == "NOT_FOUND" && eve.accept(guid).status == 200)
        let freed = try decide("unblock", mo.name)
        #expect(!freed["blockedIdentities"].exists)
        #expect(try mo.accept(guid).status == 200)
        // A participant who is blocked takes part no more.
        let out = try decide("block", eve.name)
        #expect(out.participants[eve.name] == nil)
        #expect(try eve.lookup("note", ida.shelf) != 200)
        #expect(try decide("block", ida.name).code == "BAD_REQUEST")
        #expect(try server.problems().isEmpty)
    }

    @Test("Administrators decide as the owner does; participants neither see it nor may")
    func administrators() throws {
        let guid = try share([
            invitation(email: "mo@example.org", type: "ADMINISTRATOR"),
            invitation(email: "eve@example.org"),
        ]).shortGUID
        try mo.accept(guid)
        try eve.accept(guid)
        let noor = try server.user("noor")
        try ask(noor, guid)
        let zone = ida.shelf
        #expect(try mo.share(in: zone).requesters == [noor.name])
        let seen = try eve.share(in: zone)
        #expect(!seen["requesters"].exists && !seen["allowsAccessRequests"].exists)
        func save(_ client: WireClient) throws -> AnswerPart {
            try client.saveShare(in: zone, more: "\"approve\":[\(quoted(noor.name))]")
        }
        #expect(try save(eve).code == "ACCESS_DENIED")
        #expect(try save(mo).participants[noor.name] != nil)
    }

    @Test("A request moves the share's tag at most once a minute")
    func tags() throws {
        let guid = try share().shortGUID
        let first = try ida.record("note-share").tag
        try mo.ask(guid)
        try server.finishTelling()
        let second = try ida.record("note-share").tag
        #expect(second != first)
        server.clock.advance(10_000)
        try eve.ask(guid)
        try server.finishTelling()
        #expect(try ida.record("note-share").tag == second)
        #expect(try ida.record("note-share").requesters == [mo.name, eve.name])
        server.clock.advance(50_000)
        // The store's worker waits for a time of its own: a further request wakes it.
        try eve.ask(guid)
        try server.finishTelling()
        #expect(try ida.record("note-share").tag != second)
    }

    @Test("20 requests of one user in a day, wherever they lead; then 429 until the day is over")
    func perDay() throws {
        let guid = try share().shortGUID
        for _ in 0..<20 { #expect(try mo.ask("0zzAbCdEfGhIjKlMnOpQrStUv").status == 200) }
        let refused = try mo.ask(guid)
        #expect(refused.status == 429 && refused.code == "THROTTLED")
        #expect(refused.json["reason"].string?.contains("more than 20 requests") == true)
        #expect(try eve.ask(guid).status == 200)
        server.clock.advance(86_400_001)
        #expect(try mo.ask(guid).status == 200)
        #expect(try ida.record("note-share").requesters == [eve.name, mo.name])
        let many = Array(repeating: guid, count: 21)
        #expect(try eve.follow("requestAccess", many).code == "THROTTLED")
        // Those that count no more go with the next collection.
        server.clock.advance(86_400_001)
        try server.collect(olderThan: 0)
        let user = try #require(UserRecordName(mo.name))
        let left = try server.store().read { try $0.accessRequestCount(of: user, since: 0) }
        #expect(left == 1)
    }

    @Test("A share shows at most so many requests, and keeps out as many")
    func perShare() throws {
        let server = try WireServer { $0.accessRequestsPerShareMax = 2 }
        let users = try ["ida", "a", "b", "c"].map { try server.user($0) }
        _ = try users[0].shareNote()
        let guid = try users[0].changeShare(more: Self.allowed).shortGUID
        for user in users.dropFirst() { #expect(try user.ask(guid).status == 200) }
        #expect(try users[0].record("note-share").requesters == [users[1].name, users[2].name])
        try server.finishTelling()
        let names = users.dropFirst().map { quoted($0.name) }.joined(separator: ",")
        let refused = try users[0].changeShare(more: "\"block\":[\(names)]")
        #expect(refused["detail"].string == "limitExceeded")
    }

    @Test("Who asks while somebody else's request is being decided on asks on")
    func meanwhile() throws {
        let plain = try WireServer()
        let store = try plain.store()
        let storage = BesideWriterTests.BetweenStorage(store)
        let server = try WireServer(storage: storage) { $0.writerMillisecondsMax = 0 }
        let (ida, mo, eve) = (
            try server.user("ida"), try server.user("mo"), try server.user("eve")
        )
        _ = try ida.shareNote()
        let guid = try ida.changeShare(more: Self.allowed).shortGUID
        #expect(try mo.ask(guid).status == 200)
        try plain.finishTelling()
        let late = try #require(UserRecordName(eve.name))
        storage.between.withLock {
            $0 = {
                do {
                    try store.writeAndWait {
                        try $0.save(
                            [StoredAccessRequest(user: late, madeAt: $0.now, isBlocked: false)],
                            settling: [], of: ShareNumber(1))
                    }
                } catch { Issue.record("\(error)") }
            }
        }
        let denied = try ida.changeShare(more: "\"deny\":[\(quoted(mo.name))]")
        #expect(denied.code == nil && storage.between.withLock { $0 == nil })
        #expect(try ida.record("note-share").requesters == [eve.name])
    }

    @Test("A share that ends takes its requests along")
    func ending() throws {
        let guid = try share().shortGUID
        try ask(mo, guid)
        let tag = try ida.record("note-share").tag
        let gone = try ida.modify([operation("delete", "note-share", type: nil, tag: tag)])
        #expect(gone.records[0].code == nil)
        try server.finishTelling()
        let user = try #require(UserRecordName(mo.name))
        #expect(try server.store().read { try $0.accessRequestCount(of: user, since: 0) } == 0)
        #expect(try server.problems().isEmpty)
    }

    @Test("Only users ask: not a bare API token, not in another database")
    func callers() throws {
        #expect(try mo.send("private/records/requestAccess", "{\"shortGUIDs\":[]}").status == 400)
        let bare = try server.visitor().send(
            "public/records/requestAccess", "{\"shortGUIDs\":[]}")
        #expect(bare.code == "AUTHENTICATION_REQUIRED")
    }
}

extension WireClient {
    /// The zone's ID as others name it.
    var shelf: String {
        "{\"zoneName\":\"Shelf\",\"ownerRecordName\":\(quoted(name))}"
    }

    @discardableResult
    func ask(_ link: String) throws -> Answer { try follow("requestAccess", [link]) }

    /// The share record of somebody else's zone.
    func share(in zone: String, _ name: String = "note-share") throws -> AnswerPart {
        try send(
            "shared/records/lookup",
            "{\"zoneID\":\(zone),\"records\":[{\"recordName\":\(quoted(name))}]}"
        ).records[0]
    }

    /// Saves the share record of somebody else's zone.
    func saveShare(in zone: String, more: String) throws -> AnswerPart {
        let tag = try share(in: zone).tag
        let save = shareOperation("update", "note-share", tag: tag, more: more)
        return try send(
            "shared/records/modify", "{\"zoneID\":\(zone),\"operations\":[\(save)]}"
        ).records[0]
    }

    /// The status of looking up a record of somebody else's zone.
    func lookup(_ name: String, _ zone: String) throws -> Int {
        try send(
            "shared/records/lookup",
            "{\"zoneID\":\(zone),\"records\":[{\"recordName\":\(quoted(name))}]}"
        ).status
    }
}

extension AnswerPart {
    /// The user record names of those who ask.
    var requesters: [String] {
        self["requesters"].elements.compactMap { $0["userIdentity"]["userRecordName"].string }
    }
}

extension WireServer {
    /// Waits until those who decide on shares have been told of all requests that are due.
    func finishTelling() throws { try until { try !hasToTell() } }

    /// Whether there is work to do because somebody has asked.
    func hasToTell() throws -> Bool {
        try store().writeAndWait { transaction in
            var turn = WorkTurn(WorkHolder(9), [.tellRequests])
            return try transaction.takeWork(&turn) != nil
        }
    }
}
