import Accounts
import Testing

/// Links to shares (rulings.md 37 and 38; web-services.md §4.11 and §5.13).
@Suite("records/resolve and records/accept")
struct ShareLinkTests {
    let server: WireServer
    let ida: WireClient
    let mo: WireClient
    let eve: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user("ida")
        mo = try server.user("mo")
        eve = try server.user("eve")
    }

    private var people: Users { Users(catalog: server.catalog) }

    @Test("A result has every key, in order, and repeats what was asked")
    func resolving() throws {
        let share = try ida.shareNote(participants: [invitation(email: "mo@example.org")])
        let guid = share.shortGUID
        let answer = try mo.resolve(guid)
        #expect(answer.json.keys == ["results"])
        let result = answer.json["results"][0]
        #expect(
            result.keys == [
                "shortGUID", "containerIdentifier", "environment", "databaseScope", "zoneID",
                "rootRecordName", "share", "ownerIdentity", "participantType", "participantStatus",
                "participantPermission", "potentialMatchList",
            ])
        #expect(result["shortGUID"].raw == "{\"value\":\"\(guid)\"}")
        #expect(result["containerIdentifier"].string == WireServer.tea)
        #expect(result["environment"].string == "development")
        #expect(result["databaseScope"].string == "SHARED")
        #expect(
            result["zoneID"].raw
                == "{\"zoneName\":\"Shelf\",\"ownerRecordName\":\"\(ida.name)\",\"zoneType\":\"REGULAR_CUSTOM_ZONE\"}"
        )
        #expect(result["rootRecordName"].string == "note")
        #expect(
            result["ownerIdentity"].raw
                == "{\"userRecordName\":\"\(ida.name)\",\"nameComponents\":{\"givenName\":\"Ida\",\"familyName\":\"Roe\"}}"
        )
        #expect(result["participantType"].string == "USER")
        #expect(result["participantStatus"].string == "INVITED")
        #expect(result["participantPermission"].string == "READ_WRITE")
        #expect(result["potentialMatchList"].raw == "[]")
        #expect(result["share"].name == "note-share" && result["share"].shortGUID == guid)
        #expect(!answer.text.contains("ida@"))
        // Resolving is for information only.
        #expect(try ida.record("note-share").raw == share.raw)
    }

    @Test("The root comes along when asked for, with the fields asked for")
    func roots() throws {
        try ida.make("Shelf")
        try ida.save("above")
        try ida.save(
            "note", #"{"a":{"value":1},"b":{"value":2}}"#, more: #""parent":{"recordName":"above"}"#
        )
        let tag = try ida.record("note").tag
        let guid = try ida.modify([
            shareOperation(
                "create", "s", root: "note", rootTag: tag, publicPermission: "READ_ONLY")
        ]).records[0].shortGUID
        let wanted = #","shouldFetchRootRecord":true,"rootRecordDesiredKeys":["a"]"#
        let result = try mo.resolve(guid, more: wanted).json["results"][0]
        #expect(result["shortGUID"].raw == "{\"value\":\"\(guid)\"\(wanted)}")
        #expect(result["rootRecord"]["fields"].keys == ["a"])
        #expect(!result["rootRecord"]["parent"].exists)
        let own = try ida.resolve(guid, more: #","shouldFetchRootRecord":true"#).json["results"][0]
        #expect(own["databaseScope"].string == "PRIVATE")
        #expect(own["rootRecord"].raw == (try ida.record("note").raw))
        #expect(own["participantType"].string == "OWNER")
        #expect(own["participantStatus"].string == "ACCEPTED")
        #expect(
            try !mo.resolve(guid, more: #","shouldFetchRootRecord":false"#).json["results"][0][
                "rootRecord"
            ].exists)
    }

    @Test("A whole zone has no root: its name stands for it, and keys about roots are ignored")
    func wholeZone() throws {
        try ida.make("Shelf")
        let guid = try ida.modify([
            shareOperation("create", "cloudkit.zoneshare", publicPermission: "READ_ONLY")
        ]).records[0].shortGUID
        let more = #","shouldFetchRootRecord":true"#
        let result = try mo.accept(guid, more: more).json["results"][0]
        #expect(result["rootRecordName"].string == "cloudkit.zoneshare")
        #expect(!result["rootRecord"].exists && result["participantStatus"].string == "ACCEPTED")
    }

    @Test("Who has not joined a public share is a PUBLIC_USER, INVITED, with its permission")
    func publicShares() throws {
        let guid = try ida.shareNote(publicPermission: "READ_WRITE").shortGUID
        let result = try eve.resolve(guid).json["results"][0]
        #expect(result["participantType"].string == "PUBLIC_USER")
        #expect(result["participantStatus"].string == "INVITED")
        #expect(result["participantPermission"].string == "READ_WRITE")
        #expect(!result["share"]["currentUserParticipant"].exists)
        #expect(result["share"]["participants"].elements.map { $0["type"].string } == ["OWNER"])
        let joined = try eve.accept(guid).json["results"][0]
        #expect(joined["participantType"].string == "PUBLIC_USER")
        #expect(joined["participantStatus"].string == "ACCEPTED")
        #expect(joined["share"]["currentUserParticipant"]["permission"].string == "READ_WRITE")
    }

    @Test("Accepting makes the caller a participant; again, and for the owner, it changes nothing")
    func accepting() throws {
        let share = try ida.shareNote(participants: [invitation(email: "mo@example.org")])
        let token = try #require(ida.changes()["syncToken"].string)
        let first = try mo.accept(share.shortGUID).json["results"][0]
        #expect(first["participantStatus"].string == "ACCEPTED")
        #expect(first["databaseScope"].string == "SHARED")
        let page = try ida.changes(after: token)
        #expect(page["records"].elements.map(\.name) == ["note-share"])
        let entry = try #require(page["records"][0].participants["mo@example.org"])
        #expect(entry["acceptanceStatus"].string == "ACCEPTED")
        #expect(page["records"][0]["modified"].raw == share["modified"].raw)
        let next = try #require(page["syncToken"].string)
        #expect(try mo.accept(share.shortGUID).json["results"][0].raw == first.raw)
        let own = try ida.accept(share.shortGUID).json["results"][0]
        #expect(
            own["databaseScope"].string == "PRIVATE" && own["participantType"].string == "OWNER")
        #expect(try ida.changes(after: next)["records"].elements.isEmpty)
        let zones = try mo.send("shared/zones/list", "{}").zones
        #expect(zones.map { $0["zoneID"]["ownerRecordName"].string } == [ida.name])
        #expect(try server.problems() == [])
    }

    @Test("A placeholder waits for whoever comes to have the address, and is theirs for good")
    func placeholders() throws {
        let share = try ida.shareNote(participants: [
            invitation(email: "Mo.Later@example.org"), invitation(phone: "+49 30 123456"),
        ])
        #expect(try mo.resolve(share.shortGUID).status == 404)
        _ = try people.verify(email: "mo@example.org", address: "mo.later@Example.org", now: 1)
        #expect(
            try mo.resolve(share.shortGUID).json["results"][0]["participantStatus"].string
                == "INVITED")
        #expect(try mo.accept(share.shortGUID).status == 200)
        let entry = try #require(ida.record("note-share").participants["mo.later@example.org"])
        #expect(entry["userIdentity"]["userRecordName"].string == mo.name)
        _ = try people.verify(email: "eve@example.org", address: "+4930123456", now: 1)
        #expect(
            try eve.accept(share.shortGUID).json["results"][0]["participantStatus"].string
                == "ACCEPTED")
        #expect(try ida.record("note-share")["participants"].elements.count == 3)
        // An account made for an address that somebody else's entry was for does not get it.
        let late = try server.user("late")
        #expect(try late.resolve(share.shortGUID).status == 404)
    }

    @Test("A bad short identifier beside good ones ends the request, and nothing was joined")
    func allOrNothing() throws {
        let share = try ida.shareNote(participants: [invitation(user: mo.name)])
        let other = try eve.shareNote("theirs", as: "s")
        let good = share.shortGUID
        for bad in ["", "x", String(repeating: "A", count: 25), other.shortGUID, good + "A", "é"] {
            for endpoint in ["resolve", "accept"] {
                for list in [[good, bad], [bad, good]] {
                    let answer = try mo.follow(endpoint, list)
                    #expect(answer.status == 404 && answer.code == "NOT_FOUND", "\(bad)")
                    #expect(answer.reason == "shortGUIDs: no such share")
                    #expect(answer.json.keys == ["uuid", "reason", "serverErrorCode"])
                }
            }
        }
        #expect(try ida.record("note-share").raw == share.raw)
        #expect(try mo.follow("accept", [good, good]).json["results"].elements.count == 2)
        #expect(try mo.follow("resolve", []).text == #"{"results":[]}"#)
    }

    @Test("Only signed-in users follow links, on the public database, in the right shape")
    func callers() throws {
        let guid = try ida.shareNote(publicPermission: "READ_ONLY").shortGUID
        let body = "{\"shortGUIDs\":[{\"value\":\"\(guid)\"}]}"
        for endpoint in ["resolve", "accept"] {
            let path = "records/\(endpoint)"
            #expect(try server.visitor().send("public/\(path)", body).status == 421)
            #expect(try server.key().send("public/\(path)", body).status == 401)
            for database in ["private", "shared"] {
                let answer = try mo.send("\(database)/\(path)", body)
                #expect(answer.status == 400 && answer.reason.contains("endpoint not applicable"))
            }
            for bad in [
                "{}", #"{"shortGUIDs":{}}"#, #"{"shortGUIDs":["x"]}"#, #"{"shortGUIDs":[{}]}"#,
                #"{"shortGUIDs":[{"value":1}]}"#,
                #"{"shortGUIDs":[{"value":"x","shouldFetchRootRecord":1}]}"#,
                #"{"shortGUIDs":[{"value":"x","rootRecordDesiredKeys":"a"}]}"#,
            ] {
                let answer = try mo.send("public/\(path)", bad)
                #expect(answer.status == 400 && answer.code == "BAD_REQUEST", "\(bad)")
            }
            let many = [String](repeating: guid, count: server.limits.operationsPerRequestMax + 1)
            #expect(try mo.follow(endpoint, many).reason.contains("limits.operationsPerRequestMax"))
        }
    }

    @Test("The container's fallback address comes with the short identifier at its end")
    func fallback() throws {
        let guid = try ida.shareNote(publicPermission: "READ_ONLY").shortGUID
        #expect(try !mo.resolve(guid).json["results"][0]["webpageURL"].exists)
        _ = try Containers(catalog: server.catalog).set(
            ["fallbackURL": "https://tea.example/open?share="], of: WireServer.tea)
        for client in [mo, ida] {
            #expect(
                try client.resolve(guid).json["results"][0]["webpageURL"].string
                    == "https://tea.example/open?share=\(guid)")
        }
    }

    @Test("A link of one environment or container leads nowhere in another")
    func elsewhere() throws {
        let guid = try ida.shareNote(publicPermission: "READ_ONLY").shortGUID
        #expect(try server.user("mo", WireServer.mate).resolve(guid).status == 404)
        #expect(try server.user("mo", WireServer.tea, .production).resolve(guid).status == 404)
    }

    @Test("A link leads nowhere once sharing has ended, and again where it led when it begins anew")
    func endings() throws {
        let guid = try ida.shareNote(publicPermission: "READ_ONLY").shortGUID
        #expect(try mo.accept(guid).status == 200)
        try ida.delete("note-share")
        #expect(try mo.resolve(guid).status == 404 && ida.resolve(guid).status == 404)
        let tag = try ida.record("note").tag
        _ = try ida.modify([
            shareOperation(
                "create", "s2", root: "note", rootTag: tag, publicPermission: "READ_ONLY")
        ])
        let result = try mo.resolve(guid).json["results"][0]
        #expect(result["share"].name == "s2" && result["participantType"].string == "PUBLIC_USER")
        #expect(result["participantStatus"].string == "INVITED")
    }
}
