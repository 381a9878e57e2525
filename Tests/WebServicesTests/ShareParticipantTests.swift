import Accounts
import Testing

/// Who takes part in a share, and who sees what of whom (rulings.md 35, 36 and 39).
@Suite("Participants of a share")
struct ShareParticipantTests {
    let server: WireServer
    let ida: WireClient
    let mo: WireClient
    let eve: WireClient

    init() throws {
        server = try WireServer { $0.participantsPerShareMax = 4 }
        ida = try server.user("ida")
        mo = try server.user("mo")
        eve = try server.user("eve")
    }

    /// What the participant of a zone of ida's asks in their shared database.
    private func seen(
        by client: WireClient, _ name: String = "note-share", zone: String = "Shelf"
    ) throws -> AnswerPart {
        let answer = try client.send(
            "shared/records/lookup",
            "{\"zoneID\":{\"zoneName\":\"\(zone)\",\"ownerRecordName\":\"\(ida.name)\"},"
                + "\"records\":[{\"recordName\":\"\(name)\"}]}")
        return answer.status == 200 ? answer.records[0] : answer.json
    }

    private func modify(by client: WireClient, _ operations: String...) throws -> Answer {
        try client.send(
            "shared/records/modify",
            "{\"zoneID\":{\"zoneName\":\"Shelf\",\"ownerRecordName\":\"\(ida.name)\"},"
                + "\"operations\":[\(operations.joined(separator: ","))]}")
    }

    // MARK: - The list

    @Test("Invitations by address and by name; whether there is an account is not told")
    func inviting() throws {
        let share = try ida.shareNote(participants: [
            invitation(email: "Mo@Example.ORG"),
            invitation(email: "nobody@example.org", permission: "READ_ONLY"),
            invitation(phone: "+49 (30) 1234-56", permission: nil),
            invitation(user: eve.name, type: "ADMINISTRATOR"),
        ])
        let all = share.participants
        #expect(share["participants"].elements.count == 5)
        #expect(share["participants"][0]["type"].string == "OWNER")
        for address in ["mo@example.org", "nobody@example.org"] {
            let entry = try #require(all[address])
            #expect(entry["userIdentity"].keys == ["nameComponents", "lookupInfo"])
            #expect(entry["userIdentity"]["nameComponents"].keys == [])
            #expect(entry["type"].string == "USER")
            #expect(entry["acceptanceStatus"].string == "INVITED")
        }
        #expect(all["mo@example.org"]?["permission"].string == "READ_WRITE")
        #expect(all["+49301234 56".replacing(" ", with: "")]?["permission"].string == "READ_ONLY")
        let named = try #require(all[eve.name])
        #expect(named["type"].string == "ADMINISTRATOR")
        #expect(named["userIdentity"]["nameComponents"].keys == [])
    }

    @Test("A list replaces the former one; entries are matched by id, then name, then address")
    func replacing() throws {
        let first = try ida.shareNote(participants: [
            invitation(email: "mo@example.org"), invitation(user: eve.name),
            invitation(phone: "+4930123456"),
        ]).participants
        let id = { (key: String) in first[key]?["participantId"].string ?? "" }
        let second = try ida.changeShare(participants: [
            invitation(id: id("mo@example.org"), permission: "READ_ONLY"),
            invitation(user: eve.name, type: "ADMINISTRATOR"),
            invitation(phone: "+49 30 12 34 56", permission: "NONE"),
        ]).participants
        #expect(second["mo@example.org"]?["permission"].string == "READ_ONLY")
        #expect(second[eve.name]?["type"].string == "ADMINISTRATOR")
        #expect(second["+4930123456"]?["permission"].string == "NONE")
        for key in ["mo@example.org", eve.name, "+4930123456"] {
            #expect(second[key]?["participantId"].string == id(key))
        }
        let same = try ida.changeShare(publicPermission: "READ_ONLY")
        #expect(same["participants"].elements.count == 4)
        let third = try ida.changeShare(participants: [invitation(email: "MO@example.org")])
        #expect(third["participants"].elements.count == 2)
        #expect(third.participants["mo@example.org"]?["permission"].string == "READ_WRITE")
        let fourth = try ida.changeShare(participants: [])
        #expect(fourth["participants"].elements.map { $0["type"].string } == ["OWNER"])
    }

