import Testing

/// What participants may do in the zones of others (semantics.md §2.3, rulings.md 38).
@Suite("Writing to shared zones")
struct SharedAccessTests {
    let server: WireServer
    let ida: WireClient
    let bo: WireClient
    let copy: SharedZone

    init() throws {
        server = try WireServer()
        ida = try server.user("ida")
        bo = try server.user("bo")
        try ida.make("Shelf")
        copy = SharedZone(bo, of: ida)
    }

    @Test("A participant adds, changes and deletes where they may write, and the owner sees it")
    func writing() throws {
        try ida.put(("note", nil), ("page", "note"))
        try bo.join(try ida.share("note"))
        let made = try copy.save("mine", below: "page", kind: "create")
        #expect(made.code == nil, "\(made.raw)")
        #expect(made["zoneID"]["ownerRecordName"].string == ida.name)
        #expect(made["created"]["userRecordName"].string == bo.name)
        #expect(try ida.record("mine")["created"]["userRecordName"].string == bo.name)
        let changed = try copy.save(
            "page", below: "note", kind: "update", tag: copy.lookup("page")[0].tag)
        #expect(changed.code == nil, "\(changed.raw)")
        let stale = try copy.save("page", below: "note", kind: "update", tag: "old")
        #expect(stale.code == "CONFLICT")
        #expect(stale["serverRecord"].name == "page")
        let batch = try copy.modify([
            operation("create", "m1", type: "Note", fields: "{}", more: below("m2")),
            operation("create", "m2", type: "Note", fields: "{}", more: below("note")),
            operation("forceDelete", "mine", type: nil),
        ])
        #expect(batch.records.allSatisfy { $0.code == nil }, "\(batch.text)")
        #expect(try copy.lookup("m1", "mine").map(\.code) == [nil, "NOT_FOUND"])
        #expect(try server.problems() == [])
    }

