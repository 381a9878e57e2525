import CloudModel
import Testing

/// The seven operations (rulings.md 10-13, 15, 20).
@Suite("records/modify: operations, tags, atomicity and shapes")
struct ModifyOperationTests {
    let server: WireServer
    let ida: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user()
        try ida.make("Shelf")
    }

    private let red = #"{"colour":{"value":"red"},"size":{"value":1}}"#
    private let blue = #"{"colour":{"value":"blue"}}"#

    @Test("A saved record is answered with every key of the ruling, in its order, compactly")
    func shape() throws {
        let answer = try ida.modify([operation("create", "c1", fields: red)])
        let tag = answer.records[0].tag
        let stamp =
            "{\"timestamp\":\(server.clock.now),\"userRecordName\":\"\(ida.name)\","
            + "\"deviceID\":\"iCloud\"}"
        #expect(
            answer.text == """
                {"records":[{"recordName":"c1","recordType":"Cup","fields":\
                {"colour":{"value":"red","type":"STRING"},"size":{"value":1,"type":"INT64"}},\
                "pluginFields":{},"recordChangeTag":"\(tag)","created":\(stamp),\
                "modified":\(stamp),"deleted":false,"zoneID":{"zoneName":"Shelf",\
                "ownerRecordName":"\(ida.name)","zoneType":"REGULAR_CUSTOM_ZONE"}}]}
                """)
        #expect(tag.allSatisfy { $0.isNumber || ("a"..."z").contains($0) } && tag.count < 9)
        #expect(try ida.record("c1").raw == answer.records[0].raw)
        #expect(try ida.changes()["records"][0].raw == answer.records[0].raw)
    }

    @Test("An update keeps when and by whom the record was made, and moves its tag and modified")
    func stamps() throws {
        let first = try ida.save("c1", red)
        server.clock.advance(1_234)
        let second = try ida.modify(
            [operation("update", "c1", fields: blue, tag: first.tag)],
            more: #""ignored":{"deep":[1]}"#
        ).records[0]
        #expect(second["created"].raw == first["created"].raw)
        #expect(second["modified"]["timestamp"].int == server.clock.now)
        #expect(second.tag != first.tag)
    }

    @Test("The clientId of a request is the device of what it saves")
    func device() throws {
        let saved = try ida.send(
            "private/records/modify",
            "{\"operations\":[\(operation("create", "c1"))]}", query: ["clientId=tab%201"])
        #expect(saved.records[0]["created"]["deviceID"].string == "tab 1")
    }

    @Test(
        "A clientId with a character that no header could hold counts as none, wherever it is",
        arguments: [0, 6, 7, 8, 17])
    func unusableDevice(_ place: Int) throws {
        func device(_ byte: Int) throws -> String? {
            let digits = String(byte + 256, radix: 16).dropFirst()
            let name =
                String(repeating: "d", count: place) + "%\(digits)"
                + String(repeating: "e", count: 17 - place)
            let saved = try ida.send(
                "private/records/modify", "{\"operations\":[\(operation("create", "\(byte)"))]}",
                query: ["clientId=\(name)"])
            return saved.records[0]["created"]["deviceID"].string
        }
        for byte in [0x00, 0x0a, 0x1f, 0x7f, 0x80, 0xff] {
            #expect(try device(byte) == "iCloud", "\(byte)")
        }
        for byte in [0x20, 0x21, 0x41, 0x7e] {
            #expect(try device(byte)?.utf8.dropFirst(place).first == UInt8(byte), "\(byte)")
        }
    }

    @Test("A write that the client has named is known by its name in the conflict of the next one")
    func namedWrite() throws {
        func create(_ query: [String]) throws -> AnswerPart {
            try ida.send(
                "private/records/modify", "{\"operations\":[\(operation("create", "c1"))]}",
                query: query
            ).records[0]
        }
        let saved = try create(["clientId=tab", "writeId=w1"])
        #expect(saved["created"]["deviceID"].string == "tab/w1")
        let refused = try create(["clientId=tab", "writeId=w2"])
        #expect(refused.code == "CONFLICT")
        #expect(refused["serverRecord"]["modified"]["deviceID"].string == "tab/w1")
    }

    @Test("A name that is too long for every record to carry is left out", arguments: [64, 65])
    func longNameOfAWrite(_ length: Int) throws {
        let name = String(repeating: "w", count: length)
        let saved = try ida.send(
            "private/records/modify", "{\"operations\":[\(operation("create", "c1"))]}",
            query: ["clientId=tab", "writeId=\(name)"])
        #expect(
            saved.records[0]["created"]["deviceID"].string == (length == 64 ? "tab/\(name)" : "tab")
        )
    }

    @Test("An existing record: create conflicts, tags decide, force does not look")
    func existing() throws {
        let tag = try ida.save("c1", red).tag
        let before = try ida.changes().raw
        func item(_ kind: String, _ tag: String?, _ fields: String? = nil) throws -> AnswerPart {
            try ida.modify([operation(kind, "c1", fields: fields, tag: tag)]).records[0]
        }
        let created = try item("create", nil, blue)
        #expect(created.code == "CONFLICT")
        #expect(created.reason == "record to insert already exists")
        for kind in ["update", "replace", "delete"] {
            let refused = try item(kind, "zz", blue)
            #expect(refused.code == "CONFLICT", "\(kind)")
            #expect(refused.reason == "client oplock error updating record")
            #expect(
                refused.keys == ["recordName", "reason", "serverErrorCode", "serverRecord"],
                "\(kind)")
            #expect(refused["serverRecord"].raw == (try ida.record("c1").raw))
        }
        #expect(try ida.changes().raw == before)
        let updated = try item("update", tag, blue)
        #expect(
            updated["fields"].raw
                == #"{"colour":{"value":"blue","type":"STRING"},"size":{"value":1,"type":"INT64"}}"#
        )
        let replaced = try item("replace", updated.tag, blue)
        #expect(replaced["fields"].raw == #"{"colour":{"value":"blue","type":"STRING"}}"#)
        let merged = try item("forceUpdate", "stale", #"{"size":{"value":2}}"#)
        #expect(merged["fields"].keys == ["colour", "size"])
        let forced = try item("forceReplace", "stale", #"{"size":{"value":3}}"#)
        #expect(forced["fields"].keys == ["size"])
        #expect(try item("delete", forced.tag).raw == #"{"recordName":"c1","deleted":true}"#)
    }

    @Test("Deleting needs no tag, and compares one that is given")
    func deleting() throws {
        try ida.save("c1")
        try ida.save("c2")
        let answer = try ida.modify([
            operation("delete", "c1", type: nil), operation("forceDelete", "c2", tag: "stale"),
        ])
        #expect(
            answer.text
                == #"{"records":[{"recordName":"c1","deleted":true},{"recordName":"c2","deleted":true}]}"#
        )
        #expect(
            try ida.record("c1").raw
                == #"{"recordName":"c1","reason":"Record not found","serverErrorCode":"NOT_FOUND"}"#
        )
    }

    @Test("A missing record: create and force make it, the others report NOT_FOUND")
    func missing() throws {
        for wasDeleted in [false, true] {
            for kind in ["create", "forceUpdate", "forceReplace"] {
                let made = try ida.modify([operation(kind, "c1", fields: red)]).records[0]
                #expect(made["fields"].keys == ["colour", "size"], "\(kind)")
                try ida.delete("c1")
            }
            for kind in ["update", "replace", "delete"] {
                let name = wasDeleted ? "c1" : "never"
                let refused = try ida.modify([operation(kind, name, tag: "a")]).records[0]
                #expect(refused.code == "NOT_FOUND", "\(kind)")
                #expect(refused.keys == ["recordName", "reason", "serverErrorCode"])
            }
            #expect(try ida.delete("never").raw == #"{"recordName":"never","deleted":true}"#)
        }
    }

    @Test("A record that comes back is new: made now, with none of its previous fields")
    func comingBack() throws {
        try ida.save("c1", red)
        try ida.delete("c1")
        server.clock.advance(5)
        let back = try ida.modify([operation("forceUpdate", "c1", fields: blue)]).records[0]
        #expect(back["fields"].keys == ["colour"])
        #expect(back["created"]["timestamp"].int == server.clock.now)
    }

    @Test("Update and replace without a tag, and saves without what they need, fail as a whole")
    func required() throws {
        let cases = [
            (operation("update", "c1"), "recordChangeTag"),
            (operation("replace", "c1"), "recordChangeTag"),
            (operation("create", "c1", type: nil), "recordType"),
            (operation("forceUpdate", nil), "recordName"),
            (operation("delete", nil), "recordName"),
            (#"{"record":{"recordName":"a"}}"#, "operationType"),
            (#"{"operationType":"create"}"#, "record"),
            (operation("force_update", "c1"), "operationType"),
            (operation("Create", "c1"), "operationType"),
        ]
        for (bad, key) in cases {
            let answer = try ida.modify([operation("create", "good"), bad])
            #expect(answer.status == 400 && answer.code == "BAD_REQUEST", "\(bad)")
            #expect(answer.reason.contains(key), "\(answer.reason)")
        }
        let none = try ida.send("private/records/modify", "{}")
        #expect(none.status == 400 && none.reason.contains("operations"))
        #expect(try ida.record("good").code == "NOT_FOUND")
    }

    @Test("A save that makes a record needs its type; one of an existing record does not")
    func types() throws {
        let made = try ida.modify([operation("forceUpdate", "c1", type: nil)]).records[0]
        #expect(made.code == "BAD_REQUEST" && made.reason.contains("recordType"))
        let tag = try ida.save("c1", red).tag
        let updated = try ida.modify([operation("update", "c1", type: nil, tag: tag)]).records[0]
        #expect(updated["recordType"].string == "Cup")
        let other = try ida.modify([operation("forceReplace", "c1", type: "Tin")]).records[0]
        #expect(other.code == "BAD_REQUEST" && other.reason.contains("Cup"))
    }

    @Test("A create without a name gets a lower-case UUID, and keeps it when it fails")
    func generatedNames() throws {
        let saved = try ida.modify([operation("create", nil)]).records[0]
        let form = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/
        #expect(try form.wholeMatch(in: saved.name ?? "") != nil)
        let failed = try ida.modify([
            operation("create", nil, fields: #"{"x":{"value":true}}"#)
        ]).records[0]
        #expect(try form.wholeMatch(in: failed.name ?? "") != nil)
    }

    @Test("An atomic batch is all or nothing: offenders say why, the others ATOMIC_ERROR")
    func atomic() throws {
        try ida.save("old", red)
        let before = try ida.changes().raw
        for atomic in [nil, true] as [Bool?] {
            let answer = try ida.modify(
                [
                    operation("create", "new", fields: red), operation("create", "old"),
                    operation("update", "gone", tag: "a"),
                    operation("forceDelete", "old2", type: nil),
                    operation("create", "odd", fields: #"{"x":{"value":true}}"#),
                ], atomic: atomic)
            #expect(answer.status == 200)
            #expect(
                answer.records.map(\.code) == [
                    "ATOMIC_ERROR", "CONFLICT", "NOT_FOUND", "ATOMIC_ERROR", "BAD_REQUEST",
                ])
            #expect(answer.records.allSatisfy { $0["reason"].exists && !$0["recordType"].exists })
            #expect(answer.records[0].keys == ["recordName", "reason", "serverErrorCode"])
        }
        #expect(try ida.changes().raw == before)
        #expect(try ida.record("new").code == "NOT_FOUND")
    }

    @Test("A batch that is not atomic does what it can, in custom zones and default ones")
    func notAtomic() throws {
        for (zone, atomic) in [("Shelf", false), (nil, nil), (nil, false)] as [(String?, Bool?)] {
            let answer = try ida.modify(
                [
                    operation("create", "a", fields: red),
                    operation("update", "gone", tag: "a"), operation("create", "b"),
                ], zone: zone, atomic: atomic)
            #expect(answer.records.map(\.code) == [nil, "NOT_FOUND", nil])
            #expect(try ida.record("a", zone: zone)["fields"].keys == ["colour", "size"])
            try ida.delete("a", zone: zone)
            try ida.delete("b", zone: zone)
        }
    }

    @Test("An explicit atomic true in a default zone is refused as a whole")
    func atomicInDefaultZone() throws {
        for database in ["private", "public"] {
            let answer = try ida.modify(
                [operation("create", "a")], zone: nil, atomic: true, in: database)
            #expect(answer.status == 400)
            #expect(answer.reason == "atomic operations not supported in default zone")
            #expect(try ida.record("a", zone: nil, in: database).code == "NOT_FOUND")
        }
    }

    @Test("Two operations on one record are refused as a whole, also when one is ill-formed")
    func twice() throws {
        for second in [
            operation("forceDelete", "a"),
            operation("create", "a", fields: #"{"x":{"value":true}}"#),
        ] {
            let answer = try ida.modify([operation("create", "a"), second])
            #expect(answer.status == 400 && answer.reason.contains("'a'"), "\(answer.text)")
            #expect(try ida.record("a").code == "NOT_FOUND")
        }
    }

    @Test("A batch without operations is answered with no records")
    func empty() throws {
        #expect(try ida.modify([]).text == #"{"records":[]}"#)
        #expect(try ida.modify([], zone: nil).text == #"{"records":[]}"#)
    }

    @Test("A missing zone is ZONE_NOT_FOUND for the whole request, and nothing is made")
    func missingZone() throws {
        let answer = try ida.modify([operation("create", "a")], zone: "Nope")
        #expect(answer.status == 404 && answer.code == "ZONE_NOT_FOUND")
        #expect(answer.reason == "Zone does not exist")
        #expect(try ida.lookup(["a"], zone: "Nope").status == 404)
    }

    @Test("What the client sends back of the server's own keys is ignored")
    func serverKeys() throws {
        let saved = try ida.save("a", red)
        let sent = try ida.send(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"Shelf","zoneType":"REGULAR_CUSTOM_ZONE","ownerRecordName":\
            "\(ida.name)"},"operations":[{"operationType":"update","record":\(saved.raw)}]}
            """)
        #expect(sent.records[0]["fields"].raw == saved["fields"].raw)
        #expect(sent.records[0]["created"].raw == saved["created"].raw)
    }
}