    @Test("The owner is neither removed nor doubled nor changed, by whatever they are named")
    func owner() throws {
        let share = try ida.shareNote(participants: [
            invitation(email: "IDA@example.org", permission: "READ_ONLY"),
            invitation(user: ida.name, permission: "NONE", type: "USER"),
        ])
        let owner = share["owner"]
        #expect(share["participants"].raw == "[\(owner.raw)]")
        let id = owner["participantId"].string ?? ""
        let again = try ida.changeShare(participants: [
            invitation(id: id, permission: "NONE", type: "PUBLIC_USER"), owner.raw, owner.raw,
        ])
        #expect(again["participants"].raw == "[\(owner.raw)]")
        let second = try ida.changeShare(participants: [
            invitation(user: mo.name, type: "OWNER")
        ])
        #expect(second.code == "BAD_REQUEST" && second.reason.contains("one owner"))
    }

    @Test("The owner may be sent by an alias, or by the role alone, as clients do that make shares")
    func ownerAlias() throws {
        let aliases = ["__defaultOwner__", "_defaultOwner"].flatMap { name in
            ["OWNER", "USER", nil].map {
                invitation(user: name, permission: "READ_WRITE", type: $0)
            }
        }
        let nameless = [
            invitation(type: "OWNER"), invitation(id: "made-by-the-client", type: "OWNER"),
            invitation(type: "OWNER", more: #""userIdentity":{"lookupInfo":{}}"#),
            invitation(
                type: "OWNER",
                more: #""userIdentity":{"lookupInfo":{"userRecordName":"__defaultOwner__"}}"#),
        ]
        let share = try ida.shareNote(
            participants: aliases + nameless + [invitation(email: "mo@example.org")])
        #expect(share.code == nil, "\(share.raw)")
        #expect(share["participants"].elements.map { $0["type"].string } == ["OWNER", "USER"])
        #expect(share["owner"]["userIdentity"]["userRecordName"].string == ida.name)
        for owner in aliases + nameless {
            let again = try ida.changeShare(participants: [owner])
            #expect(again["participants"].raw == "[\(share["owner"].raw)]", "\(owner)")
        }
        // By an administrator's hand it is the owner of the zone too, not who sends it.
        _ = try ida.changeShare(participants: [invitation(user: mo.name, type: "ADMINISTRATOR")])
        _ = try mo.accept(share.shortGUID)
        let tag = try seen(by: mo).tag
        let changed = try modify(
            by: mo,
            shareOperation(
                "update", "note-share",
                participants: [
                    aliases[0], invitation(user: mo.name), invitation(user: eve.name, type: "USER"),
                ], tag: tag)
        ).records[0]
        #expect(
            changed["participants"].elements.map { $0["type"].string }
                == ["OWNER", "ADMINISTRATOR", "USER"], "\(changed.raw)")
        #expect(changed["owner"]["userIdentity"]["userRecordName"].string == ida.name)
        // Somebody with a name is not the owner, whatever they are called.
        #expect(
            try ida.changeShare(participants: [
                invitation(email: "x@y.example", type: "OWNER")
            ]).reason.contains("one owner"))
    }

    @Test("The whole list sent back as it was answered changes nothing, status and all")
    func echo() throws {
        let share = try ida.shareNote(
            publicPermission: "READ_WRITE", participants: [invitation(email: "mo@example.org")])
        #expect(try mo.accept(share.shortGUID).status == 200)
        #expect(try eve.accept(share.shortGUID).status == 200)
        let before = try ida.record("note-share")
        let entries = before["participants"].elements.map(\.raw)
        #expect(entries.count == 3)
        let after = try ida.changeShare(participants: entries)
        #expect(after["participants"].raw == before["participants"].raw)
        let lies = entries.map {
            $0.replacing("ACCEPTED", with: "REMOVED").replacing("INVITED", with: "ACCEPTED")
        }
        let unmoved = try ida.changeShare(participants: lies)
        #expect(unmoved["participants"].raw == before["participants"].raw)
        #expect(try seen(by: mo).code == nil && seen(by: eve).code == nil)
        let odd = try ida.changeShare(participants: [
            invitation(email: "x@y.example", more: #""acceptanceStatus":"PENDING","customRole":7"#)
        ])
        #expect(odd.participants["x@y.example"]?["acceptanceStatus"].string == "INVITED")
    }

    @Test("A share has a bounded number of participants, its owner not counted")
    func limit() throws {
        let people = (1...5).map { invitation(email: "p\($0)@example.org") }
        try ida.make("Shelf")
        let refused = try ida.modify([
            operation("create", "n"),
            shareOperation("create", "s", root: "n", participants: people),
        ]).records[1]
        #expect(refused.code == "BAD_REQUEST")
        #expect(
            refused.reason.contains("at most 4")
                && refused.reason.contains("limits.participantsPerShareMax"))
        let share = try ida.shareNote(
            publicPermission: "READ_ONLY", participants: Array(people.prefix(4)))
        #expect(share["participants"].elements.count == 5)
        let full = try mo.accept(share.shortGUID)
        #expect(full.status == 400 && full.reason.contains("limits.participantsPerShareMax"))
    }

