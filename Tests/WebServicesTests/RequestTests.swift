import CloudModel
import Testing

/// Bodies and limits (rulings.md 1, 13, 20; web-services.md §3, §7).
@Suite("Requests: JSON, keys, limits and quotas")
struct RequestTests {
    let server: WireServer
    let ida: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user()
        try ida.make("Shelf")
    }

    @Test(
        "What is not one JSON object is 400 with where it goes wrong, and changes nothing",
        arguments: [
            "{", "[]", "null", "5", "\"x\"", "{}{}", "{\"a\":1,\"a\":2}", "{'a':1}", "{\"a\":}",
            "\u{feff}{}", "{\"a\":\"\\ud800\"}", "nonsense",
        ])
    func notJSON(body: String) throws {
        for (path, _) in CallerTests.endpoints
        where !path.hasPrefix("users/") && path != "zones/list" {
            let answer = try ida.send("private/\(path)", body)
            #expect(answer.status == 400 && answer.code == "BAD_REQUEST", "\(path) \(answer.text)")
            #expect(answer.reason.contains("Unexpected input"), "\(answer.reason)")
        }
    }

    private static let wrongTypeCases: [(String, String, String)] = [
        ("records/lookup", #"{"records":{}}"#, "records: expected an array"),
        ("records/lookup", #"{"records":["r"]}"#, "records: expected an object"),
        ("records/lookup", #"{"records":[{}]}"#, "recordName"),
        ("records/lookup", #"{"records":[{"recordName":1}]}"#, "recordName: expected a string"),
        (
            "records/lookup", #"{"records":[],"desiredKeys":"a"}"#,
            "desiredKeys: expected an array"
        ),
        ("records/lookup", #"{"records":[],"desiredKeys":[1]}"#, "desiredKeys"),
        (
            "records/lookup", #"{"records":[],"numbersAsStrings":1}"#,
            "numbersAsStrings: expected"
        ),
        ("records/lookup", #"{"records":[],"numberAsStrings":"x"}"#, "numberAsStrings"),
        (
            "records/lookup", #"{"records":[{"recordName":"r","desiredKeys":{}}]}"#,
            "desiredKeys"
        ),
        ("records/lookup", #"{"records":[],"zoneID":[]}"#, "zoneID: expected an object"),
        ("records/modify", #"{"operations":{}}"#, "operations: expected an array"),
        ("records/modify", #"{"operations":[1]}"#, "operations: expected an object"),
        ("records/modify", #"{"operations":[],"atomic":1}"#, "atomic: expected true or false"),
        ("records/modify", #"{"operations":[{"operationType":1}]}"#, "operationType"),
        (
            "records/modify", #"{"operations":[{"operationType":"create","record":1}]}"#,
            "record: expected an object"
        ),
        (
            "records/modify",
            #"{"operations":[{"operationType":"create","record":{"recordType":1}}]}"#,
            "recordType: expected a string"
        ),
        (
            "records/modify",
            #"{"operations":[{"operationType":"create","record":{"recordType":"A","fields":[]}}]}"#,
            "fields: expected an object"
        ),
        (
            "records/modify",
            #"{"operations":[{"operationType":"update","record":{"recordName":"a","recordChangeTag":1}}]}"#,
            "recordChangeTag: expected a string"
        ),
        ("changes/zone", #"{"zones":[{}]}"#, "zoneID"), ("changes/zone", "{}", "zones"),
        ("changes/zone", #"{"zones":[1]}"#, "zones: expected an object"),
        ("changes/zone", #"{"zones":[],"reverse":1}"#, "reverse: expected"),
        ("changes/zone", #"{"zones":[],"desiredRecordTypes":"T"}"#, "desiredRecordTypes"),
        (
            "changes/zone", #"{"zones":[{"zoneID":{"zoneName":"Shelf"},"syncToken":1}]}"#,
            "syncToken: expected a string"
        ),
        ("changes/database", #"{"syncToken":1}"#, "syncToken: expected a string"),
        ("changes/database", #"{"resultsLimit":"many"}"#, "resultsLimit"),
        ("zones/changes", #"{"metaSyncToken":{}}"#, "metaSyncToken: expected a string"),
    ]

    @Test("Known keys of the wrong type are 400, naming the key, what was expected, and the place")
    func wrongTypes() throws {
        for (path, body, reason) in Self.wrongTypeCases {
            let answer = try ida.send("private/\(path)", "\n \(body)")
            #expect(answer.status == 400 && answer.code == "BAD_REQUEST", "\(path) \(answer.text)")
            #expect(answer.reason.contains(reason), "\(answer.reason)")
            #expect(
                answer.reason.contains("missing required field")
                    || answer.reason.contains("line 2, column"), "\(answer.reason)")
        }
    }

    @Test("null is as good as absent, and unknown keys and parameters are ignored")
    func nulls() throws {
        let saved = try ida.send(
            "private/records/modify",
            """
            {"zoneID":null,"atomic":null,"desiredKeys":null,"numbersAsStrings":null,"else":[{}],\
            "operations":[{"operationType":"create","desiredKeys":null,"record":{"recordName":null,\
            "recordType":"Cup","recordChangeTag":null,"fields":null,"parent":null,"zoneID":5}}]}
            """, query: ["remapEnums=true", "ckjsVersion=2.6.1", "dsid", "=", "&&"])
        #expect(saved.status == 200 && saved.records[0].code == nil, "\(saved.text)")
        #expect(saved.records[0]["zoneID"]["zoneName"].string == "_defaultZone")
        let page = try ida.send(
            "private/changes/zone",
            """
            {"resultsLimit":null,"reverse":null,"desiredRecordTypes":null,"syncToken":null,\
            "zones":[{"zoneID":{"zoneName":"Shelf","ownerRecordName":null},"syncToken":null}]}
            """)
        #expect(page.zones[0].code == nil)
    }

    @Test("Content types make no difference")
    func contentTypes() throws {
        for type in ["text/plain", "application/json", "application/x-www-form-urlencoded", "x"] {
            let answer = try ida.send(
                "private/records/lookup", #"{"records":[{"recordName":"r"}]}"#,
                headers: [("Content-Type", type)])
            #expect(answer.status == 200)
        }
    }

    @Test("A lookup answers each name in its place, twice when asked twice")
    func lookupOrder() throws {
        try ida.save("a")
        let names = ["a", "no", "a", "no", "_x", ""]
        let answer = try ida.lookup(names)
        #expect(answer.records.map(\.name) == names)
        #expect(
            answer.records.map(\.code) == [
                nil, "NOT_FOUND", nil, "NOT_FOUND", "NOT_FOUND", "NOT_FOUND",
            ])
        #expect(try ida.lookup([]).text == #"{"records":[]}"#)
    }

    @Test("200 items are taken and 201 refused, naming the limit and the count")
    func itemLimit() throws {
        func list(_ count: Int, _ item: (Int) -> String) -> String {
            (0..<count).map(item).joined(separator: ",")
        }
        let zone = #""zoneID":{"zoneName":"Shelf"}"#
        for (path, make) in [
            (
                "records/modify",
                { "{\(zone),\"operations\":[\(list($0) { operation("create", "r\($0)") })]}" }
            ),
            (
                "records/lookup",
                { "{\(zone),\"records\":[\(list($0) { "{\"recordName\":\"r\($0)\"}" })]}" }
            ),
            ("zones/lookup", { "{\"zones\":[\(list($0) { "{\"zoneName\":\"z\($0)\"}" })]}" }),
            (
                "changes/zone",
                { "{\"zones\":[\(list($0) { "{\"zoneID\":{\"zoneName\":\"z\($0)\"}}" })]}" }
            ),
            (
                "zones/modify",
                {
                    let items = list($0) {
                        "{\"operationType\":\"delete\",\"zone\":{\"zoneID\":{\"zoneName\":\"_z\($0)\"}}}"
                    }
                    return "{\"operations\":[\(items)]}"
                }
            ),
        ] as [(String, (Int) -> String)] {
            let full = try ida.send("private/\(path)", make(200))
            #expect(full.status == 200, "\(path)")
            for count in [201, 450] {
                let over = try ida.send("private/\(path)", make(count))
                #expect(over.status == 400 && over.code == "BAD_REQUEST", "\(path)")
                #expect(over.reason.contains("200") && over.reason.contains("\(count)"))
            }
        }
    }

    @Test("A record over its bytes fails the whole request, naming the limit and the size")
    func recordBytes() throws {
        #expect(ServiceLimits().recordBytesMax == 1_048_576)
        let small = try WireServer { $0.recordBytesMax = 100 }
        let ida = try small.user()
        try ida.make("Shelf")
        let text = String(repeating: "x", count: 60)
        try ida.save("r", "{\"a\":{\"value\":\"\(text)\"}}")
        for atomic in [true, false] {
            let answer = try ida.modify(
                [
                    operation("create", "other"),
                    operation("forceUpdate", "r", fields: "{\"b\":{\"value\":\"\(text)\"}}"),
                ], atomic: atomic)
            #expect(answer.status == 400 && answer.code == "BAD_REQUEST")
            #expect(answer.reason.contains("'r'") && answer.reason.contains("100"))
            #expect(answer.reason.contains("limits.recordBytesMax"))
        }
        #expect(try ida.record("other").code == "NOT_FOUND")
        #expect(try ida.record("r")["fields"].keys == ["a"])
    }

    @Test("A user's quota stops what adds, by record; what shrinks or deletes goes on")
    func userQuota() throws {
        let small = try WireServer { $0.userQuotaBytes = 5_000 }
        let ida = try small.user()
        let mo = try small.user("mo")
        try ida.make("Shelf")
        try mo.make("Shelf")
        let text = String(repeating: "x", count: 1_000)
        var saved = 0
        while saved < 10, try ida.save("r\(saved)", "{\"a\":{\"value\":\"\(text)\"}}").code == nil {
            saved += 1
        }
        #expect((2...4).contains(saved))
        let refused = try ida.save("more", "{\"a\":{\"value\":\"\(text)\"}}")
        #expect(refused.code == "QUOTA_EXCEEDED")
        #expect(refused.keys == ["recordName", "reason", "serverErrorCode"])
        #expect(try mo.save("r", "{\"a\":{\"value\":\"\(text)\"}}").code == nil)
        #expect(try ida.save("r", zone: nil, in: "public").code == nil)
        let longer = String(repeating: "x", count: 3_000)
        #expect(try ida.save("r0", "{\"a\":{\"value\":\"\(longer)\"}}").code == "QUOTA_EXCEEDED")
        #expect(try ida.save("r0", "{\"a\":{\"value\":\"short\"}}").code == nil)
        #expect(try ida.delete("r1").code == nil)
        #expect(try ida.save("more", "{\"a\":{\"value\":\"\(text)\"}}").code == nil)
    }

    @Test("A quota holds however long the names are, and in whatever steps records grow")
    func quotaBySteps() throws {
        let small = try WireServer { $0.userQuotaBytes = 20_000 }
        let ida = try small.user()
        let zone = String(repeating: "z", count: 255)
        try ida.make(zone)
        let names = (0..<8).map { String(repeating: "\($0)", count: 255) }
        for name in names { try ida.save(name, zone: zone) }
        for size in stride(from: 200, through: 6_000, by: 200) {
            let text = String(repeating: "x", count: size)
            for name in names { try ida.save(name, "{\"a\":{\"value\":\"\(text)\"}}", zone: zone) }
        }
        let used = try small.store().read { snapshot in
            try snapshot.owner(named: #require(UserRecordName(ida.name)))?.usedBytes ?? 0
        }
        #expect(used > 15_000 && used < 21_000, "\(used)")
        #expect(try small.problems() == [])
    }

    @Test("The public database has a quota of its own")
    func publicQuota() throws {
        let small = try WireServer { $0.publicQuotaBytes = 1_500 }
        let ida = try small.user()
        #expect(try ida.save("a", zone: nil, in: "public").code == nil)
        let text = String(repeating: "x", count: 1_500)
        let over = try ida.save("b", "{\"a\":{\"value\":\"\(text)\"}}", zone: nil, in: "public")
        #expect(over.code == "QUOTA_EXCEEDED")
        #expect(try ida.save("b", "{\"a\":{\"value\":\"\(text)\"}}", zone: nil).code == nil)
    }

    @Test("In public, whoever made a record changes it, and everybody reads it")
    func publicRecords() throws {
        let mo = try server.user("mo")
        let saved = try ida.save("p", #"{"n":{"value":1}}"#, zone: nil, in: "public")
        #expect(saved["zoneID"]["ownerRecordName"].string == "_defaultOwner")
        #expect(try mo.record("p", zone: nil, in: "public").raw == saved.raw)
        for kind in ["update", "forceUpdate", "replace", "forceReplace", "delete", "forceDelete"] {
            let refused = try mo.modify(
                [operation(kind, "p", tag: saved.tag)], zone: nil, in: "public"
            ).records[0]
            #expect(refused.code == "ACCESS_DENIED", "\(kind) \(refused.raw)")
            #expect(refused.keys == ["recordName", "reason", "serverErrorCode"])
        }
        let created = try mo.modify([operation("create", "p")], zone: nil, in: "public").records[0]
        #expect(created.code == "CONFLICT" && created["serverRecord"].raw == saved.raw)
        #expect(try ida.record("p", zone: nil, in: "public").raw == saved.raw)
        #expect(try ida.delete("p", zone: nil, in: "public").code == nil)
    }

    @Test("A request too large for an event loop is answered by a worker, the same way")
    func largeBodies() throws {
        let text = String(repeating: "x", count: 100_000)
        let saved = try ida.save("big", "{\"a\":{\"value\":\"\(text)\"}}")
        #expect(saved.code == nil)
        for number in 1...8 { try ida.save("big\(number)", "{\"a\":{\"value\":\"\(text)\"}}") }
        let names = ["big"] + (1...8).map { "big\($0)" }
        let answer = try ida.lookup(names)
        #expect(answer.records.map(\.name) == names && answer.text.utf8.count > 900_000)
        #expect(try ida.changes()["records"].elements.count == 9)
    }

    @Test("What a lookup has no room for is to be asked for again; fields not shown count too")
    func fullLookup() throws {
        let small = try WireServer { $0.pageBytesMax = 2_000 }
        let ida = try small.user()
        try ida.make("Shelf")
        let text = String(repeating: "x", count: 1_000)
        for number in 1...3 { try ida.save("r\(number)", "{\"a\":{\"value\":\"\(text)\"}}") }
        for more in [nil, #""desiredKeys":[]"#] as [String?] {
            let answer = try ida.lookup(["r1", "none", "r2", "r3", "r1"], more: more)
            #expect(
                answer.records.map(\.code)
                    == [nil, "NOT_FOUND", nil, "TRY_AGAIN_LATER", "TRY_AGAIN_LATER"])
            #expect(answer.records[3].name == "r3")
            #expect(answer.records[3].reason.contains("limits.pageBytesMax"))
            #expect(try ida.lookup(["r3"], more: more).records[0].code == nil)
        }
    }
}
