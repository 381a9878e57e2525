import Testing

/// `getCurrentSyncToken` on `records/query`: a first page by query, then changes (rulings.md 52).
@Suite("Sync tokens of queries")
struct QuerySyncTokenTests {
    let server: WireServer
    let ida: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user()
        try ida.make("Shelf", "Wall")
        for number in 0..<3 { try ida.save("c\(number)") }
    }

    private let asking = #""getCurrentSyncToken":true"#

    @Test(
        "The token of a zone is the one at which its feed stands, and goes on with what comes next")
    func ownZone() throws {
        let answer = try ida.query(more: asking)
        #expect(answer.json.keys == ["records", "syncToken"])
        let token = try #require(answer["syncToken"].string)
        #expect(token == (try ida.changes()["syncToken"].string))
        #expect(try ida.changes(after: token)["records"].elements.isEmpty)
        try ida.save("c9")
        try ida.delete("c0")
        let later = try ida.changes(after: token)["records"].elements
        #expect(later.map(\.name) == ["c9", "c0"])
        #expect(later.map { $0["deleted"].bool } == [false, true])
        // As some clients ask, in the query string; and with each page that of its own snapshot.
        let page = try ida.send(
            "private/records/query",
            #"{"query":{"recordType":"Cup"},"zoneID":{"zoneName":"Shelf"},"resultsLimit":1}"#,
            query: ["getCurrentSyncToken=true"])
        #expect(page.json.keys == ["records", "continuationMarker", "syncToken"])
        #expect(page["syncToken"].string == (try ida.changes()["syncToken"].string))
    }

    @Test("Without the key, for all zones, and for a zone without a feed there is none")
    func none() throws {
        #expect(try ida.query().json.keys == ["records"])
        #expect(try ida.query(more: #""getCurrentSyncToken":false"#).json.keys == ["records"])
        try ida.save("d1", zone: nil)
        #expect(try ida.query(zone: nil, more: asking).json.keys == ["records"])
        #expect(
            try ida.query(zone: nil, more: "\(asking),\"zoneWide\":true").json.keys == ["records"])
        try ida.save("p1", zone: nil, in: "public")
        let open = try ida.send(
            "public/records/query", "{\"query\":{\"recordType\":\"Cup\"},\(asking)}")
        #expect(open.json.keys == ["records"], "\(open.text)")
        let wrong = try ida.query(more: #""getCurrentSyncToken":"yes""#)
        #expect(wrong.status == 400 && wrong.reason.contains("getCurrentSyncToken"))
    }

    @Test("A zone that somebody shares, in trees or whole, has the token of the viewer's own feed")
    func shared() throws {
        let mo = try server.user("mo")
        let tree = try ida.shareNote(zone: "Wall", publicPermission: "READ_ONLY")
        let whole = try ida.modify([
            shareOperation("create", "cloudkit.zoneshare", publicPermission: "READ_ONLY")
        ]).records[0]
        _ = try mo.accept(tree.shortGUID)
        _ = try mo.accept(whole.shortGUID)
        for (zone, type, names) in [
            ("Wall", "Note", ["note"]), ("Shelf", "Cup", ["c0", "c1", "c2"]),
        ] {
            try ida.save("unseen", zone: "Wall")
            let shown = SharedZone(mo, of: ida, zone: zone)
            let answer = try mo.send(
                "shared/records/query",
                "{\"query\":{\"recordType\":\"\(type)\"},\(shown.id),\(asking)}")
            #expect(answer.records.compactMap(\.name).sorted() == names, "\(answer.text)")
            let token = try #require(answer["syncToken"].string)
            let page = try shown.page(after: token)
            #expect(page.code == nil && page["records"].elements.isEmpty, "\(page.raw)")
            try ida.save(names[0], #"{"text":{"value":"new"}}"#, type: type, zone: zone)
            #expect(try shown.page(after: token)["records"].elements.map(\.name) == [names[0]])
        }
    }
}
