import Testing

/// Queries of a participant find what they are shown, and tell them of nothing else in the zone.
@Suite("Queries in shared zones")
struct SharedQueryTests {
    let server: WireServer
    let ida: WireClient
    let bo: WireClient
    let copy: SharedZone

    init() throws {
        server = try WireServer {
            $0.queryRowsMax = 60
            $0.sharedQueryRecordsMax = 20
        }
        ida = try server.user("ida")
        bo = try server.user("bo")
        try ida.make("Shelf")
        copy = SharedZone(bo, of: ida)
        try put("root", n: 5, below: nil)
        for number in 0..<6 { try put("seen\(number)", n: 90 - number, below: "root") }
    }

    private func put(
        _ name: String, n: Int, word: String = "tea", below parent: String?
    ) throws {
        let answer = try ida.modify(
            [
                operation(
                    "create", name, type: "Note",
                    fields: #"{"n":{"value":\#(n)},"word":{"value":"\#(word) \#(n)"}}"#,
                    more: parent.map(WebServicesTests.below))
            ], zone: "Shelf")
        try #require(answer.records[0].code == nil, "\(answer.text)")
    }

    private func query(_ more: String, type: String = "Note") throws -> Answer {
        try bo.send(
            "shared/records/query",
            "{\(copy.id),\"query\":{\"recordType\":\"\(type)\"\(more)}")
    }

    /// The names of all pages.
    private func names(_ more: String) throws -> [String] {
        var names: [String] = []
        var marker: String? = ""
        while let known = marker {
            let page = try query(more + ",\"continuationMarker\":\(quoted(known))")
            try #require(page.status == 200, "\(page.text)")
            names += page.records.compactMap(\.name)
            marker = page["continuationMarker"].string
        }
        return names
    }

    private static let high =
        #"{"fieldName":"n","comparator":"GREATER_THAN","fieldValue":{"value":50}}"#
    private static let tea =
        #"{"fieldName":"word","comparator":"CONTAINS_ANY_TOKENS","fieldValue":{"value":"tea"}}"#
    private static let byNumber = #","sortBy":[{"fieldName":"n"}]"#
    private static let queries = [
        #","filterBy":[\#(high)]},"resultsLimit":1"#,
        #","filterBy":[\#(high),\#(tea)]},"resultsLimit":2"#,
        #","filterBy":[\#(tea)]\#(byNumber)},"resultsLimit":3"#,
        #","filterBy":[\#(high)]\#(byNumber)},"resultsLimit":2"#,
        #"\#(byNumber)},"resultsLimit":4"#, #"},"resultsLimit":5"#,
    ]

    @Test("Neither the answer nor the marker nor a limit depends on what is not shared")
    func hiddenRecords() throws {
        try bo.join(try ida.share("root"))
        let before = try Self.queries.map { try query($0).text }
        let found = try Self.queries.map(names)
        #expect(found.map(\.count) == [6, 6, 7, 6, 7, 7])
        #expect(found[4] == ["root"] + (0..<6).reversed().map { "seen\($0)" })
        try put("apart", n: 70, below: nil)
        for number in 0..<100 { try put("hidden\(number)", n: 60 + number, below: "apart") }
        #expect(try Self.queries.map { try query($0).text } == before)
        #expect(try Self.queries.map(names) == found)
        #expect(try server.problems() == [])
    }

    @Test(
        "Very many records are found by an index, whose choice tells nothing of what is not shared")
    func manyRecords() throws {
        try bo.join(try ida.share("root"))
        for number in 6..<30 { try put("seen\(number)", n: 10 + number, below: "root") }
        let before = try Self.queries.map { try query($0).text }
        let found = try Self.queries.map(names)
        #expect(found.map(\.count) == [6, 6, 31, 6, 31, 31])
        for number in 0..<27 {
            try put("hidden\(number)", n: 55 + number, word: "mate", below: nil)
        }
        #expect(try Self.queries.map { try query($0).text } == before)
        #expect(try Self.queries.map(names) == found)
    }