    @Test("What names nobody, or means nothing, is refused with the key that is wrong")
    func badEntries() throws {
        try ida.shareNote()
        for (entry, word) in [
            ("{}", "userIdentity"), (invitation(id: "gone"), "userIdentity"),
            (invitation(email: "no address"), "emailAddress"),
            (invitation(phone: "12"), "phoneNumber"), (invitation(user: "mo"), "userRecordName"),
            (invitation(email: "a@b.example", type: "PUBLIC_USER"), "PUBLIC_USER"),
        ] {
            let refused = try ida.changeShare(participants: [entry])
            #expect(refused.code == "BAD_REQUEST" && refused.reason.contains(word), "\(entry)")
        }
        let tag = try ida.record("note-share").tag
        for entry in [
            "7", "null", #"{"permission":"ALL"}"#, #"{"type":"BOSS"}"#, #"{"userIdentity":1}"#,
            #"{"acceptanceStatus":"MAYBE"}"#, #"{"participantId":5}"#,
            #"{"userIdentity":{"lookupInfo":{"emailAddress":5}}}"#,
        ] {
            let refused = try ida.modify([
                shareOperation("update", "note-share", participants: [entry], tag: tag)
            ])
            #expect(refused.status == 400 && refused.code == "BAD_REQUEST", "\(entry)")
        }
        #expect(try ida.record("note-share").tag == tag)
    }

    // MARK: - What each sees

