import CloudModel
import Testing

/// The feed of one zone (rulings.md 27-31; semantics.md §1).
@Suite("changes/zone and records/changes")
struct ZoneFeedTests {
    let server: WireServer
    let ida: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user()
        try ida.make("Shelf")
    }

    private func fill(_ names: ClosedRange<Int>) throws {
        for start in stride(from: names.lowerBound, through: names.upperBound, by: 200) {
            let last = min(start + 199, names.upperBound)
            _ = try ida.modify(
                (start...last).map { operation("create", "r\($0)", fields: #"{"n":{"value":1}}"#) })
        }
    }

    private func token(_ page: AnswerPart) throws -> String {
        try #require(page["syncToken"].string)
    }

    private func names(_ page: AnswerPart) -> [String] {
        page["records"].elements.map { ($0["deleted"].bool == true ? "-" : "") + ($0.name ?? "") }
    }

    /// Every page from a token on, until no more is coming.
    private func follow(
        from start: String? = nil, limit: Int? = nil, more: String? = nil
    ) throws -> (names: [String], token: String, pages: Int) {
        var (found, pages, token) = ([String](), 0, start)
        while true {
            let page = try ida.changes(after: token, limit: limit, more: more)
            found += names(page)
            pages += 1
            token = page["syncToken"].string
            if page["moreComing"].bool != true { return (found, token ?? "", pages) }
        }
    }

    @Test("An empty zone is one empty page, with a token that goes on")
    func empty() throws {
        let page = try ida.changes()
        #expect(page.keys == ["zoneID", "records", "syncToken", "moreComing"])
        #expect(
            page["zoneID"].raw
                == "{\"zoneName\":\"Shelf\",\"ownerRecordName\":\"\(ida.name)\","
                + "\"zoneType\":\"REGULAR_CUSTOM_ZONE\"}")
        #expect(page["records"].raw == "[]" && page["moreComing"].raw == "false")
        try fill(1...2)
        #expect(try names(ida.changes(after: token(page))) == ["r1", "r2"])
        #expect(try ida.changes(after: "")["records"].elements.count == 2)
        #expect(try ida.changes(more: #""syncToken":null"#)["records"].elements.count == 2)
    }

    @Test(
        "Pages of any size show each record once, in the order of the last change",
        arguments: [1, 2, 7, 200, 1_000])
    func paging(limit: Int) throws {
        try fill(1...23)
        try ida.save("r5")
        try ida.save("r1")
        try ida.delete("r9")
        let order = (2...23).filter { $0 != 5 && $0 != 9 }.map { "r\($0)" } + ["r5", "r1"]
        let found = try follow(limit: limit)
        #expect(found.names == order)
        #expect(try names(ida.changes(after: found.token)) == [])
        let reversed = try follow(limit: limit, more: #""reverse":true"#)
        #expect(reversed.names == order.reversed())
        #expect(try names(ida.changes(after: reversed.token)) == [])
        try ida.save("r2")
        #expect(try names(ida.changes(after: reversed.token)) == ["r2"])
        #expect(try names(ida.changes(after: found.token)) == ["r2"])
    }

    @Test("At most 200 records come in a page, whatever is asked for")
    func ceiling() throws {
        try fill(1...201)
        for limit in ["1000000", "\"500\"", "null"] {
            let page = try ida.changes(more: "\"resultsLimit\":\(limit)")
            #expect(page["records"].elements.count == 200 && page["moreComing"].bool == true)
        }
        #expect(try ida.changes(more: #""resultsLimit":"7""#)["records"].elements.count == 7)
        for bad in ["0", "-1", "1.5", "true", "\"x\"", "[]"] {
            let answer = try ida.send(
                "private/changes/zone",
                "{\"zones\":[{\"zoneID\":{\"zoneName\":\"Shelf\"},\"resultsLimit\":\(bad)}]}")
            #expect(answer.status == 400 && answer.reason.contains("resultsLimit"))
        }
    }

    @Test("The rows that an answer may look at are shared by its zones, on a loop and off it")
    func rowsOfAnswer() throws {
        let small = try WireServer {
            $0.feedRowsPerPageMax = 10
            $0.recordsPerResponseMax = 10
        }
        let ida = try small.user()
        try ida.make("Shelf", "Other")
        for zone in ["Shelf", "Other"] {
            _ = try ida.modify((1...12).map { operation("create", "r\($0)") }, zone: zone)
        }
        let zones = ["Shelf", "Other"].map { "{\"zoneID\":{\"zoneName\":\"\($0)\"}}" }
        let answer = try ida.send(
            "private/changes/zone",
            "{\"zones\":[\(zones.joined(separator: ","))],\"desiredRecordTypes\":[\"Nothing\"]}")
        let pages = answer.json["zones"].elements
        #expect(pages.map { $0["moreComing"].bool } == [true, true])
        let tokens = try pages.map { try token($0) }
        #expect(try names(ida.changes(after: tokens[0])) == ["r11", "r12"])
        #expect(try names(ida.changes("Other", after: tokens[1])).count == 10)
    }

    @Test("A setting raises the records of a page")
    func raisedCeiling() throws {
        let large = try WireServer { $0.recordsPerResponseMax = 2_000 }
        let ida = try large.user()
        try ida.make("Shelf")
        for start in [0, 200, 400] {
            _ = try ida.modify((start..<start + 200).map { operation("create", "r\($0)") })
        }
        for limit in [nil, 5_000, 600] as [Int?] {
            let page = try ida.changes(limit: limit)
            #expect(page["records"].elements.count == 600 && page["moreComing"].bool == false)
        }
        #expect(try ida.changes(limit: 450)["records"].elements.count == 450)
    }

    @Test("A page that ends at the last record says that no more is coming")
    func exactEnd() throws {
        try fill(1...4)
        let first = try ida.changes(limit: 2)
        let second = try ida.changes(after: token(first), limit: 2)
        #expect(second["moreComing"].bool == false)
    }

    @Test("Deletions are shown after a token, once, with the type beside, and never without one")
    func tombstones() throws {
        try fill(1...3)
        let start = try token(ida.changes())
        let gone = try ida.save("r2")
        _ = gone
        try ida.delete("r2")
        try ida.save("brief", type: "Tin")
        try ida.delete("brief")
        let page = try ida.changes(after: start)
        #expect(names(page) == ["-r2", "-brief"])
        #expect(
            page["records"][0].raw
                == "{\"recordName\":\"r2\",\"deleted\":true,\"zoneID\":\(page["zoneID"].raw),"
                + "\"deletedRecordType\":\"Cup\"}")
        #expect(page["records"][1]["deletedRecordType"].string == "Tin")
        #expect(try names(ida.changes()) == ["r1", "r3"])
        #expect(try names(ida.changes(more: #""reverse":true"#)) == ["r3", "r1"])
        try ida.save("r2")
        #expect(try names(ida.changes(after: start)) == ["-brief", "r2"])
    }

    @Test("A token is replayed as often as one likes, in any order, with any page size")
    func replay() throws {
        try fill(1...5)
        let one = try token(ida.changes(limit: 1))
        let three = try token(ida.changes(after: one, limit: 2))
        for _ in 0..<2 {
            #expect(try names(ida.changes(after: three)) == ["r4", "r5"])
            #expect(try names(ida.changes(after: one, limit: 3)) == ["r2", "r3", "r4"])
        }
    }

    @Test("What changes between the pages of a first fetch is still seen, deletions too")
    func changingFirstFetch() throws {
        try fill(1...6)
        try ida.delete("r1")
        let first = try ida.changes(limit: 2)
        #expect(names(first) == ["r2", "r3"])
        try ida.save("r4")
        try ida.delete("r2")
        try ida.delete("r6")
        var (seen, token) = ([String](), try token(first))
        while true {
            let page = try ida.changes(after: token, limit: 2)
            seen += names(page)
            token = try self.token(page)
            if page["moreComing"].bool == false { break }
        }
        #expect(seen.filter { $0 != "-r6" } == ["r5", "r4", "-r2"])
    }

    @Test("Newest first: what changes between pages comes after the last one")
    func changingReverse() throws {
        try fill(1...6)
        let first = try ida.changes(limit: 2, more: #""reverse":true"#)
        #expect(names(first) == ["r6", "r5"])
        try ida.save("r2")
        try ida.save("new")
        try ida.delete("r6")
        let rest = try follow(from: token(first), limit: 3, more: #""reverse":true"#)
        #expect(rest.names == ["r4", "r3", "r1"])
        #expect(try follow(from: rest.token).names == ["r2", "new", "-r6"])
    }

    @Test("Newest first after a token: the changes since then alone, deletions too")
    func reverseAfterToken() throws {
        try fill(1...3)
        let start = try token(ida.changes())
        try ida.save("r2")
        try ida.delete("r1")
        try ida.save("r4")
        let found = try follow(from: start, limit: 1, more: #""reverse":true"#)
        #expect(found.names == ["r4", "-r1", "r2"])
        #expect(try follow(from: found.token).names == [])
    }

    @Test("One who turns round in the middle misses nothing")
    func turningRound() throws {
        try fill(1...6)
        let back = try ida.changes(limit: 2, more: #""reverse":true"#)
        #expect(try follow(from: token(back), limit: 4).names == (1...6).map { "r\($0)" })
        let forth = try ida.changes(limit: 2)
        let rest = try follow(from: token(forth), limit: 3, more: #""reverse":true"#)
        #expect(rest.names == ["r6", "r5", "r4", "r3"])
        #expect(try follow(from: rest.token).names == [])
    }

    @Test("desiredRecordTypes hides live records of other types, never deletions")
    func types() throws {
        try ida.save("a")
        try ida.save("b", type: "Tin")
        let start = try token(ida.changes(limit: 1))
        try ida.save("c", type: "Pot")
        try ida.save("d", type: "Tin")
        try ida.delete("c")
        let tins = #""desiredRecordTypes":["Tin","Nonsense","no name"]"#
        #expect(try names(ida.changes(after: start, more: tins)) == ["b", "d", "-c"])
        #expect(try names(ida.changes(more: #""desiredRecordTypes":[]"#)) == [])
        #expect(try names(ida.changes(more: #""desiredRecordTypes":null"#)).count == 3)
        let page = try follow(limit: 1, more: tins)
        #expect(page.names == ["b", "d"])
    }

    @Test("desiredKeys hides fields, never changes")
    func keys() throws {
        try ida.save("a", #"{"n":{"value":1}}"#)
        try ida.save("b", #"{"m":{"value":1}}"#, type: "Tin")
        let page = try ida.changes(more: #""desiredKeys":["n"]"#)
        #expect(page["records"].elements.map { $0["fields"].keys } == [["n"], []])
    }

    @Test("Many zones come in one answer, each with its own keys over those at the top")
    func manyZones() throws {
        try ida.make("Other")
        try fill(1...3)
        try ida.save("o1", zone: "Other")
        let answer = try ida.send(
            "private/changes/zone",
            """
            {"resultsLimit":2,"reverse":true,"desiredKeys":[],"zones":[\
            {"zoneID":{"zoneName":"Shelf"}},{"zoneID":{"zoneName":"Other"}},\
            {"zoneID":{"zoneName":"Nope"}},{"zoneID":{"zoneName":"_defaultZone"}},\
            {"zoneID":{"zoneName":"Shelf"},"syncToken":"rubbish"},\
            {"zoneID":{"zoneName":"Shelf"},"resultsLimit":1,"reverse":false,"desiredKeys":["n"]},\
            {"zoneID":{"zoneName":"_system"}},\
            {"zoneID":{"zoneName":"Shelf","ownerRecordName":"_0123456789abcdef0123456789abcdef"}}]}
            """)
        #expect(answer.status == 200)
        #expect(names(answer.zones[0]) == ["r3", "r2"])
        #expect(answer.zones[0]["records"][0]["fields"].raw == "{}")
        #expect(names(answer.zones[1]) == ["o1"])
        #expect(
            answer.zones[2].raw
                == #"{"zoneID":{"zoneName":"Nope"},"reason":"Zone does not exist","serverErrorCode":"ZONE_NOT_FOUND"}"#
        )
        #expect(answer.zones[3].code == "BAD_REQUEST")
        #expect(answer.zones[3].reason == "cannot get changes in default zone")
        #expect(answer.zones[4].code == "BAD_REQUEST")
        #expect(answer.zones[4].reason == "Unknown sync continuation type")
        #expect(answer.zones[4].keys == ["zoneID", "reason", "serverErrorCode"])
        #expect(names(answer.zones[5]) == ["r1"])
        #expect(answer.zones[5]["records"][0]["fields"].keys == ["n"])
        #expect(answer.zones[6].code == "ZONE_NOT_FOUND")
        #expect(answer.zones[7].code == "BAD_REQUEST")
        #expect(try ida.send("private/changes/zone", #"{"zones":[]}"#).text == #"{"zones":[]}"#)
    }

    @Test("An answer ends at its bytes; zones not reached say that more is coming and lose nothing")
    func pageBytes() throws {
        let small = try WireServer { $0.pageBytesMax = 2_500 }
        let ida = try small.user()
        try ida.make("A", "B", "C")
        let text = String(repeating: "x", count: 400)
        for zone in ["A", "B", "C"] {
            for number in 1...5 {
                try ida.save("\(zone)\(number)", "{\"f\":{\"value\":\"\(text)\"}}", zone: zone)
            }
        }
        var tokens: [String: String] = [:]
        var (seen, rounds) = ([String](), 0)
        var more = true
        while more {
            let entries = ["A", "B", "C"].map { zone in
                "{\"zoneID\":{\"zoneName\":\"\(zone)\"}"
                    + (tokens[zone].map { ",\"syncToken\":\"\($0)\"" } ?? "") + "}"
            }
            // More than the loop takes at once, so that a worker answers within the page's bytes.
            let answer = try ida.send(
                "private/changes/zone",
                "{\"pad\":\"\(String(repeating: " ", count: 70_000))\","
                    + "\"zones\":[\(entries.joined(separator: ","))]}")
            #expect(answer.text.utf8.count < 6_000)
            more = false
            for (zone, item) in zip(["A", "B", "C"], answer.zones) {
                seen += names(item)
                tokens[zone] = try token(item)
                more = more || item["moreComing"].bool == true
            }
            rounds += 1
            #expect(!names(answer.zones[0]).isEmpty || rounds > 2)
        }
        #expect(rounds > 3)
        #expect(seen.sorted() == ["A", "B", "C"].flatMap { z in (1...5).map { "\(z)\($0)" } })
    }

    @Test("A record larger than a page's bytes comes alone")
    func largeRecord() throws {
        let small = try WireServer { $0.pageBytesMax = 1_000 }
        let ida = try small.user()
        try ida.make("Shelf")
        let text = String(repeating: "x", count: 600_000)
        try ida.save("big1", "{\"f\":{\"value\":\"\(text)\"}}")
        try ida.save("big2", "{\"f\":{\"value\":\"\(text)\"}}")
        let first = try ida.changes()
        #expect(names(first) == ["big1"] && first["moreComing"].bool == true)
        #expect(try names(ida.changes(after: token(first))) == ["big2"])
    }

    @Test("A page looks at a bounded number of rows, and may be empty with more coming")
    func rows() throws {
        let small = try WireServer {
            $0.feedRowsPerPageMax = 10
            $0.recordsPerResponseMax = 5
        }
        let ida = try small.user()
        try ida.make("Shelf")
        for number in 1...25 { try ida.save("r\(number)") }
        try ida.save("t", type: "Tin")
        var (pages, seen, token) = (0, [String](), String?.none)
        while true {
            let page = try ida.changes(after: token, more: #""desiredRecordTypes":["Tin"]"#)
            seen += names(page)
            pages += 1
            token = page["syncToken"].string
            if page["moreComing"].bool == false { break }
        }
        #expect(seen == ["t"] && pages == 3)
    }

    @Test("records/changes is the same feed with its own shape")
    func recordsChanges() throws {
        try fill(1...3)
        func send(_ body: String) throws -> Answer {
            try ida.send("private/records/changes", body)
        }
        let zone = #""zoneID":{"zoneName":"Shelf"}"#
        let first = try send("{\(zone),\"resultsLimit\":2}")
        #expect(first.json.keys == ["records", "syncToken", "moreComing", "reverse"])
        #expect(first.records.map(\.name) == ["r1", "r2"])
        #expect(first["moreComing"].bool == true && first["reverse"].bool == false)
        let token = try #require(first["syncToken"].string)
        #expect(try names(ida.changes(after: token)) == ["r3"])
        let back = try send("{\(zone),\"reverse\":true,\"desiredKeys\":[]}")
        #expect(back.records.map(\.name) == ["r3", "r2", "r1"])
        #expect(back["reverse"].bool == true && back.records[0]["fields"].raw == "{}")
        for (body, status, code, reason) in [
            ("{}", 400, "BAD_REQUEST", "cannot get changes in default zone"),
            (
                "{\(zone),\"syncToken\":\"AAAA\"}", 400, "BAD_REQUEST",
                "Unknown sync continuation type"
            ),
            (#"{"zoneID":{"zoneName":"Nope"}}"#, 404, "ZONE_NOT_FOUND", "Zone does not exist"),
        ] {
            let refused = try send(body)
            #expect(refused.status == status && refused.code == code && refused.reason == reason)
        }
    }

    @Test("A zone's token in zones/* answers is its present position")
    func listedTokens() throws {
        try fill(1...2)
        let listed = try ida.send("private/zones/list", nil).zones
        let shelf = try #require(listed.first { $0["zoneID"]["zoneName"].string == "Shelf" })
        try ida.save("r3")
        #expect(try names(ida.changes(after: token(shelf))) == ["r3"])
    }
}
