import Testing

/// Zones and the database feed (rulings.md 25, 26, 29-31; web-services.md §4.5, §4.7-4.10).
@Suite("zones/* and changes/database")
struct ZoneTests {
    let server: WireServer
    let ida: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user()
    }

    private func id(_ name: String) -> String {
        let kind = name == "_defaultZone" ? "DEFAULT_ZONE" : "REGULAR_CUSTOM_ZONE"
        return "{\"zoneName\":\(quoted(name)),\"ownerRecordName\":\"\(ida.name)\","
            + "\"zoneType\":\"\(kind)\"}"
    }

    @Test("Making a zone answers the zone, and making it again answers it as it is")
    func making() throws {
        let made = try ida.make("Shelf").zones[0]
        let token = try #require(made["syncToken"].string)
        let expected =
            "{\"zoneID\":\(id("Shelf")),\"syncToken\":\"\(token)\",\"atomic\":true,"
            + "\"deleted\":false,\"isEligibleForZoneShare\":true}"
        #expect(made.raw == expected)
        try ida.save("r")
        let again = try ida.make("Shelf").zones[0]
        #expect(again.code == nil && again["syncToken"].string != token)
        #expect(try ida.record("r").code == nil)
    }

    @Test("Deleting a zone answers its ID, and takes its records along at once")
    func deleting() throws {
        try ida.make("Shelf")
        try ida.save("r")
        #expect(
            try ida.remove("Shelf").text
                == "{\"zones\":[{\"zoneID\":\(id("Shelf")),\"deleted\":true}]}")
        #expect(try ida.lookup(["r"]).code == "ZONE_NOT_FOUND")
        #expect(try ida.changes().code == "ZONE_NOT_FOUND")
        #expect(try ida.modify([operation("create", "r")]).status == 404)
        let missing = try ida.remove("Shelf").zones[0]
        #expect(
            missing.raw
                == #"{"zoneID":{"zoneName":"Shelf"},"reason":"Zone does not exist","serverErrorCode":"ZONE_NOT_FOUND"}"#
        )
        try ida.make("Shelf")
        #expect(try ida.record("r").code == "NOT_FOUND")
        try ida.save("r")
        #expect(try ida.changes()["records"].elements.count == 1)
        #expect(try server.problems() == [])
    }

    @Test("The default zone is neither made nor deleted, and other names with _ are not legal")
    func names() throws {
        for operation in [ida.make, ida.remove] {
            let refused = try operation("_defaultZone").zones[0]
            #expect(refused.code == "BAD_REQUEST")
        }
        for bad in ["", "_a", "é", String(repeating: "z", count: 256), "a\tb"] {
            #expect(try ida.make(bad).zones[0].code == "BAD_REQUEST")
            #expect(try ida.remove(bad).zones[0].code == "ZONE_NOT_FOUND")
        }
        for good in ["a b", "/", "\"", String(repeating: "z", count: 255)] {
            #expect(try ida.make(good).zones[0]["zoneID"]["zoneName"].string == good)
            #expect(try ida.changes(good).code == nil)
        }
    }

    @Test("Operations are tried one by one, in order; one that fails leaves the others")
    func mixed() throws {
        let answer = try ida.send(
            "private/zones/modify",
            """
            {"operations":[\
            {"operationType":"delete","zone":{"zoneID":{"zoneName":"A"}}},\
            {"operationType":"create","zone":{"zoneID":{"zoneName":"A"}}},\
            {"operationType":"create","zone":{"zoneID":{"zoneName":"_bad"}}},\
            {"operationType":"delete","zone":{"zoneID":{"zoneName":"A"}}},\
            {"operationType":"create","zone":{"zoneID":{"zoneName":"A","ownerRecordName":"\(ida.name)"}}}]}
            """)
        #expect(answer.zones.map(\.code) == ["ZONE_NOT_FOUND", nil, "BAD_REQUEST", nil, nil])
        #expect(try ida.changes("A").code == nil)
        #expect(try server.problems() == [])
        for (bad, key) in [
            (#"{"operationType":"update","zone":{"zoneID":{"zoneName":"A"}}}"#, "operationType"),
            (#"{"zone":{"zoneID":{"zoneName":"A"}}}"#, "operationType"),
            (#"{"operationType":"create"}"#, "zone"),
            (#"{"operationType":"create","zone":{}}"#, "zoneID"),
            (#"{"operationType":"create","zone":{"zoneID":{}}}"#, "zoneName"),
            (#"{"operationType":"create","zone":{"zoneID":{"zoneName":5}}}"#, "zoneName"),
            (#"{"operationType":"create","zone":{"zoneID":"A"}}"#, "zoneID"), ("5", "operations"),
        ] {
            let refused = try ida.send(
                "private/zones/modify",
                "{\"operations\":[{\"operationType\":\"create\",\"zone\":{\"zoneID\":"
                    + "{\"zoneName\":\"B\"}}},\(bad)]}")
            #expect(refused.status == 400 && refused.reason.contains(key), "\(refused.text)")
        }
        #expect(try ida.changes("B").code == "ZONE_NOT_FOUND")
        #expect(try ida.send("private/zones/modify", "{}").reason.contains("operations"))
    }

    @Test("zones/list shows the default zone first, then the others by name")
    func list() throws {
        let bare =
            "{\"zones\":[{\"zoneID\":\(id("_defaultZone")),\"atomic\":false,\"deleted\":false}]}"
        #expect(try ida.send("private/zones/list", nil).text == bare)
        try ida.save("r", zone: nil)
        #expect(try ida.send("private/zones/list", nil).text == bare)
        try ida.make("b", "a")
        for (body, method) in [(nil, nil), ("", "post"), ("{}", "post"), (#"{"x":1}"#, "post")] {
            let answer = try ida.send(
                "private/zones/list", body, method: method == nil ? .get : .post)
            #expect(
                answer.zones.map { $0["zoneID"]["zoneName"].string } == ["_defaultZone", "a", "b"])
            #expect(answer.zones[1].raw == (try ida.make("a").zones[0].raw))
        }
    }

    @Test("zones/list refuses a body that is no JSON object")
    func listBody() throws {
        for body in ["[]", "null", "7", #""x""#, "{", "{} {}", #"{"a":1,}"#, "\u{0}"] {
            let answer = try ida.send("private/zones/list", body)
            #expect(answer.status == 400 && answer.code == "BAD_REQUEST", "\(body)")
            #expect(answer.reason.contains("Unexpected input"), "\(answer.reason)")
        }
    }

    @Test("A zone that fails is named as it was read: nothing else of the request comes back")
    func echo() throws {
        let wrapped =
            #"{ "zoneID" : {"x":[1,{}] , "zoneName":"No\u0070e","ownerName":null} , "y":0}"#
        let alias = #"{"zoneType":"X","ownerName":"_defaultOwner","zoneName":"N\"o"}"#
        let names = [
            #"{"zoneName":"Nope"}"#, #"{"zoneName":"N\"o","ownerRecordName":"_defaultOwner"}"#,
        ]
        let looked = try ida.send("private/zones/lookup", "{\"zones\":[\(wrapped),\(alias)]}")
        #expect(looked.zones.map { $0["zoneID"].raw } == names)
        let deleted = try ida.send(
            "private/zones/modify",
            "{\"operations\":[{\"operationType\":\"delete\",\"zone\":{\"zoneID\":\(alias)}}]}")
        #expect(deleted.zones.map { $0["zoneID"].raw } == [names[1]])
        let changes = try ida.send(
            "private/changes/zone", "{\"zones\":[{\"zoneID\":\(alias)}]}")
        #expect(changes.zones.map { $0["zoneID"].raw } == [names[1]])
    }

    @Test("A zone with a share of the whole zone says so to its owner and to whoever has it")
    func zoneShare() throws {
        let mo = try server.user("mo")
        try ida.make("Shelf", "Trees")
        func zones(_ client: WireClient, _ database: String) throws -> [String: AnswerPart] {
            let listed = try client.send("\(database)/zones/list", nil).zones
            let ids = listed.map { $0["zoneID"].raw }.joined(separator: ",")
            let looked = try client.send("\(database)/zones/lookup", "{\"zones\":[\(ids)]}").zones
            #expect(looked.map(\.raw) == listed.map(\.raw))
            return Dictionary(
                uniqueKeysWithValues: listed.map { ($0["zoneID"]["zoneName"].string ?? "", $0) })
        }
        #expect(try zones(ida, "private")["Shelf"]?.keys.contains("share") == false)
        let share = try ida.modify([
            shareOperation("create", "cloudkit.zoneshare", publicPermission: "READ_WRITE")
        ]).records[0]
        let tree = try ida.shareNote(zone: "Trees", publicPermission: "READ_ONLY")
        _ = try mo.accept(share.shortGUID)
        _ = try mo.accept(tree.shortGUID)
        let reference =
            "{\"recordName\":\"cloudkit.zoneshare\",\"zoneID\":{\"zoneName\":\"Shelf\","
            + "\"ownerRecordName\":\"\(ida.name)\",\"zoneType\":\"REGULAR_CUSTOM_ZONE\"}}"
        for (client, database) in [(ida, "private"), (mo, "shared")] {
            let found = try zones(client, database)
            #expect(found["Shelf"]?["share"].raw == reference)
            #expect(found["Trees"]?.keys.contains("share") == false)
        }
        #expect(try ida.make("Shelf").zones[0]["share"].raw == reference)
        try ida.delete("cloudkit.zoneshare")
        #expect(try zones(ida, "private")["Shelf"]?.keys.contains("share") == false)
        #expect(try Array(zones(mo, "shared").keys) == ["Trees"])
    }

    @Test(
        "zones/lookup answers each entry in its place, bare and wrapped, with owners spelt any way")
    func lookup() throws {
        try ida.make("Shelf")
        let answer = try ida.send(
            "private/zones/lookup",
            """
            {"zones":[{"zoneName":"Shelf"},{"zoneID":{"zoneName":"Shelf"}},{"zoneName":"Nope"},\
            {"zoneName":"_defaultZone"},{},{"zoneName":"Shelf","ownerRecordName":"_defaultOwner"},\
            {"zoneName":"Shelf","ownerName":"__defaultOwner__","zoneType":"ANYTHING"},\
            {"zoneName":"Shelf","ownerRecordName":"\(ida.name)"},\
            {"zoneName":"Shelf","ownerRecordName":"_0123456789abcdef0123456789abcdef"}]}
            """)
        #expect(
            answer.zones.map(\.code) == [
                nil, nil, "ZONE_NOT_FOUND", nil, nil, nil, nil, nil, "BAD_REQUEST",
            ])
        let shelf = try ida.make("Shelf").zones[0].raw
        for index in [0, 1, 5, 6, 7] { #expect(answer.zones[index].raw == shelf) }
        #expect(answer.zones[2].keys == ["zoneID", "reason", "serverErrorCode"])
        #expect(answer.zones[2]["zoneID"].raw == #"{"zoneName":"Nope"}"#)
        #expect(answer.zones[3].raw == answer.zones[4].raw)
        for bad in [
            "{}", #"{"zones":{}}"#, #"{"zones":["Shelf"]}"#, #"{"zones":[{"zoneName":1}]}"#,
        ] {
            #expect(try ida.send("private/zones/lookup", bad).status == 400)
        }
    }

    @Test("The public database has its default zone and no other, and no feeds")
    func publicDatabase() throws {
        let zone =
            #"{"zoneID":{"zoneName":"_defaultZone","ownerRecordName":"_defaultOwner","zoneType":"DEFAULT_ZONE"},"atomic":false,"deleted":false}"#
        for caller in [ida, try server.key()] {
            #expect(try caller.send("public/zones/list", nil).text == "{\"zones\":[\(zone)]}")
            let looked = try caller.send(
                "public/zones/lookup",
                #"{"zones":[{"zoneName":"_defaultZone","ownerRecordName":"_0123456789abcdef0123456789abcdef"},{"zoneName":"Shelf"}]}"#
            )
            #expect(looked.zones[0].raw == zone)
            #expect(looked.zones[1].code == "ZONE_NOT_FOUND")
            for path in [
                "zones/modify", "changes/database", "changes/zone", "zones/changes",
                "records/changes",
            ] {
                let body = #"{"operations":[],"zones":[],"zoneID":{"zoneName":"Shelf"}}"#
                let refused = try caller.send("public/\(path)", body)
                #expect(refused.status == 400 && refused.code == "BAD_REQUEST", "\(path)")
                #expect(
                    refused.reason == "endpoint not applicable in the database type 'publicdb'",
                    "\(path): \(refused.text)")
            }
        }
        #expect(
            try ida.modify([operation("create", "r")], zone: "Shelf", in: "public").code
                == "ZONE_NOT_FOUND")
        let owner = try ida.send(
            "public/records/modify",
            """
            {"zoneID":{"zoneName":"_defaultZone","ownerRecordName":"someone"},"operations":\
            [\(operation("create", "r", fields: #"{"x":{"value":{"recordName":"r","zoneID":{"zoneName":"_defaultZone","ownerName":"else"}}}}"#))]}
            """)
        #expect(owner.records[0].code == nil, "\(owner.text)")
        #expect(try ida.lookup(["r"], zone: "Shelf", in: "public").code == "ZONE_NOT_FOUND")
    }

    @Test("The shared database is empty, and writes to it find no zone")
    func sharedDatabase() throws {
        #expect(try ida.send("shared/zones/list", nil).text == #"{"zones":[]}"#)
        let feed = try ida.send("shared/changes/database", "{}")
        #expect(feed.zones.isEmpty && feed["moreComing"].bool == false)
        let again = try ida.send(
            "shared/changes/database", "{\"syncToken\":\"\(feed["syncToken"].string ?? "")\"}")
        #expect(again.status == 200 && again.zones.isEmpty)
        #expect(try ida.send("shared/zones/modify", #"{"operations":[]}"#).status == 400)
        for zone in [nil, "Shelf"] as [String?] {
            let answer = try ida.modify([operation("create", "r")], zone: zone, in: "shared")
            #expect(answer.status == 404 && answer.code == "ZONE_NOT_FOUND")
            #expect(try ida.lookup(["r"], zone: zone, in: "shared").code == "ZONE_NOT_FOUND")
        }
        let zones = try ida.send("shared/zones/lookup", #"{"zones":[{"zoneName":"_defaultZone"}]}"#)
        #expect(zones.zones[0].code == "ZONE_NOT_FOUND")
        let changes = try ida.send(
            "shared/changes/zone", #"{"zones":[{"zoneID":{"zoneName":"Shelf"}}]}"#)
        #expect(changes.zones[0].code == "ZONE_NOT_FOUND")
    }

    @Test("Another owner's zone in the private database is a bad request")
    func otherOwner() throws {
        let zone =
            #""zoneID":{"zoneName":"Shelf","ownerRecordName":"_0123456789abcdef0123456789abcdef"}"#
        for (path, body) in [
            ("records/modify", #""operations":[]"#), ("records/lookup", #""records":[]"#),
            ("records/changes", #""x":0"#),
        ] {
            let refused = try ida.send("private/\(path)", "{\(zone),\(body)}")
            #expect(refused.status == 400 && refused.code == "BAD_REQUEST", "\(refused.text)")
        }
        let made = try ida.send(
            "private/zones/modify",
            "{\"operations\":[{\"operationType\":\"create\",\"zone\":{\(zone)}}]}")
        #expect(made.zones[0].code == "BAD_REQUEST")
    }

    @Test("The zones that a request makes and deletes count towards the limit in their order")
    func limitWithinRequest() throws {
        let small = try WireServer { $0.zonesPerUserMax = 2 }
        let ida = try small.user()
        let kinds = [
            ("create", "A"), ("create", "B"), ("create", "C"), ("delete", "A"), ("create", "C"),
            ("create", "D"),
        ]
        let operations = kinds.map {
            "{\"operationType\":\"\($0)\",\"zone\":{\"zoneID\":{\"zoneName\":\"\($1)\"}}}"
        }
        let answer = try ida.send(
            "private/zones/modify", "{\"operations\":[\(operations.joined(separator: ","))]}")
        #expect(
            answer.json["zones"].elements.map(\.code)
                == [nil, nil, "BAD_REQUEST", nil, nil, "BAD_REQUEST"])
    }

    @Test("Zones have a limit, which names itself")
    func limit() throws {
        let small = try WireServer { $0.zonesPerUserMax = 2 }
        let ida = try small.user()
        let answer = try ida.make("a", "b", "c")
        #expect(answer.zones.map(\.code) == [nil, nil, "BAD_REQUEST"])
        #expect(answer.zones[2].reason.contains("limits.zonesPerUserMax"))
        #expect(try ida.make("b").zones[0].code == nil)
        try ida.remove("a")
        #expect(try ida.make("c").zones[0].code == nil)
        #expect(try small.user("mo").make("a").zones[0].code == nil)
    }

    @Test("Deleted zones that are still kept count for their owner, until they are forgotten")
    func keptLimit() throws {
        let small = try WireServer { $0.zonesPerOwnerMax = 3 }
        let ida = try small.user()
        for name in ["a", "b", "c"] {
            #expect(try ida.make(name).zones[0].code == nil)
            try ida.remove(name)
        }
        let refused = try ida.make("d", "a").zones
        #expect(refused.map(\.code) == ["BAD_REQUEST", "BAD_REQUEST"])
        #expect(refused[0].reason.contains("at most 3 zones"))
        #expect(refused[0]["detail"].string == "limitExceeded")
        #expect(try small.user("mo").make("d").zones[0].code == nil)
        small.clock.advance(1_000)
        try small.collect(olderThan: small.clock.now)
        #expect(try ida.make("d").zones[0].code == nil)
    }

    @Test(
        "A zone ID with the wrong JSON fails the whole request",
        arguments: [
            #"{"zoneName":5}"#, #"{"zoneName":"Shelf","ownerRecordName":{}}"#, #""Shelf""#,
            #"{"zoneName":"Shelf","ownerName":[]}"#,
        ])
    func wrongJSON(zone: String) throws {
        try ida.make("Shelf")
        for (path, body) in [
            ("zones/lookup", "\"zones\":[{\"zoneID\":\(zone)}]"),
            ("zones/lookup", "\"zones\":[{\"zoneName\":\"Shelf\"},\(zone)]"),
            ("changes/zone", "\"zones\":[{\"zoneID\":\(zone)}]"),
            ("records/changes", "\"zoneID\":\(zone)"),
            ("records/lookup", "\"records\":[],\"zoneID\":\(zone)"),
            ("records/modify", "\"operations\":[],\"zoneID\":\(zone)"),
            (
                "zones/modify",
                "\"operations\":[{\"operationType\":\"create\",\"zone\":{\"zoneID\":\(zone)}}]"
            ),
        ] {
            let answer = try ida.send("private/\(path)", "{\(body)}")
            #expect(answer.status == 400 && answer.code == "BAD_REQUEST", "\(path) \(answer.text)")
            #expect(answer.reason.contains("line 1, column"), "\(answer.reason)")
        }
    }

    private func shown(_ answer: Answer) -> [String] {
        answer.zones.map {
            ($0["deleted"].bool == true ? "-" : "") + ($0["zoneID"]["zoneName"].string ?? "")
        }
    }

    @Test(
        "The database feed shows zones by their last change, deleted ones once, the default never")
    func databaseFeed() throws {
        let nothing = try ida.databaseChanges()
        #expect(nothing.json.keys == ["zones", "syncToken", "moreComing"])
        #expect(nothing.zones.isEmpty && nothing["moreComing"].bool == false)
        try ida.save("r", zone: nil)
        try ida.make("a", "b", "c")
        try ida.save("r", zone: "a")
        #expect(
            try shown(ida.databaseChanges(after: nothing["syncToken"].string)) == ["b", "c", "a"])
        let first = try ida.databaseChanges()
        #expect(shown(first) == ["b", "c", "a"])
        #expect(first.zones[0].raw == "{\"zoneID\":\(id("b")),\"deleted\":false}")
        let token = try #require(first["syncToken"].string)
        #expect(try ida.databaseChanges(after: token).zones.isEmpty)
        try ida.delete("r", zone: "a")
        try ida.remove("b")
        let after = try ida.databaseChanges(after: token)
        #expect(shown(after) == ["a", "-b"])
        #expect(
            after.zones[1].raw == "{\"zoneID\":\(id("b")),\"deleted\":true,\"reason\":\"DELETED\"}")
        #expect(try shown(ida.databaseChanges()) == ["c", "a"])
        try ida.make("b")
        #expect(try shown(ida.databaseChanges(after: token)) == ["a", "b"])
        try ida.remove("b")
        #expect(try shown(ida.databaseChanges(after: token)) == ["a", "-b"])
    }

    @Test("A zone made and deleted between two fetches shows as deleted or not at all, never alive")
    func briefZone() throws {
        let token = try ida.databaseChanges()["syncToken"].string
        try ida.make("brief")
        try ida.remove("brief")
        #expect(try ["", "-brief"].contains(shown(ida.databaseChanges(after: token)).joined()))
    }

    @Test("A write that changes nothing moves no feed")
    func unmoved() throws {
        try ida.make("a")
        let token = try ida.databaseChanges()["syncToken"].string
        try ida.delete("never", zone: "a")
        _ = try ida.modify([operation("update", "never", tag: "x")], zone: "a")
        _ = try ida.modify([], zone: "a")
        try ida.make("a")
        #expect(try ida.databaseChanges(after: token).zones.isEmpty)
        #expect(try ida.databaseChanges(after: token)["syncToken"].string == token)
    }

    @Test("Pages of the database feed show every zone once", arguments: [1, 2, 7, 200])
    func databasePaging(limit: Int) throws {
        let names = (10...25).map { "z\($0)" }
        for name in names { try ida.make(name) }
        try ida.remove("z12")
        var (seen, token) = ([String](), String?.none)
        while true {
            let page = try ida.databaseChanges(after: token, limit: limit)
            #expect(page.zones.count <= limit)
            seen += shown(page)
            token = page["syncToken"].string
            if page["moreComing"].bool == false { break }
        }
        #expect(seen == names.filter { $0 != "z12" })
        #expect(try ida.databaseChanges(after: token).zones.isEmpty)
    }

    @Test("What is deleted between the pages of a first fetch is shown when it was shown alive")
    func deletedMeanwhile() throws {
        try ida.make("a", "b", "c")
        let first = try ida.databaseChanges(limit: 1)
        #expect(shown(first) == ["a"])
        try ida.remove("a")
        let rest = try ida.databaseChanges(after: first["syncToken"].string)
        #expect(shown(rest) == ["b", "c", "-a"])
    }

    @Test("zones/changes speaks of metaSyncToken alone, and shows whole zones")
    func zonesChanges() throws {
        try ida.make("a", "b")
        let first = try ida.send("private/zones/changes", "{}")
        #expect(first.json.keys == ["zones", "metaSyncToken", "moreComing"])
        #expect(first.zones[0].raw == (try ida.make("a").zones[0].raw))
        let token = try #require(first["metaSyncToken"].string)
        let ignored = try ida.send("private/zones/changes", "{\"syncToken\":\"\(token)\"}")
        #expect(ignored.zones.count == 2)
        let after = try ida.send("private/zones/changes", "{\"metaSyncToken\":\"\(token)\"}")
        #expect(after.zones.isEmpty && after["moreComing"].bool == false)
        #expect(try ida.databaseChanges(after: token).zones.isEmpty)
        try ida.remove("a")
        let gone = try ida.send("private/zones/changes", "{\"metaSyncToken\":\"\(token)\"}")
        #expect(shown(gone) == ["-a"])
        #expect(try ida.send("private/zones/changes", #"{"resultsLimit":0}"#).status == 400)
        let one = try ida.send("private/zones/changes", #"{"resultsLimit":1}"#)
        #expect(shown(one) == ["b"])
    }

    @Test("Feeds take GET, POST without a body and POST {} where they need none")
    func bodiless() throws {
        try ida.make("a")
        for path in ["private/changes/database", "private/zones/changes", "private/zones/list"] {
            let expected = try ida.send(path, "{}").text
            #expect(try ida.send(path, nil).text == expected)
            #expect(try ida.send(path, nil, method: .post).text == expected)
            #expect(try ida.send(path, nil, method: .head).text == expected)
            #expect(try ida.send(path, #"{"zoneID":null,"unheard":{"of":1}}"#).text == expected)
        }
    }
}