    @Test("No roots, no parents outside, nothing at all with READ_ONLY")
    func refusals() throws {
        try ida.put(
            ("note", nil), ("page", "note"), ("other", nil), ("read", nil), ("line", "read"))
        try bo.join(try ida.share("note"))
        try bo.join(try ida.share("read", permission: "READ_ONLY"))
        #expect(try copy.save("new", below: nil).code == "ACCESS_DENIED")
        let outside = try copy.save("new", below: "other")
        let nowhere = try copy.save("new", below: "nobody")
        #expect(outside.code == "VALIDATING_REFERENCE_ERROR")
        #expect(outside.raw.replacing("other", with: "nobody") == nowhere.raw)
        #expect(try copy.save("new", below: "read").code == "ACCESS_DENIED")
        #expect(try copy.save("line", below: "read").code == "ACCESS_DENIED")
        #expect(try copy.save("page", below: "read").code == "ACCESS_DENIED")
        #expect(
            try copy.modify([operation("forceDelete", "line", type: nil)]).records[0].code
                == "ACCESS_DENIED")
        for kind in ["create", "forceUpdate", "forceReplace"] {
            #expect(try copy.save("other", below: "note", kind: kind).code == "NOT_FOUND")
        }
        let missing = try copy.save("other", below: "note", kind: "update", tag: "x")
        #expect(missing.code == "NOT_FOUND")
        #expect(
            missing.raw.replacing("other", with: "never")
                == (try copy.save("never", below: "note", kind: "update", tag: "x")).raw)
        let emptied = try copy.modify([
            operation(
                "forceUpdate", "page", type: "Note", fields: "{}", more: "\"parent\":null")
        ])
        #expect(emptied.records[0].code == "ACCESS_DENIED")
        #expect(try ida.record("page")["parent"].exists)
    }

    @Test("The root is the owner's: its parent is not shown, kept by saves, and not to be changed")
    func roots() throws {
        try ida.put(("album", nil), ("photo", "album"), ("pixel", "photo"))
        try bo.join(try ida.share("photo"))
        #expect(try !copy.lookup("photo")[0]["parent"].exists)
        #expect(try copy.lookup("pixel")[0]["parent"]["recordName"].string == "photo")
        #expect(try !copy.page().raw.contains("album"))
        for kind in ["forceUpdate", "forceReplace"] {
            let saved = try copy.save("photo", below: nil, kind: kind)
            #expect(saved.code == nil, "\(saved.raw)")
            #expect(!saved.raw.contains("album"))
            #expect(try ida.record("photo")["parent"]["recordName"].string == "album")
        }
        let conflict = try copy.save("photo", below: nil, kind: "update", tag: "old")
        #expect(conflict.code == "CONFLICT" && !conflict.raw.contains("album"))
        #expect(try copy.save("photo", below: "pixel").code == "ACCESS_DENIED")
        #expect(
            try copy.modify([operation("forceDelete", "photo", type: nil)]).records[0].code
                == "ACCESS_DENIED")
        #expect(try copy.lookup("album")[0].code == "NOT_FOUND")
    }

    @Test("In a whole zone a participant makes records without parents")
    func wholeZone() throws {
        try ida.put(("note", nil))
        let share = try ida.modify(
            [shareOperation("create", "cloudkit.zoneshare", publicPermission: "READ_WRITE")]
        ).records[0]
        try bo.join(share.shortGUID)
        #expect(try copy.save("new", below: nil).code == nil)
        #expect(try copy.save("note", below: "new").code == nil)
        #expect(try ida.record("new").name == "new")
    }

    @Test("Deleting takes nothing along that the participant does not see")
    func cascades() throws {
        func reference(_ name: String, _ action: String) -> String {
            "{\"on\":{\"value\":{\"recordName\":\"\(name)\",\"action\":\"\(action)\"}}}"
        }
        try ida.put(("note", nil), ("page", "note"), ("line", "note"))
        try ida.save("outside", reference("page", "DELETE_SELF"), type: "Mark")
        try ida.save("inside", reference("page", "DELETE_SELF"), type: "Mark", more: below("note"))
        try ida.save("needs", reference("line", "VALIDATE"), type: "Mark")
        try bo.join(try ida.share("note"))
        let deleted = try copy.modify([operation("forceDelete", "page", type: nil)]).records[0]
        #expect(deleted["deleted"].bool == true)
        #expect(try ida.record("outside").name == "outside")
        #expect(try ida.record("inside").code == "NOT_FOUND")
        let needed = try copy.modify([operation("forceDelete", "line", type: nil)]).records[0]
        #expect(needed.code == "VALIDATING_REFERENCE_ERROR")
        #expect(!needed.raw.contains("needs"))
        #expect(try server.problems() == [])
    }

    @Test("References lead only to what the participant sees; those of the owner stay")
    func references() throws {
        func reference(_ name: String, zone: String? = nil) -> String {
            let zone = zone.map { ",\"zoneID\":{\"zoneName\":\"\($0)\"}" } ?? ""
            return
                "{\"to\":{\"value\":{\"recordName\":\"\(name)\",\"action\":\"VALIDATE\"\(zone)}}}"
        }
        try ida.make("Attic")
        try ida.put(("far", nil), zone: "Attic")
        try ida.put(("note", nil), ("other", nil))
        try ida.save("has", reference("other"), type: "Note", more: below("note"))
        try ida.save("has2", reference("far", zone: "Attic"), type: "Note", more: below("note"))
        try bo.join(try ida.share("note"))
        let hidden = try copy.save("new", below: "note", fields: reference("other"))
        let nothing = try copy.save("new", below: "note", fields: reference("ghost"))
        #expect(hidden.code == "VALIDATING_REFERENCE_ERROR")
        #expect(hidden.raw.replacing("other", with: "ghost") == nothing.raw)
        for zone in ["Attic", "Nowhere"] {
            let far = try copy.save("new", below: "note", fields: reference("far", zone: zone))
            #expect(far.code == "VALIDATING_REFERENCE_ERROR", "\(far.raw)")
        }
        for name in ["has", "has2"] {
            let more = "{\"text\":{\"value\":\"more\"}}"
            let kept = try copy.save(name, below: "note", fields: more)
            #expect(kept.code == nil, "\(kept.raw)")
        }
        #expect(
            try ida.delete("other").code == "VALIDATING_REFERENCE_ERROR", "the reference still acts"
        )
        #expect(try server.problems() == [])
    }

    private func goes(with name: String) -> String {
        "{\"on\":{\"value\":{\"recordName\":\"\(name)\",\"action\":\"DELETE_SELF\"}}}"
    }

    @Test("A participant learns by no reference what becomes of a record that they do not see")
    func watching() throws {
        try ida.put(("note", nil), ("page", "note"), ("line", "note"), ("secret", nil))
        try ida.put(("old", nil), ("last", "note"))
        try ida.save("idas", goes(with: "old"), type: "Note", more: below("note"))
        let link = try ida.share("note")
        try bo.join(link)
        for name in ["secret", "absent", "page", "line", "late", "last"] {
            let saved = try copy.save("on-\(name)", below: "note", fields: goes(with: name))
            #expect(saved.code == nil, "\(saved.raw)")
        }
        // Whoever saves a record again leaves its references what they are.
        let again = operation("forceUpdate", "on-secret", type: "Note", fields: "{}")
        #expect(try ida.modify([again]).records[0].code == nil)
        #expect(try copy.save("idas", below: "note").code == nil)
        try ida.put(("absent", nil), ("line", nil))
        #expect(try copy.save("late", below: "note").code == nil)
        for name in ["secret", "absent", "page", "line", "late", "old"] {
            #expect(try ida.delete(name).code == nil)
        }
        var here = copy
        try here.catchUp()
        #expect(here.names == ["last", "note", "on-absent", "on-last", "on-line", "on-secret"])
        #expect(try ida.delete("share-note").code == nil)
        #expect(try ida.delete("last").code == nil)
        #expect(try ida.record("on-last").code == "NOT_FOUND", "in no tree it acts as any other")
        #expect(try server.problems() == [])
    }

    @Test("What a participant's batch makes and takes away again needs no place, as an owner's")
    func takenAgain() throws {
        try ida.put(("note", nil), ("page", "note"), ("line", "note"))
        try bo.join(try ida.share("note"))
        func batch(_ parent: String) -> [String] {
            [
                operation(
                    "create", "brief", type: "Note", fields: goes(with: parent), more: below(parent)
                ), operation("forceDelete", parent, type: nil),
            ]
        }
        #expect(try ida.modify(batch("line")).records.map(\.code) == [nil, nil])
        #expect(try copy.modify(batch("page")).records.map(\.code) == [nil, nil])
        #expect(try ida.record("brief").code == "NOT_FOUND")
        #expect(try server.problems() == [])
    }

    @Test("How many references lead to a name tells a participant nothing of the owner's")
    func manyReferences() throws {
        let server = try WireServer(limits: { $0.deleteSelfSourcesMax = 2 })
        let (ida, bo) = (try server.user("ida"), try server.user("bo"))
        try ida.make("Shelf")
        try ida.put(("note", nil), ("secret", nil))
        for name in ["a", "b"] { try ida.save(name, goes(with: "secret"), type: "Note") }
        try bo.join(try ida.share("note"))
        let copy = SharedZone(bo, of: ida)
        for name in ["secret", "absent"] {
            let codes = try (1...3).map {
                try copy.save("\(name)\($0)", below: "note", fields: goes(with: name)).code
            }
            #expect(codes == [nil, nil, "BAD_REQUEST"])
        }
    }

    @Test("What participants add counts against the owner, and a full owner refuses it")
    func quota() throws {
        let server = try WireServer(limits: { $0.userQuotaBytes = 6_000 })
        let (ida, bo) = (try server.user("ida"), try server.user("bo"))
        try ida.make("Shelf")
        try ida.put(("note", nil))
        try bo.join(try ida.share("note"))
        let copy = SharedZone(bo, of: ida)
        let long = "{\"text\":{\"value\":\"\(String(repeating: "x", count: 5_000))\"}}"
        #expect(try copy.save("long", below: "note", fields: long).code == "QUOTA_EXCEEDED")
        #expect(try copy.save("short", below: "note").code == nil)
    }

    @Test("A participant who has been removed is a stranger, whatever token and tag they kept")
    func removed() throws {
        try ida.put(("note", nil), ("page", "note"))
        let link = try ida.share("note", permission: "READ_WRITE")
        try bo.join(link)
        let page = try copy.lookup("page")[0]
        let token = try #require(try copy.page()["syncToken"].string)
        #expect(try ida.changeShare("share-note", publicPermission: "NONE").code == nil)
        #expect(try copy.page(after: token).code == "ZONE_NOT_FOUND")
        #expect(
            try copy.modify([
                operation("update", "page", type: "Note", fields: "{}", tag: page.tag)
            ]).code == "ZONE_NOT_FOUND")
        #expect(try bo.accept(link).status == 404)
    }

    @Test("Leaving hides the share at once, for the one who leaves alone")
    func leaving() throws {
        let cy = try server.user("cy")
        try ida.put(("note", nil), ("page", "note"))
        let link = try ida.share("note")
        try bo.join(link)
        try cy.join(link)
        let left = try copy.modify([operation("forceDelete", "share-note", type: nil)])
        #expect(left.records[0]["deleted"].bool == true)
        #expect(try copy.page().code == "ZONE_NOT_FOUND")
        var other = SharedZone(cy, of: ida)
        try other.catchUp()
        #expect(other.names == ["note", "page"])
        #expect(try ida.record("page").name == "page")
        try bo.join(link)
        var again = copy
        try again.catchUp()
        #expect(again.names == ["note", "page"])
    }
}
