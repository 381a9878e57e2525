import Testing

/// Making, changing and ending shares (rulings.md 17, 34 and 38; web-services.md §5.12).
@Suite("Shares of trees and zones")
struct ShareTests {
    let server: WireServer
    let ida: WireClient
    let mo: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user("ida")
        mo = try server.user("mo")
        try ida.make("Shelf")
    }

    private func zoneID(_ name: String = "Shelf") -> String {
        "{\"zoneName\":\"\(name)\",\"ownerRecordName\":\"\(ida.name)\","
            + "\"zoneType\":\"REGULAR_CUSTOM_ZONE\"}"
    }

    // MARK: - Short identifiers

    @Test("A record saved with createShortGUID shows 25 URL-safe characters, and keeps them")
    func shortGUIDs() throws {
        let made = try ida.save("note", more: #""createShortGUID":true"#)
        let guid = made.shortGUID
        #expect(guid.utf8.count == 25)
        #expect(
            guid.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            })
        #expect(try ida.record("note").shortGUID == guid)
        #expect(try ida.save("note").shortGUID == guid)
        #expect(
            try ida.save("note", more: #""shortGUID":"forged","share":{"recordName":"x"}"#)
                .shortGUID == guid)
        #expect(try !ida.record("note")["share"].exists)
        let other = try ida.save("other", more: #""createShortGUID":true"#).shortGUID
        #expect(other != guid)
        #expect(try !ida.save("plain")["shortGUID"].exists)
        #expect(
            try !mo.save("n", zone: nil, in: "public", more: #""createShortGUID":true"#)[
                "shortGUID"
            ].exists)
        let bad = try ida.modify([operation("create", "x", more: #""createShortGUID":1"#)])
        #expect(bad.status == 400 && bad.reason.contains("createShortGUID"))
    }

    @Test("A root keeps its short identifier when sharing ends and begins again")
    func stableShortGUID() throws {
        let guid = try ida.save("note", more: #""createShortGUID":true"#).shortGUID
        let tag = try ida.record("note").tag
        let first = try ida.modify([shareOperation("create", "s1", root: "note", rootTag: tag)])
        #expect(first.records[0].shortGUID == guid)
        try ida.delete("s1")
        let between = try ida.record("note")
        #expect(between.shortGUID == guid && !between["share"].exists)
        let second = try ida.modify([
            shareOperation("create", "s2", root: "note", rootTag: between.tag)
        ])
        #expect(second.records[0].shortGUID == guid)
        #expect(try ida.record("note")["share"]["recordName"].string == "s2")
    }

    // MARK: - Creation

    @Test("Root and share come in one batch: both are answered as they are then")
    func oneBatch() throws {
        let answer = try ida.modify([
            operation("create", "note", type: "Note"),
            shareOperation("create", "s", root: "note", publicPermission: "READ_ONLY"),
        ])
        let (root, share) = (answer.records[0], answer.records[1])
        let guid = root.shortGUID
        #expect(root["share"].raw == "{\"recordName\":\"s\",\"zoneID\":\(zoneID())}")
        #expect(
            root.keys == [
                "recordName", "recordType", "fields", "pluginFields", "recordChangeTag", "created",
                "modified", "deleted", "zoneID", "share", "shortGUID",
            ])
        #expect(
            share.keys == [
                "recordName", "recordType", "fields", "pluginFields", "recordChangeTag", "created",
                "modified", "deleted", "zoneID", "shortGUID", "publicPermission", "participants",
                "owner", "currentUserParticipant",
            ])
        #expect(guid.utf8.count == 25 && share.shortGUID == guid)
        #expect(share["publicPermission"].string == "READ_ONLY")
        let id = share["owner"]["participantId"].string ?? ""
        let owner =
            "{\"participantId\":\"\(id)\",\"userIdentity\":{\"userRecordName\":\"\(ida.name)\","
            + "\"nameComponents\":{\"givenName\":\"Ida\",\"familyName\":\"Roe\"}},"
            + "\"type\":\"OWNER\",\"acceptanceStatus\":\"ACCEPTED\",\"permission\":\"READ_WRITE\"}"
        #expect(share["owner"].raw == owner)
        #expect(share["participants"].raw == "[\(owner)]")
        #expect(share["currentUserParticipant"].raw == owner)
        #expect(try ida.record("s").raw == share.raw)
        #expect(try ida.record("note").raw == root.raw)
        let feed = try ida.changes()["records"].elements
        #expect(Set(feed.map(\.raw)) == [root.raw, share.raw])
    }

    @Test("The share may stand before its root, and without a name gets one")
    func shareFirst() throws {
        let answer = try ida.modify([
            shareOperation("create", nil, root: "note"), operation("create", "note"),
        ])
        let (share, root) = (answer.records[0], answer.records[1])
        #expect(share.code == nil && root.code == nil)
        #expect(root["share"]["recordName"].string == share.name)
        #expect(share.name?.utf8.count == 36)
        #expect(root.shortGUID == share.shortGUID)
    }

    @Test("Sharing a stored root moves its tag and puts it in the feed, as ending the share does")
    func storedRoot() throws {
        let before = try ida.save("note", #"{"a":{"value":1}}"#)
        try ida.save("child", more: #""parent":{"recordName":"note"}"#)
        let token = try #require(ida.changes()["syncToken"].string)
        _ = try ida.modify([shareOperation("create", "s", root: "note", rootTag: before.tag)])
        let shared = try ida.record("note")
        #expect(shared.tag != before.tag && shared["share"]["recordName"].string == "s")
        #expect(shared["modified"].raw == before["modified"].raw)
        #expect(shared["fields"].raw == before["fields"].raw)
        let page = try ida.changes(after: token)
        #expect(Set(page["records"].elements.map(\.name)) == ["note", "s"])
        let next = try #require(page["syncToken"].string)

        #expect(try ida.delete("s").raw == #"{"recordName":"s","deleted":true}"#)
        let ended = try ida.record("note")
        #expect(ended.tag != shared.tag && !ended["share"].exists)
        #expect(ended.shortGUID == shared.shortGUID)
        let last = try ida.changes(after: next)["records"].elements
        #expect(Set(last.map(\.name)) == ["note", "s"])
        #expect(last.first { $0.name == "s" }?["deleted"].bool == true)
        // A root as it was while shared is another version now.
        let stale = try ida.modify([
            shareOperation("create", "s2", root: "note", rootTag: shared.tag)
        ]).records[0]
        #expect(stale.code == "CONFLICT" && stale["serverRecord"].tag == ended.tag)
        #expect(try server.problems() == [])
    }

    @Test("A save of a root or a child leaves the share, and shows it")
    func savesOfRoot() throws {
        try ida.shareNote()
        let root = try ida.record("note")
        let saved = try ida.modify([
            operation("update", "note", type: nil, fields: #"{"a":{"value":2}}"#, tag: root.tag)
        ]).records[0]
        #expect(saved["share"].raw == root["share"].raw && saved.shortGUID == root.shortGUID)
        let replaced = try ida.save("note", type: "Note")
        #expect(replaced["share"].raw == root["share"].raw)
        let token = try #require(ida.changes()["syncToken"].string)
        try ida.save("child", more: #""parent":{"recordName":"note"}"#)
        #expect(try ida.changes(after: token)["records"].elements.map(\.name) == ["child"])
    }

    @Test("A whole zone is shared by one record of a fixed name, beside no other share")
    func zoneShare() throws {
        let share = try ida.modify([
            shareOperation("create", "cloudkit.zoneshare", publicPermission: "READ_WRITE")
        ]).records[0]
        #expect(share.code == nil && share.shortGUID.utf8.count == 25)
        let again = try ida.modify([shareOperation("create", "cloudkit.zoneshare")]).records[0]
        #expect(again.code == "CONFLICT" && again["serverRecord"].raw == share.raw)
        let tree = try ida.modify([
            operation("create", "note"), shareOperation("create", "s", root: "note"),
        ]).records[1]
        #expect(tree.code == "BAD_REQUEST" && tree.reason.contains("zone is shared as a whole"))
        try ida.delete("cloudkit.zoneshare")
        try ida.shareNote()
        let beside = try ida.modify([shareOperation("create", "cloudkit.zoneshare")]).records[0]
        #expect(beside.code == "BAD_REQUEST" && beside.reason.contains("shared already"))
        try ida.delete("note-share")
        let back = try ida.modify([shareOperation("create", "cloudkit.zoneshare")]).records[0]
        #expect(back.shortGUID == share.shortGUID)
        try ida.make("Both")
        let both = try ida.modify(
            [
                operation("create", "note"), shareOperation("create", "s", root: "note"),
                shareOperation("create", "cloudkit.zoneshare"),
            ], zone: "Both")
        #expect(both.records.map(\.code) == ["ATOMIC_ERROR", "ATOMIC_ERROR", "BAD_REQUEST"])
        let rooted = try ida.modify(
            [
                operation("create", "note"),
                shareOperation("create", "cloudkit.zoneshare", root: "note"),
            ], zone: "Both"
        ).records[1]
        #expect(rooted.code == "BAD_REQUEST" && rooted.reason.contains("forRecord"))
        let plain = try ida.modify([operation("create", "cloudkit.zoneshare")], zone: "Both")
        #expect(plain.records[0].code == "BAD_REQUEST")
    }

    @Test("The well-known fields have their types, other types of record cannot have them")
    func fields() throws {
        let share = try ida.shareNote()
        let changed = try ida.changeShare(
            fields:
                #"{"cloudkit.title":{"value":"Tea notes"},"cloudkit.type":{"value":"org.example.note"},"#
                + #""cloudkit.thumbnailImageData":{"value":"AAEC","type":"BYTES"},"own":{"value":7}}"#
        )
        #expect(changed.code == nil && changed.tag != share.tag)
        #expect(changed["fields"]["cloudkit.title"]["value"].string == "Tea notes")
        #expect(changed["fields"]["own"]["value"].int == 7)
        let wrong = try ida.changeShare(fields: #"{"cloudkit.title":{"value":5}}"#)
        #expect(wrong.code == "BAD_REQUEST" && wrong.reason.contains("expected type STRING"))
        let elsewhere = try ida.save("cup", #"{"cloudkit.title":{"value":"x"}}"#)
        #expect(elsewhere.code == "BAD_REQUEST" && elsewhere.reason.contains("cloudkit.share"))
        let desired = try ida.lookup(["note-share"], more: #""desiredKeys":["own"]"#).records[0]
        #expect(desired["fields"].keys == ["own"] && desired["participants"].elements.count == 1)
    }

    @Test("In production a share has its well-known fields; others must have been deployed")
    func production() throws {
        let ida = try server.user("ida", WireServer.tea, .production)
        try ida.make("Shelf")
        let refused = try ida.modify([
            shareOperation("create", "cloudkit.zoneshare", fields: #"{"own":{"value":1}}"#)
        ]).records[0]
        #expect(refused.code == "BAD_REQUEST" && refused.reason.contains("field 'own'"))
        let made = try ida.modify([
            shareOperation(
                "create", "cloudkit.zoneshare", fields: #"{"cloudkit.title":{"value":"Tea"}}"#)
        ]).records[0]
        #expect(made["fields"]["cloudkit.title"]["value"].string == "Tea")
    }

    // MARK: - Refusals

    @Test("Without a root there is nothing to share, whatever the spelling of the type")
    func noRoot() throws {
        let nothing = "Cannot share - no such record exists to share"
        for type in ["cloudKit.share", "cloudkit.Share", "cloudKit.shared", "CLOUDKIT.SHARE"] {
            let refused = try ida.modify([
                operation("create", "note"),
                shareOperation("create", "s", root: "note", type: type),
            ]).records[1]
            #expect(refused.code == "BAD_REQUEST" && refused.reason.hasPrefix(nothing), "\(type)")
        }
        for share in [
            shareOperation("create", "s"), shareOperation("create", "s", root: "missing"),
            shareOperation("create", "s", root: "s"),
            shareOperation("forceReplace", "s", root: "missing", rootTag: "1"),
        ] {
            let refused = try ida.modify([share]).records[0]
            #expect(refused.code == "BAD_REQUEST" && refused.reason.hasPrefix(nothing), "\(share)")
        }
        try ida.save("gone")
        let deleted = try ida.modify([
            operation("forceDelete", "gone", type: nil),
            shareOperation("create", "s", root: "gone"),
        ])
        #expect(deleted.records.map(\.code) == ["ATOMIC_ERROR", "BAD_REQUEST"])
        let share = try ida.shareNote()
        let ofShare = try ida.modify([
            shareOperation("create", "t", root: "note-share", rootTag: share.tag)
        ]).records[0]
        #expect(ofShare.code == "BAD_REQUEST" && ofShare.reason.contains("a share itself"))
        for text in [#""forRecord":7"#, #""forRecord":{}"#, #""forRecord":{"recordName":1}"#] {
            let refused = try ida.modify([shareOperation("create", "s", more: text)])
            #expect(refused.status == 400 && refused.reason.contains("Unexpected input"), "\(text)")
        }
    }

    @Test("A root's tag is compared with the one before the batch")
    func rootTags() throws {
        let tag = try ida.save("note").tag
        let missing = try ida.modify([shareOperation("create", "s", root: "note")]).records[0]
        #expect(missing.code == "BAD_REQUEST" && missing.reason.contains("recordChangeTag"))
        let stale = try ida.modify([shareOperation("create", "s", root: "note", rootTag: "zz")])
        #expect(stale.records[0].code == "CONFLICT")
        #expect(stale.records[0]["serverRecord"].name == "note")
        let new = try ida.modify([
            operation("create", "new"), shareOperation("create", "s", root: "new", rootTag: "1"),
        ]).records[1]
        #expect(new.code == "CONFLICT" && !new["serverRecord"].exists)
        let good = try ida.modify([
            operation("update", "note", fields: #"{"a":{"value":1}}"#, tag: tag),
            shareOperation("create", "s", root: "note", rootTag: tag),
        ])
        #expect(good.records.map(\.code) == [nil, nil])
        #expect(good.records[0]["share"]["recordName"].string == "s")
    }

    @Test("A root that is shared already is a conflict that shows it")
    func sharedAlready() throws {
        try ida.shareNote()
        let root = try ida.record("note")
        let again = try ida.modify([
            shareOperation("create", "s2", root: "note", rootTag: root.tag)
        ]).records[0]
        #expect(again.code == "CONFLICT" && again["serverRecord"].raw == root.raw)
        try ida.save("other")
        let twice = try ida.modify([
            operation("create", "new"), shareOperation("create", "a", root: "new"),
            shareOperation("create", "b", root: "new"),
        ])
        #expect(twice.records.map(\.code) == ["ATOMIC_ERROR", "ATOMIC_ERROR", "BAD_REQUEST"])
        let swapped = try ida.modify([
            operation("forceDelete", "note-share", type: nil),
            shareOperation("create", "s2", root: "note", rootTag: root.tag),
        ])
        #expect(swapped.records.map(\.code) == [nil, nil])
        #expect(try ida.record("note")["share"]["recordName"].string == "s2")
        #expect(try server.problems() == [])
    }

    @Test("Trees cannot overlap: neither by a new share nor by moving records")
    func overlapping() throws {
        let parent = { (name: String) in "\"parent\":{\"recordName\":\"\(name)\"}" }
        try ida.save("top")
        try ida.save("middle", more: parent("top"))
        try ida.save("leaf", more: parent("middle"))
        func share(_ name: String, _ root: String) throws -> AnswerPart {
            try ida.modify([
                shareOperation(
                    "create", name, root: root, rootTag: try ida.record(root).tag)
            ]).records[0]
        }
        #expect(try share("s", "middle").code == nil)
        let above = try share("t", "top")
        #expect(above.code == "BAD_REQUEST" && above.reason.contains("'middle' below it"))
        let below = try share("t", "leaf")
        #expect(below.code == "BAD_REQUEST" && below.reason.contains("'middle' above it"))

        try ida.save("island")
        try ida.save("hut", more: parent("island"))
        #expect(try share("t", "hut").code == nil)
        for name in ["hut", "island"] {
            let moved = try ida.save(name, more: parent("leaf"))
            #expect(moved.code == "BAD_REQUEST" && moved.reason.contains("shared trees"))
        }
        // A shared root may lie below what is not shared.
        try ida.save("sea")
        #expect(try ida.save("island", more: parent("sea")).code == nil)
        #expect(try ida.save("hut", more: parent("sea")).code == nil)
        // Within one batch, too.
        let batch = try ida.modify([
            operation("create", "a"), operation("create", "b", more: parent("a")),
            shareOperation("create", "sa", root: "a"), shareOperation("create", "sb", root: "b"),
        ])
        #expect(
            batch.records.map(\.code) == [
                "ATOMIC_ERROR", "ATOMIC_ERROR", "ATOMIC_ERROR", "BAD_REQUEST",
            ])
        // What is freed in the same batch does not stand in the way.
        let freed = try ida.modify([
            operation("forceDelete", "s", type: nil),
            shareOperation("create", "u", root: "top", rootTag: try ida.record("top").tag),
        ])
        #expect(freed.records.map(\.code) == [nil, nil])
        #expect(try server.problems() == [])
    }

    @Test("A record cannot come to lie below itself")
    func cycles() throws {
        let parent = { (name: String) in "\"parent\":{\"recordName\":\"\(name)\"}" }
        try ida.save("a")
        try ida.save("b", more: parent("a"))
        try ida.save("c", more: parent("b"))
        for name in ["b", "c"] {
            let refused = try ida.save("a", more: parent(name))
            #expect(
                refused.code == "BAD_REQUEST" && refused.reason.contains("below the record itself"))
        }
        let batch = try ida.modify([
            operation("create", "x", more: parent("y")),
            operation("create", "y", more: parent("x")),
        ])
        #expect(batch.records.map(\.code) == ["BAD_REQUEST", "BAD_REQUEST"])
        #expect(try ida.record("a")["parent"].exists == false)
    }

    @Test("The default zone, the public and the shared database have no shares")
    func locations() throws {
        try ida.save("note", zone: nil)
        let tag = try ida.record("note", zone: nil).tag
        let inDefault = try ida.modify(
            [shareOperation("create", "s", root: "note", rootTag: tag)], zone: nil
        ).records[0]
        #expect(inDefault.code == "BAD_REQUEST" && inDefault.reason.contains("default zone"))
        try ida.save("note", zone: nil, in: "public")
        let inPublic = try ida.modify(
            [shareOperation("create", "s", root: "note", rootTag: "1")], zone: nil, in: "public"
        ).records[0]
        #expect(
            inPublic.code == "BAD_REQUEST" && inPublic.reason.contains("private database"),
            "\(inPublic.raw)")
        let notAtomic = try ida.modify(
            [operation("create", "n"), shareOperation("create", "s", root: "n")], atomic: false)
        #expect(notAtomic.status == 400 && notAtomic.reason.contains("atomic"))
        #expect(try ida.record("n").code == "NOT_FOUND")
        let nested = try ida.modify([
            operation("create", "n"),
            shareOperation("create", "s", root: "n", more: #""parent":{"recordName":"n"}"#),
        ]).records[1]
        #expect(nested.code == "BAD_REQUEST" && nested.reason.contains("parent"))
    }

    @Test("A root of somebody else's, or of another zone, is nothing to share")
    func foreignRoots() throws {
        let share = try ida.shareNote(publicPermission: "READ_WRITE")
        try ida.save("private")
        #expect(try mo.accept(share.shortGUID).status == 200)
        try mo.make("Shelf")
        try mo.make("Attic")
        try mo.save("mine", zone: "Attic")
        let tag = try ida.record("note").tag
        for root in ["note", "private", "mine", "nowhere"] {
            let refused = try mo.modify([
                shareOperation("create", "s", root: root, rootTag: tag)
            ]).records[0]
            #expect(refused.code == "BAD_REQUEST")
            #expect(refused.reason.contains("'\(root)' is not there"), "\(refused.raw)")
        }
        let answers = try ["note", "private", "nowhere"].map { root in
            try mo.modify(
                [shareOperation("create", "s", root: root, rootTag: tag)], zone: nil,
                in: "shared", more: "\"zoneID\":\(zoneID())"
            ).records[0].raw
        }
        #expect(answers[0].contains("private database"))
        #expect(Set(answers).count == 1, "\(answers)")
        #expect(try mo.record("s").code == "NOT_FOUND" && ida.record("s").code == "NOT_FOUND")
    }

    // MARK: - Changes and ends

    @Test("A share is saved over the version that was seen only, by force too")
    func tags() throws {
        let share = try ida.shareNote()
        for kind in ["update", "replace", "forceUpdate", "forceReplace"] {
            let stale = try ida.modify([shareOperation(kind, "note-share", tag: "zz")]).records[0]
            #expect(stale.code == "CONFLICT" && stale["serverRecord"].raw == share.raw, "\(kind)")
        }
        for kind in ["forceUpdate", "forceReplace"] {
            let blind = try ida.modify([shareOperation(kind, "note-share")]).records[0]
            #expect(blind.code == "CONFLICT", "\(kind)")
        }
        let good = try ida.modify([
            shareOperation(
                "forceReplace", "note-share", publicPermission: "READ_ONLY", tag: share.tag)
        ]).records[0]
        #expect(good["publicPermission"].string == "READ_ONLY")
        let kept = try ida.modify([
            shareOperation("update", "note-share", tag: good.tag, type: nil)
        ]).records[0]
        #expect(kept["publicPermission"].string == "READ_ONLY" && kept.shortGUID == share.shortGUID)
        let alone = try ida.modify(
            [
                shareOperation("update", "note-share", publicPermission: "NONE", tag: kept.tag)
            ], atomic: false
        ).records[0]
        #expect(alone["publicPermission"].string == "NONE")
        let stale = try ida.modify([
            operation("delete", "note-share", type: nil, tag: share.tag)
        ]).records[0]
        #expect(stale.code == "CONFLICT")
        let bad = try ida.modify([
            shareOperation("update", "note-share", publicPermission: "ALL", tag: alone.tag)
        ])
        #expect(bad.status == 400 && bad.reason.contains("publicPermission"))
    }

    @Test("Deleting a root deletes its share, alone, by cascade, and with its zone")
    func deletedRoots() throws {
        try ida.shareNote()
        let guid = try ida.record("note").shortGUID
        let token = try #require(ida.changes()["syncToken"].string)
        #expect(try ida.delete("note").raw == #"{"recordName":"note","deleted":true}"#)
        #expect(try ida.record("note-share").code == "NOT_FOUND")
        let gone = try ida.changes(after: token)["records"].elements
        #expect(Set(gone.map(\.name)) == ["note", "note-share"])
        #expect(gone.allSatisfy { $0["deleted"].bool == true })
        #expect(try ida.resolve(guid).status == 404)

        try ida.save("owner")
        let reference = #"{"r":{"value":{"recordName":"owner","action":"DELETE_SELF"}}}"#
        try ida.save("tree", reference)
        let tag = try ida.record("tree").tag
        _ = try ida.modify([shareOperation("create", "s", root: "tree", rootTag: tag)])
        try ida.delete("owner")
        #expect(try ida.lookup(["tree", "s"]).records.map(\.code) == ["NOT_FOUND", "NOT_FOUND"])

        let share = try ida.shareNote("last", as: "last-share", publicPermission: "READ_ONLY")
        #expect(try mo.resolve(share.shortGUID).status == 200)
        try ida.remove("Shelf")
        #expect(try mo.resolve(share.shortGUID).status == 404)
        #expect(try server.problems() == [])
    }

    @Test("Root and share can be deleted in one batch, in either order")
    func deletedTogether() throws {
        for names in [["note", "note-share"], ["note-share", "note"]] {
            try ida.shareNote()
            let answer = try ida.modify(names.map { operation("forceDelete", $0, type: nil) })
            #expect(answer.records.map(\.code) == [nil, nil])
            #expect(try ida.lookup(names).records.map(\.code) == ["NOT_FOUND", "NOT_FOUND"])
        }
        try ida.shareNote()
        let tag = try ida.record("note").tag
        let kept = try ida.modify([
            operation("update", "note", type: nil, fields: #"{"a":{"value":3}}"#, tag: tag),
            operation("forceDelete", "note-share", type: nil),
        ])
        #expect(kept.records.map(\.code) == [nil, nil] && !kept.records[0]["share"].exists)
        #expect(try ida.record("note").raw == kept.records[0].raw)
        #expect(try server.problems() == [])
    }
}
