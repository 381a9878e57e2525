import Testing

/// What a participant is told, and what they are not (semantics.md §2.6).
@Suite("Feeds of shared zones")
struct SharedFeedTests {
    let server: WireServer
    let ida: WireClient
    let bo: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user("ida")
        bo = try server.user("bo")
        try ida.make("Shelf")
    }

    @Test("A tree comes whole to who joins, and nothing beside it does")
    func tree() throws {
        try ida.put(("note", nil), ("page", "note"), ("line", "page"), ("other", nil))
        try bo.join(try ida.share("note"))
        var copy = SharedZone(bo, of: ida)
        try copy.catchUp()
        #expect(copy.names == ["line", "note", "page"])
        #expect(copy.records.keys.contains("share-note"))
        #expect(copy.deletions == [])
        #expect(copy.records["line"]?["zoneID"]["ownerRecordName"].string == ida.name)
        let found = try copy.lookup("line", "other", "nothing")
        #expect(found[0].name == "line")
        #expect(found[1].code == "NOT_FOUND")
        #expect(
            found[1].raw.replacing("other", with: "nothing") == found[2].raw,
            "what is not theirs and what is not there look the same")
        #expect(try server.problems() == [])
    }

    @Test("What others change beside the tree does not show, not even as a change of the zone")
    func quiet() throws {
        try ida.put(("note", nil), ("other", nil))
        try bo.join(try ida.share("note"))
        var copy = SharedZone(bo, of: ida)
        try copy.catchUp()
        let database = try #require(try bo.sharedChanges()["syncToken"].string)
        try ida.put(("other", nil), ("third", nil), ("fourth", "third"))
        #expect(try bo.sharedChanges(after: database).zones.isEmpty)
        let page = try copy.page(after: copy.token)
        #expect(page["records"].elements.isEmpty)
        #expect(page["syncToken"].string == copy.token, "nothing has moved for them")
        try ida.put(("note", nil))
        #expect(try bo.sharedChanges(after: database).zones.count == 1)
        try copy.catchUp()
        #expect(copy.deletions == [])
    }

    @Test(
        "What comes into a tree and goes with it in one request is never named, in pages of any size"
    )
    func passing() throws {
        try ida.put(("note", nil), ("page", "note"))
        try bo.join(try ida.share("note"))
        var copy = SharedZone(bo, of: ida)
        try copy.catchUp()
        let answer = try ida.modify([
            operation("create", "passing", type: "Note", fields: "{}", more: below("page")),
            operation("forceUpdate", "page", type: "Note", fields: "{}", more: "\"parent\":null"),
        ])
        #expect(answer.records.map(\.code) == [nil, nil])
        try copy.catchUp(limit: 1)
        #expect(copy.names == ["note"])
        #expect(copy.deletions == ["page"])
        #expect(try server.problems() == [])
    }

    @Test("A record moved in comes with all below it, and goes again when it is moved out")
    func moves() throws {
        try ida.put(("note", nil), ("loose", nil), ("leaf", "loose"), ("twig", "leaf"))
        try bo.join(try ida.share("note"))
        var copy = SharedZone(bo, of: ida)
        try copy.catchUp()
        #expect(copy.names == ["note"])
        try ida.put(("loose", "note"))
        try copy.catchUp()
        #expect(copy.names == ["leaf", "loose", "note", "twig"])
        try ida.put(("leaf", nil))
        #expect(try copy.lookup("twig")[0].code == "NOT_FOUND", "at once")
        try copy.catchUp()
        #expect(copy.names == ["loose", "note"])
        #expect(copy.deletions.sorted() == ["leaf", "twig"])
        try ida.put(("leaf", "loose"))
        try copy.catchUp(limit: 1)
        #expect(copy.names == ["leaf", "loose", "note", "twig"])
        #expect(try server.problems() == [])
    }

    @Test(
        "Moving between two shared trees shows each viewer their side, and no deletion to who has both"
    )
    func betweenTrees() throws {
        let cy = try server.user("cy")
        try ida.put(("a", nil), ("b", nil), ("x", "a"), ("y", "x"))
        let (first, second) = (try ida.share("a"), try ida.share("b"))
        try bo.join(first)
        try bo.join(second)
        try cy.join(second)
        var (both, one) = (SharedZone(bo, of: ida), SharedZone(cy, of: ida))
        try both.catchUp()
        try one.catchUp()
        #expect(one.names == ["b"])
        try ida.put(("x", "b"))
        for limit in [1, 2, 3] {
            var again = both
            try again.catchUp(limit: limit)
            #expect(again.names == ["a", "b", "x", "y"])
            #expect(again.deletions == [])
        }
        try one.catchUp()
        #expect(one.names == ["b", "x", "y"])
    }

    @Test(
        "A second share of a known zone brings its old records, page by page, while others change")
    func secondShare() throws {
        try ida.put(("a", nil), ("b", nil))
        for index in 0..<12 { try ida.put(("b\(index)", "b")) }
        let (first, second) = (try ida.share("a"), try ida.share("b"))
        try bo.join(first)
        var copy = SharedZone(bo, of: ida)
        try copy.catchUp()
        try bo.join(second)
        #expect(try copy.advance(limit: 4))
        // What has been shown leaves, what has not moves up, and something new comes.
        try ida.delete("b0")
        try ida.put(("b11", "b"), ("b12", "b"), ("a0", "a"))
        try copy.catchUp(limit: 3)
        #expect(
            copy.names
                == (["a", "a0", "b"] + (1...12).map { "b\($0)" }).sorted())
        #expect(copy.restarts == 0)
    }

    @Test("What changed in many shares comes in one order, however long the pages are")
    func manyShares() throws {
        for index in 0..<5 {
            try ida.put(("r\(index)", nil), ("a\(index)", "r\(index)"), ("b\(index)", "r\(index)"))
            try bo.join(try ida.share("r\(index)"))
        }
        var copy = SharedZone(bo, of: ida)
        try copy.catchUp()
        try ida.put(("b3", "r3"), ("a1", "r1"))
        try ida.put(("a4", nil))
        try ida.put(("b1", "r1"))
        #expect(try ida.delete("b0").code == nil)
        try ida.put(("beside", nil), ("b3", "r3"), ("r2", nil))
        let token = try #require(copy.token)
        for limit in [nil, 1, 2, 5, 6, 7] {
            var (names, next, hasMore) = ([String](), token, true)
            while hasMore {
                let page = try copy.page(after: next, limit: limit)
                let records = page["records"].elements
                #expect(records.count <= limit ?? .max)
                names += records.map {
                    ($0["deleted"].bool == true ? "-" : "") + ($0.name ?? "")
                }
                next = try #require(page["syncToken"].string)
                hasMore = page["moreComing"].bool == true
            }
            #expect(names == ["a1", "-a4", "b1", "-b0", "b3", "r2"], "\(limit ?? 0)")
            #expect(try copy.page(after: next)["records"].elements.isEmpty)
        }
        let desired = try copy.page(after: token, more: ",\"desiredRecordTypes\":[\"None\"]")
        #expect(desired["records"].elements.compactMap(\.name) == ["a4", "b0"])
        #expect(try server.problems() == [])
    }

    @Test("Losing one of two shares deletes its records alone; losing both takes the zone")
    func revoked() throws {
        try ida.put(("a", nil), ("b", nil), ("a1", "a"), ("b1", "b"))
        let (first, second) = (try ida.share("a"), try ida.share("b"))
        try bo.join(first)
        try bo.join(second)
        var copy = SharedZone(bo, of: ida)
        try copy.catchUp()
        let database = try #require(try bo.sharedChanges()["syncToken"].string)
        try ida.delete("share-b")
        #expect(try copy.lookup("b1")[0].code == "NOT_FOUND")
        try copy.catchUp(limit: 1)
        #expect(copy.names == ["a", "a1"])
        #expect(Set(copy.deletions) == ["b", "b1", "share-b"])
        #expect(try bo.sharedChanges(after: database).zones[0]["deleted"].bool == false)
        try ida.delete("share-a")
        let zones = try bo.sharedChanges(after: database).zones
        #expect(zones.count == 1)
        #expect(zones[0]["deleted"].bool == true)
        #expect(zones[0]["zoneID"]["ownerRecordName"].string == ida.name)
        try copy.catchUp()
        #expect(copy.names == [])
        #expect(try copy.page().code == "ZONE_NOT_FOUND")
        #expect(try bo.send("shared/zones/list", "{}").zones.isEmpty)
    }

    @Test("Who comes back to a zone that they had lost begins anew, whatever token they have kept")
    func comingBack() throws {
        try ida.put(("a", nil), ("a1", "a"))
        let link = try ida.share("a")
        try bo.join(link)
        var copy = SharedZone(bo, of: ida)
        try copy.catchUp()
        try ida.delete("share-a")
        try ida.delete("a1")
        try bo.join(try ida.share("a"))
        try copy.catchUp()
        #expect(copy.restarts == 1)
        #expect(copy.names == ["a"])
        #expect(copy.deletions == [])
    }

    @Test("A share that goes while it is still coming takes along what had come")
    func revokedWhileComing() throws {
        try ida.put(("a", nil), ("b", nil))
        for index in 0..<6 { try ida.put(("b\(index)", "b")) }
        let (first, second) = (try ida.share("a"), try ida.share("b"))
        try bo.join(first)
        var copy = SharedZone(bo, of: ida)
        try copy.catchUp()
        try bo.join(second)
        try copy.advance(limit: 3)
        #expect(copy.names.count > 1)
        try ida.delete("share-b")
        try copy.catchUp(limit: 2)
        #expect(copy.names == ["a"])
    }

    @Test("A whole zone is followed as its owner follows it, in both directions")
    func wholeZone() throws {
        try ida.put(("one", nil), ("two", "one"), ("gone", nil))
        try ida.delete("gone")
        let share = try ida.modify(
            [
                shareOperation(
                    "create", "cloudkit.zoneshare", publicPermission: "READ_ONLY")
            ]
        ).records[0]
        try bo.join(share.shortGUID)
        var copy = SharedZone(bo, of: ida)
        try copy.catchUp(limit: 1)
        #expect(copy.names == ["one", "two"])
        #expect(copy.deletions == [])
        try ida.put(("three", nil))
        try ida.delete("one")
        try ida.delete("two")
        try ida.delete("one")
        try copy.catchUp()
        #expect(copy.names == ["three"])
        let reversed = try copy.page(more: ",\"reverse\":true")
        #expect(reversed["records"].elements.first?.name == "three")
        #expect(try copy.save("four", below: nil).code == "ACCESS_DENIED")
        #expect(try server.problems() == [])
    }

    @Test("A first fetch in pages sees all there is, while records move and shares come and go")
    func firstFetch() throws {
        var links: [String] = []
        for root in 0..<5 {
            try ida.put(("r\(root)", nil))
            for leaf in 0..<4 { try ida.put(("r\(root)-\(leaf)", "r\(root)")) }
            links.append(try ida.share("r\(root)"))
        }
        for link in links.prefix(4) { try bo.join(link) }
        var copy = SharedZone(bo, of: ida)
        try copy.advance(limit: 5)
        try ida.put(("r0-0", "r3"), ("r3-0", "r0"))
        try copy.advance(limit: 3)
        try bo.join(links[4])
        try ida.delete("share-r1")
        try ida.delete("r2-1")
        try copy.catchUp(limit: 2)
        let expected =
            ["r0", "r0-1", "r0-2", "r0-3", "r3-0", "r2", "r2-0", "r2-2", "r2-3", "r3", "r0-0"]
            + ["r3-1", "r3-2", "r3-3", "r4", "r4-0", "r4-1", "r4-2", "r4-3"]
        #expect(copy.names == expected.sorted())
    }

    @Test("Tokens of another viewer, of the owner and of another zone are refused")
    func foreignTokens() throws {
        let cy = try server.user("cy")
        try ida.put(("note", nil))
        try ida.make("Attic")
        try ida.put(("attic", nil), zone: "Attic")
        let link = try ida.share("note")
        try bo.join(link)
        try cy.join(link)
        try bo.join(try ida.share("attic", zone: "Attic"))
        let copy = SharedZone(bo, of: ida)
        let own = try #require(try ida.changes("Shelf")["syncToken"].string)
        let others = try #require(try SharedZone(cy, of: ida).page()["syncToken"].string)
        let attic = SharedZone(bo, of: ida, zone: "Attic")
        let elsewhere = try #require(try attic.page()["syncToken"].string)
        for token in [own, others, elsewhere] {
            let page = try copy.page(after: token)
            #expect(page.code == "BAD_REQUEST")
            #expect(page.reason == "Unknown sync continuation type")
        }
        let database = try #require(try cy.sharedChanges()["syncToken"].string)
        #expect(try bo.sharedChanges(after: database).status == 400)
    }

    @Test(
        "A zone that nobody shares, is not there, or is one's own looks the same to a stranger")
    func strangers() throws {
        try ida.put(("note", nil))
        try ida.share("note")
        let (real, unreal) = (SharedZone(bo, of: ida), SharedZone(bo, of: ida, zone: "Nowhere"))
        for zone in [real, unreal] {
            #expect(try zone.page().code == "ZONE_NOT_FOUND")
            #expect(try bo.lookup(["note"], zone: nil, in: "shared", more: zone.id).status == 404)
            #expect(try zone.modify([operation("create", "x")]).code == "ZONE_NOT_FOUND")
        }
        #expect(
            try real.page().raw == unreal.page().raw.replacing("Nowhere", with: "Shelf"))
        #expect(
            try SharedZone(ida, of: ida).page().code == "ZONE_NOT_FOUND",
            "one's own zones are in the private database")
        #expect(try bo.lookup(["note"], zone: "Shelf", in: "shared").code == "ZONE_NOT_FOUND")
    }

    @Test("Queries find what the viewer sees, as they see it, and nothing else")
    func queries() throws {
        try ida.put(("album", nil), ("photo", "album"), ("pixel", "photo"), ("other", nil))
        let share = try ida.share("photo")
        let copy = SharedZone(bo, of: ida)
        func query(_ type: String, as client: WireClient) throws -> Answer {
            try client.send(
                "shared/records/query",
                "{\(copy.id),\"query\":{\"recordType\":\(quoted(type))}}")
        }
        #expect(try query("Note", as: bo).code == "ZONE_NOT_FOUND")
        try bo.join(share)
        let found = try query("Note", as: bo)
        #expect(Set(found.records.map(\.name)) == ["photo", "pixel"])
        #expect(!found.text.contains("album"))
        let shares = try query("cloudkit.share", as: bo).records
        #expect(shares.map { $0["currentUserParticipant"].exists } == [true])
        #expect(
            try bo.send(
                "shared/records/query", "{\"zoneWide\":true,\"query\":{\"recordType\":\"Note\"}}"
            ).status == 400)
    }

    @Test("The zones of a shared database are listed and looked up with their owners")
    func zones() throws {
        try ida.put(("note", nil))
        try bo.join(try ida.share("note"))
        let listed = try bo.send("shared/zones/list", "{}").zones
        #expect(listed.count == 1)
        #expect(listed[0]["zoneID"]["ownerRecordName"].string == ida.name)
        #expect(!listed[0]["isEligibleForZoneShare"].exists)
        let copy = SharedZone(bo, of: ida)
        let token = try #require(listed[0]["syncToken"].string)
        #expect(try copy.page(after: token)["records"].elements.isEmpty)
        let found = try bo.send("shared/zones/lookup", "{\"zones\":[{\(copy.id)}]}").zones
        #expect(found[0].raw == listed[0].raw)
        let changed = try bo.send("shared/zones/changes", "{}")
        #expect(changed.zones[0]["zoneID"]["zoneName"].string == "Shelf")
        let records = try bo.send("shared/records/changes", "{\(copy.id)}")
        #expect(records.records.count == 2)
        #expect(try bo.send("shared/zones/modify", "{\"operations\":[]}").status == 400)
        try ida.remove("Shelf")
        #expect(try bo.send("shared/zones/list", "{}").zones.isEmpty)
        let token2 = changed["metaSyncToken"].string
        #expect(try bo.sharedChanges(after: token2).zones[0]["deleted"].bool == true)
    }

    @Test("What is not shared leaves no trace in a participant's feeds, tokens and lists")
    func noTrace() throws {
        try ida.put(("note", nil), ("page", "note"), ("apart", nil))
        try bo.join(try ida.share("note"))
        let copy = SharedZone(bo, of: ida)
        // Changes since then come after all that came with the share.
        try ida.put(("page", "note"), ("p2", "note"), ("p3", "note"))
        let known = try #require(try copy.page()["syncToken"].string)
        func everything() throws -> [String] {
            try (1...6).map { try copy.page(limit: $0).raw } + [
                copy.page().raw, copy.page(after: known).raw,
                copy.page(limit: 1, more: ",\"reverse\":true").raw,
                bo.sharedChanges().text,
                bo.send("shared/zones/list", nil).text,
                bo.send("shared/zones/changes", "{}").text,
                bo.send("shared/zones/lookup", "{\"zones\":[{\(copy.id)}]}").text,
                bo.send("shared/records/changes", "{\(copy.id),\"resultsLimit\":1}").text,
            ]
        }
        let before = try everything()
        try ida.put(("apart", nil), ("new", "apart"))
        try ida.delete("new")
        try ida.share("apart")
        try ida.make("Other")
        #expect(try everything() == before)
    }
}
