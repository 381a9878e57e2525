import CloudModel
import SQLite
import Testing

/// What is forgotten of shares in time, and what `check` finds in them.
@Suite("Upkeep of shared zones")
struct SharedUpkeepTests {
    let server: WireServer
    let ida: WireClient
    let bo: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user("ida")
        bo = try server.user("bo")
        try ida.make("Shelf")
    }

    private func rows(_ table: String) throws -> Int64 {
        var count: Int64 = -1
        try server.restart { path in
            let connection = try Connection(path: path, mode: .readOnly)
            let statement = try connection.prepare("SELECT count(*) FROM \(table)")
            if try statement.step() { count = statement.int64(0) }
        }
        return count
    }

    @Test("Once what left is forgotten, older tokens expire, and newer ones go on")
    func endedMemberships() throws {
        try ida.put(("note", nil), ("a", "note"), ("b", "note"))
        try bo.join(try ida.share("note"))
        var early = SharedZone(bo, of: ida)
        try early.catchUp()
        server.clock.advance(1_000)
        try ida.put(("a", nil))
        var late = SharedZone(bo, of: ida)
        try late.catchUp()
        server.clock.advance(1_000)
        try server.collect(olderThan: server.clock.now, limit: 2)
        #expect(try rows("memberships WHERE left IS NOT NULL") == 0)
        try ida.put(("b", nil))
        try late.catchUp()
        #expect(late.names == ["note"] && late.restarts == 0)
        try early.catchUp()
        #expect(early.names == ["note"] && early.restarts == 1)
        #expect(try server.problems() == [])
    }

    @Test("Ended shares leave nothing behind, and tokens from before them expire")
    func endedShares() throws {
        try ida.put(("a", nil), ("b", nil), ("a1", "a"))
        try bo.join(try ida.share("a"))
        try bo.join(try ida.share("b"))
        var copy = SharedZone(bo, of: ida)
        try copy.catchUp()
        let database = try #require(try bo.sharedChanges()["syncToken"].string)
        try ida.delete("share-a")
        server.clock.advance(1_000)
        try server.collect(olderThan: server.clock.now, limit: 1)
        #expect(try rows("shares WHERE ended IS NOT NULL") == 0)
        #expect(try rows("grants WHERE revoked IS NOT NULL") == 0)
        try copy.catchUp()
        #expect(copy.names == ["b"] && copy.restarts == 1)
        #expect(try bo.sharedChanges(after: database).status == 200)
        try ida.delete("share-b")
        server.clock.advance(1_000)
        try server.collect(olderThan: server.clock.now, limit: 1)
        for table in [
            "shares", "grants", "memberships", "current_memberships", "views", "participants",
        ] {
            #expect(try rows(table) == 0, "\(table)")
        }
        let expired = try bo.sharedChanges(after: database)
        #expect(expired.json["changeTokenExpired"].bool == true, "\(expired.text)")
        #expect(try bo.sharedChanges().zones.isEmpty)
    }

    @Test("A deleted zone is gone for its viewers at once, and all of its shares with time")
    func deletedZone() throws {
        try ida.put(("a", nil), ("b", nil), ("a1", "a"))
        let link = try ida.share("a")
        try bo.join(link)
        try bo.join(try ida.share("b"))
        var copy = SharedZone(bo, of: ida)
        try copy.catchUp()
        let database = try #require(try bo.sharedChanges()["syncToken"].string)
        try ida.remove("Shelf")
        #expect(try bo.sharedChanges(after: database).zones[0]["deleted"].bool == true)
        #expect(try bo.resolve(link).status == 404)
        #expect(try copy.page().code == "ZONE_NOT_FOUND")
        #expect(try server.problems() == [])
        try server.collect(olderThan: 0, limit: 1)
        for table in [
            "shares", "grants", "memberships", "current_memberships", "participants", "short_guids",
        ] {
            #expect(try rows(table) == 0, "\(table)")
        }
        #expect(try bo.sharedChanges(after: database).zones[0]["deleted"].bool == true)
        try ida.make("Shelf")
        try ida.put(("a", nil))
        try bo.join(try ida.share("a"))
        let zones = try bo.sharedChanges(after: database).zones
        #expect(zones.count == 1)
        #expect(zones[0]["deleted"].bool == false)
        try copy.catchUp()
        #expect(copy.names == ["a"])
        #expect(try server.problems() == [])
    }

    @Test(
        "A broken share is found",
        arguments: [
            "DELETE FROM current_memberships WHERE rowid = (SELECT max(record) FROM current_memberships)",
            "UPDATE current_memberships SET position = position + 1000000 WHERE record = 1",
            "DELETE FROM memberships WHERE position = (SELECT min(position) FROM memberships)",
            "UPDATE memberships SET version = 1",
            "UPDATE links SET target_name = 'other' WHERE kind = 3",
            "UPDATE grants SET revoked = 9, revoked_at = 9",
            "UPDATE views SET shares_granted = 2",
            "UPDATE views SET changed = 1",
            "UPDATE grants SET changed = 1",
            "DELETE FROM views",
            "UPDATE shares SET ended = 9, ended_at = 9",
            "INSERT INTO share_work_marks VALUES (1, 99, 1)",
        ])
    func check(_ damage: String) throws {
        try ida.put(("note", nil), ("page", "note"), ("other", nil))
        try bo.join(try ida.share("note"))
        #expect(try server.problems() == [])
        try server.restart { path in
            try Connection(path: path, mode: .readWrite).execute(damage)
        }
        #expect(try server.problems() != [], "\(damage)")
    }
}