    @Test("A page that ends at a limit ends, for its marker, at the last record that it shows")
    func endOfPage() throws {
        try bo.join(try ida.share("root"))
        for number in 6..<30 { try put("seen\(number)", n: 10 + number, below: "root") }
        let limited = ",\"filterBy\":[\(Self.high)]},\"resultsLimit\":1"
        try put("first", n: 51, below: "root")
        let before = try query(limited)
        #expect(before.records.compactMap(\.name) == ["first"])
        // As many as a query may look at lie between the first and the second.
        for number in 0..<80 { try put("hidden\(number)", n: 52, below: nil) }
        #expect(try query(limited).text == before.text)
    }

    @Test("What has left the tree, or was deleted, is found no more; what several shares have, is")
    func leaving() throws {
        try put("other", n: 1, below: nil)
        try put("page", n: 2, below: "other")
        try bo.join(try ida.share("root"))
        try bo.join(try ida.share("other"))
        #expect(try names("},\"resultsLimit\":2").count == 9)
        try ida.put(("seen0", nil), ("seen1", "page"))
        try ida.delete("seen2")
        #expect(
            try names("},\"resultsLimit\":2").sorted()
                == ["other", "page", "root", "seen1", "seen3", "seen4", "seen5"])
        let shares = try query("}", type: "cloudkit.share")
        #expect(shares.records.compactMap(\.name).sorted() == ["share-other", "share-root"])
        let stranger = try server.user("eve")
        #expect(
            try SharedZone(stranger, of: ida).client.send(
                "shared/records/query", "{\(copy.id),\"query\":{\"recordType\":\"Note\"}}"
            ).code == "ZONE_NOT_FOUND")
    }

    @Test(
        "Nobody can sort by who is named: parents, shares, makers and modifiers have no order",
        arguments: [
            "___parent", "___share", "___createdBy", "___modifiedBy", "parent", "share",
            "createdUserRecordName", "modifiedUserRecordName",
        ])
    func sortingByNames(_ field: String) throws {
        try bo.join(try ida.share("root"))
        for key in ["fieldName", "systemFieldName"] {
            let answer = try query(",\"sortBy\":[{\"\(key)\":\"\(field)\"}]}")
            #expect(answer.status == 400, "\(answer.text)")
        }
    }

    @Test("A marker from before the zone was shared as a whole is refused")
    func otherSharing() throws {
        try bo.join(try ida.share("root"))
        let marker = try #require(
            try query("},\"resultsLimit\":1")["continuationMarker"].string)
        try ida.delete("share-root")
        let zone = try ida.modify(
            [
                shareOperation(
                    "create", "cloudkit.zoneshare", publicPermission: "READ_ONLY")
            ], zone: "Shelf")
        try bo.join(zone.records[0].shortGUID)
        let next = try query("},\"continuationMarker\":\(quoted(marker))")
        #expect(next.status == 400, "\(next.text)")
        #expect(try names("},\"resultsLimit\":2").count == 7)
    }

    @Test("A marker of another viewer, zone, database or query is refused")
    func foreignMarkers() throws {
        let link = try ida.share("root")
        let eve = try server.user("eve")
        try bo.join(link)
        try eve.join(link)
        let marker = try #require(
            try query("},\"resultsLimit\":1")["continuationMarker"].string)
        let body = "{\(copy.id),\"continuationMarker\":\(quoted(marker)),\"query\":"
        let all = "{\"recordType\":\"Note\"}}"
        #expect(try bo.send("shared/records/query", body + all).status == 200)
        #expect(try eve.send("shared/records/query", body + all).status == 400)
        #expect(try ida.send("private/records/query", body + all).status == 400)
        #expect(
            try bo.send(
                "shared/records/query",
                body + "{\"recordType\":\"Note\",\"filterBy\":[\(Self.tea)]}}"
            ).status == 400)
    }
}