    @Test(
        "The owner sees all, readers see themselves and the owner, writers names, but no addresses")
    func rendering() throws {
        let share = try ida.shareNote(participants: [
            invitation(email: "mo@example.org", permission: "READ_ONLY"),
            invitation(email: "eve@example.org"), invitation(email: "nobody@example.org"),
        ])
        for client in [mo, eve] { #expect(try client.accept(share.shortGUID).status == 200) }

        let owners = try ida.record("note-share")
        #expect(owners["participants"].elements.count == 4)
        let linked = try #require(owners.participants["mo@example.org"]?["userIdentity"])
        #expect(linked["userRecordName"].string == mo.name)
        #expect(linked["nameComponents"]["givenName"].string == "Mo")

        let readers = try seen(by: mo)
        #expect(readers["participants"].elements.map { $0["type"].string } == ["OWNER", "USER"])
        #expect(readers["currentUserParticipant"].raw == readers["participants"][1].raw)
        let own = readers["currentUserParticipant"]["userIdentity"]
        #expect(own["lookupInfo"]["emailAddress"].string == "mo@example.org")
        for word in ["eve@", "ida@", "nobody@", "Eve", eve.name] {
            #expect(!readers.raw.contains(word), "\(word)")
        }
        let writers = try seen(by: eve)
        #expect(writers["participants"].elements.count == 4)
        #expect(writers.raw.contains("\"givenName\":\"Mo\""))
        for word in ["mo@", "ida@", "nobody@"] { #expect(!writers.raw.contains(word), "\(word)") }

        let feed = try mo.send(
            "shared/changes/zone",
            "{\"zones\":[{\"zoneID\":{\"zoneName\":\"Shelf\",\"ownerRecordName\":\"\(ida.name)\"}}]}"
        )
        let shown = feed.zones[0]["records"].elements.first { $0.name == "note-share" }
        #expect(shown?.raw == readers.raw)
        #expect(try ida.changes()["records"].elements.contains { $0.raw == owners.raw })
        // Whoever is shown in a conflict is shown as anywhere else.
        let conflict = try modify(
            by: eve, shareOperation("forceUpdate", "note-share", tag: "zz")
        ).records[0]
        #expect(conflict.code == "CONFLICT" && conflict["serverRecord"].raw == writers.raw)
    }

    @Test("An invitation that was not accepted is no name in anybody's list")
    func namesOfInvited() throws {
        let share = try ida.shareNote(participants: [invitation(user: mo.name)])
        let entry = try #require(share.participants[mo.name])
        #expect(!entry.raw.contains("Roe"))
        let resolved = try mo.resolve(share.shortGUID).json["results"][0]["share"]
        #expect(
            resolved["currentUserParticipant"]["userIdentity"]["nameComponents"].keys.count == 2)
    }

    // MARK: - Permissions

    @Test("Only the owner changes a share, and administrators its participants")
    func editing() throws {
        let share = try ida.shareNote(participants: [
            invitation(user: mo.name, permission: "READ_ONLY", type: "ADMINISTRATOR"),
            invitation(user: eve.name),
        ])
        for client in [mo, eve] { #expect(try client.accept(share.shortGUID).status == 200) }
        let tag = try seen(by: mo).tag
        let writer = try modify(
            by: eve, shareOperation("update", "note-share", publicPermission: "READ_ONLY", tag: tag)
        ).records[0]
        #expect(writer.code == "ACCESS_DENIED")
        let titled = try modify(
            by: mo,
            shareOperation(
                "update", "note-share", tag: tag, fields: #"{"cloudkit.title":{"value":"Mine"}}"#)
        ).records[0]
        #expect(titled.code == "ACCESS_DENIED" && titled.reason.contains("administrators"))
        let promoted = try modify(
            by: mo,
            shareOperation(
                "update", "note-share",
                participants: try seen(by: mo)["participants"].elements.map(\.raw)
                    + [invitation(email: "new@example.org", type: "ADMINISTRATOR")], tag: tag)
        ).records[0]
        #expect(promoted.code == "ACCESS_DENIED" && promoted.reason.contains("only the owner"))
        let entries = try seen(by: mo)["participants"].elements
        #expect(entries.count == 3)
        let kept = entries.filter { $0["userIdentity"]["userRecordName"].string != eve.name }
        let changed = try modify(
            by: mo,
            shareOperation(
                "update", "note-share", publicPermission: "READ_ONLY",
                participants: kept.map(\.raw) + [invitation(email: "new@example.org")], tag: tag)
        ).records[0]
        #expect(changed.code == nil && changed["publicPermission"].string == "READ_ONLY")
        #expect(changed["participants"].elements.count == 3)
        #expect(!changed.raw.contains("new@example.org"))
        #expect(try ida.record("note-share").participants["new@example.org"] != nil)
        #expect(try seen(by: eve).code != nil)
        let made = try modify(by: mo, shareOperation("create", "own", root: "note")).records[0]
        #expect(made.code == "BAD_REQUEST" && made.reason.contains("private database"))
        #expect(try server.problems() == [])
    }

    @Test("The public permission: those who came by the link follow it, and go when it ends")
    func publicPermission() throws {
        let share = try ida.shareNote(
            publicPermission: "READ_ONLY",
            participants: [invitation(email: "mo@example.org", permission: "READ_WRITE")])
        #expect(try eve.accept(share.shortGUID).status == 200)
        let child = operation("create", "child", more: #""parent":{"recordName":"note"}"#)
        #expect(try modify(by: eve, child).records[0].code == "ACCESS_DENIED")
        let open = try ida.changeShare(publicPermission: "READ_WRITE")
        #expect(open.participants[eve.name]?["type"].string == "PUBLIC_USER")
        #expect(open.participants[eve.name]?["permission"].string == "READ_WRITE")
        #expect(open.participants["mo@example.org"]?["acceptanceStatus"].string == "INVITED")
        #expect(try modify(by: eve, child).records[0].code == nil)
        #expect(try mo.accept(share.shortGUID).status == 200)
        let closed = try ida.changeShare(publicPermission: "NONE")
        #expect(closed.participants[eve.name] == nil)
        #expect(closed.participants["mo@example.org"]?["acceptanceStatus"].string == "ACCEPTED")
        #expect(try seen(by: eve).code != nil && seen(by: mo).code == nil)
        #expect(try eve.resolve(share.shortGUID).status == 404)
        #expect(try server.problems() == [])
    }

    @Test("A permission of NONE takes access away, and READ_ONLY gives it back")
    func noPermission() throws {
        let share = try ida.shareNote(participants: [invitation(user: mo.name)])
        #expect(try mo.accept(share.shortGUID).status == 200)
        _ = try ida.changeShare(participants: [invitation(user: mo.name, permission: "NONE")])
        #expect(try seen(by: mo).code != nil)
        #expect(try mo.resolve(share.shortGUID).status == 404)
        _ = try ida.changeShare(participants: [invitation(user: mo.name, permission: "READ_ONLY")])
        #expect(try seen(by: mo, "note").code == nil)
        #expect(
            try modify(by: mo, operation("forceUpdate", "note", type: "Note", fields: "{}"))
                .records[0].code == "ACCESS_DENIED")
    }

    // MARK: - Going

    @Test("Leaving shows as REMOVED, twice is once, and whoever is invited still may come back")
    func leaving() throws {
        let share = try ida.shareNote(participants: [
            invitation(user: mo.name, permission: "READ_ONLY"), invitation(user: eve.name),
        ])
        for client in [mo, eve] { #expect(try client.accept(share.shortGUID).status == 200) }
        let tag = try ida.record("note-share").tag
        let root = try ida.record("note").raw
        for kind in ["delete", "forceDelete", "delete"] {
            let left = try modify(by: mo, operation(kind, "note-share", type: nil))
            #expect(
                left.text == #"{"records":[{"recordName":"note-share","deleted":true}]}"#, "\(kind)"
            )
        }
        let after = try ida.record("note-share")
        #expect(after.participants[mo.name]?["acceptanceStatus"].string == "REMOVED")
        #expect(after.tag != tag && after["modified"]["userRecordName"].string == ida.name)
        #expect(try ida.record("note").raw == root)
        #expect(try seen(by: mo, "note").code != nil && seen(by: eve, "note").code == nil)
        // Deleting children needs access, which is gone.
        #expect(
            try modify(by: mo, operation("forceDelete", "note", type: nil)).code == "ZONE_NOT_FOUND"
        )
        #expect(
            try mo.resolve(share.shortGUID).json["results"][0]["participantStatus"].string
                == "REMOVED")
        #expect(try mo.accept(share.shortGUID).status == 200)
        #expect(try seen(by: mo, "note").code == nil)
        #expect(try server.problems() == [])
    }

    @Test("Whoever the owner removes is a stranger, to the records and to the link")
    func removal() throws {
        let share = try ida.shareNote(participants: [invitation(email: "mo@example.org")])
        #expect(try mo.accept(share.shortGUID).status == 200)
        _ = try ida.changeShare(participants: [])
        #expect(try seen(by: mo).code != nil)
        let stranger = try eve.resolve(share.shortGUID)
        for answer in [try mo.resolve(share.shortGUID), try mo.accept(share.shortGUID)] {
            #expect(answer.status == 404 && answer.reason == stranger.reason)
        }
        let never = try eve.send(
            "shared/records/modify",
            "{\"zoneID\":{\"zoneName\":\"Shelf\",\"ownerRecordName\":\"\(ida.name)\"},\"operations\":["
                + operation("delete", "note-share", type: nil) + "]}")
        let removed = try modify(by: mo, operation("delete", "note-share", type: nil))
        #expect(never.status == 404 && removed.status == 404 && never.reason == removed.reason)
    }

    @Test("To delete by force what is out of sight does what it does when nothing is there")
    func outOfSight() throws {
        let share = try ida.shareNote(participants: [invitation(user: mo.name)])
        #expect(try mo.accept(share.shortGUID).status == 200)
        try ida.save("secret")
        let both = try modify(
            by: mo, operation("forceDelete", "secret", type: nil),
            operation("forceDelete", "missing", type: nil))
        #expect(
            both.records.map { $0.raw.replacing("secret", with: "missing") }
                == [both.records[1].raw, both.records[1].raw])
        #expect(both.records[1]["deleted"].bool == true)
        #expect(try ida.record("secret").code == nil)
    }
}
