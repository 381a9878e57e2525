import CloudModel
import SQLiteStorage
import Storage
import Testing

/// Who hears of which change, and what it says (web-services.md §9, semantics.md §5, rulings.md 41, 42, 58).
@Suite("Notices of changes")
struct NoticeTests {
    let server: WireServer
    let ida: WireClient
    let bo: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user("ida")
        bo = try server.user("bo")
        try ida.make("Shelf")
    }

    @Test("A query subscription hears of what it asks for, by what happened")
    func queries() throws {
        let phone = try NoticeListener(ida, device: "phone")
        try phone.subscribe(querySubscription("all"))
        try phone.subscribe(
            querySubscription("red", firesOn: ["update"], filter: textFilter("c", "EQUALS", "Red")))
        try phone.subscribe(
            querySubscription(
                "elsewhere", firesOn: ["create"],
                more: ",\"zoneID\":{\"zoneName\":\"_defaultZone\"}"))
        try ida.save("a", #"{"c":{"value":"blue"}}"#)
        try ida.save("a", #"{"c":{"value":"RED"}}"#)
        try ida.save("a", #"{"c":{"value":"blue"}}"#)
        try ida.save("a", #"{"c":{"value":"green"}}"#)
        try ida.save("b", type: "Plate")
        try ida.delete("a")
        let heard = try phone.words()
        #expect(
            heard.filter { $0.hasPrefix("all") } == [
                "all:Shelf/a+", "all:Shelf/a~", "all:Shelf/a~", "all:Shelf/a~", "all:Shelf/a-",
            ])
        // Both what was and what is count, without regard to case.
        #expect(heard.filter { $0.hasPrefix("red") } == ["red:Shelf/a~", "red:Shelf/a~"])
        #expect(heard.count == 7)
    }

    @Test("Where much is asked of each change, fewer changes are looked at in one snapshot")
    func manyQueries() throws {
        let phone = try NoticeListener(ida, device: "phone")
        for number in 0..<50 {
            try phone.subscribe(
                querySubscription("q\(number)", filter: textFilter("c", "EQUALS", "no \(number)")))
        }
        let store = try #require(try server.store() as? SQLiteStore)
        func position() throws -> Position {
            try store.read { try $0.position(of: .notices) } ?? 0
        }
        let (before, commits) = (try position(), store.measurements.groups.commits)
        let fields = #"{"c":{"value":"yes"}}"#
        _ = try ida.modify((0..<200).map { operation("create", "r\($0)", fields: fields) })
        try server.until { try position() >= before + 200 }
        // 10,000 tests: two pages end early. Each is noted by a write of its own, which is counted a moment
        // after it can be seen.
        try server.until { store.measurements.groups.commits >= commits + 1 + 3 }
    }

    @Test("Zone and database subscriptions hear once of much, and of no default zone")
    func zones() throws {
        let phone = try NoticeListener(ida, device: "phone")
        try phone.subscribe(
            #""subscriptionID":"z","subscriptionType":"zone","zoneID":{"zoneName":"Shelf"}"#)
        try phone.subscribe(#""subscriptionID":"d","subscriptionType":"database""#)
        try phone.subscribe(
            #""subscriptionID":"p","subscriptionType":"database","recordType":"Plate""#)
        _ = try ida.modify((0..<20).map { operation("create", "r\($0)") })
        #expect(Set(try phone.words()) == ["z:Shelf fet 1", "d:Shelf met 1"])
        try ida.save("x", zone: nil)
        #expect(try phone.words() == [])
        try ida.save("y", type: "Plate")
        #expect(Set(try phone.words()) == ["z:Shelf fet 1", "d:Shelf met 1", "p:Shelf met 1"])
        try ida.make("New")
        #expect(try phone.words().contains("d:New met 1"))
        try ida.remove("Shelf")
        #expect(Set(try phone.words()).isSuperset(of: ["z:Shelf fet 1", "d:Shelf met 1"]))
    }

    @Test("The device that made a change is not told of it; the user's others are")
    func origins() throws {
        let (phone, tablet) = (
            try NoticeListener(ida, device: "phone"), try NoticeListener(ida, device: "tablet")
        )
        try phone.subscribe(querySubscription("all"))
        try phone.by().save("a")
        #expect(try phone.words() == [])
        #expect(try tablet.words() == ["all:Shelf/a+"])
        try ida.save("b")
        #expect(try phone.words() == ["all:Shelf/b+"])
        #expect(try tablet.words() == ["all:Shelf/b+"])
        try tablet.by().delete("b")
        #expect(try phone.words() == ["all:Shelf/b-"])
        #expect(try tablet.words() == [])
    }

    @Test("In the public database everybody hears who subscribed and may read")
    func open() throws {
        let phone = try NoticeListener(ida, device: "phone")
        try phone.subscribe(
            querySubscription("tea", filter: textFilter("name", "EQUALS", "tea")), in: "public")
        try phone.subscribe(
            querySubscription("t", filter: textFilter("name", "BEGINS_WITH", "t")), in: "public")
        try bo.save("a", #"{"name":{"value":"Tea"}}"#, zone: nil, in: "public")
        try bo.save("b", #"{"name":{"value":"toast"}}"#, zone: nil, in: "public")
        try bo.save("a", #"{"name":{"value":"milk"}}"#, zone: nil, in: "public")
        try bo.delete("b", zone: nil, in: "public")
        let heard = try phone.words()
        #expect(
            heard.filter { $0.hasPrefix("tea") } == [
                "tea:_defaultZone/a+", "tea:_defaultZone/a~",
            ])
        #expect(
            heard.filter { $0.hasPrefix("t:") } == ["t:_defaultZone/b+", "t:_defaultZone/b-"])
        #expect(heard.count == 4)
    }

    @Test("What firesOnce goes when it has fired, and not when only its own device wrote")
    func once() throws {
        let phone = try NoticeListener(ida, device: "phone")
        try phone.subscribe(querySubscription("one", more: ",\"firesOnce\":true"))
        try phone.by().save("a")
        #expect(try phone.words() == [])
        _ = try ida.modify([operation("create", "b"), operation("create", "c")])
        #expect(try phone.words() == ["one:Shelf/b+"])
        let gone = try ida.send("private/subscriptions/lookup", #"{"subscriptions":["one"]}"#)
        #expect(gone.json["subscriptions"][0].code == "NOT_FOUND")
    }

    @Test(
        "A subscription hears of nothing from before it was made, and of nothing once it is deleted"
    )
    func since() throws {
        let phone = try NoticeListener(ida, device: "phone")
        try phone.subscribe(querySubscription("first"))
        try ida.save("a")
        try phone.subscribe(querySubscription("second", firesOn: ["create", "update"]))
        try ida.save("b")
        _ = try ida.send(
            "private/subscriptions/modify",
            #"{"operations":[{"operationType":"delete","subscription":{"subscriptionID":"first"}}]}"#
        )
        try ida.save("c")
        let heard = try phone.words()
        #expect(heard.filter { $0.hasPrefix("second") } == ["second:Shelf/b+", "second:Shelf/c+"])
        #expect(!heard.contains("first:Shelf/c+"))
    }

    @Test("A notice says what its subscription asks for")
    func payload() throws {
        let phone = try NoticeListener(ida, device: "phone")
        try phone.subscribe(
            querySubscription(
                "s",
                more: #","notificationInfo":{"alertBody":"New","title":"T","alertLocalizationKey":"#
                    + #""K","alertLocalizationArgs":["name","size","none"],"soundName":"s.caf","#
                    + #""category":"c","shouldBadge":true,"shouldSendContentAvailable":true,"#
                    + #""additionalFields":["name","size","secret"]}"#))
        try ida.save("a", #"{"name":{"value":"Ida \"x\""},"size":{"value":3}}"#)
        try ida.save("b", #"{"name":{"value":"Bo"}}"#)
        let heard = try phone.heard()
        let expected =
            #"{"aps":{"alert":{"title":"T","body":"New","loc-key":"K","loc-args":["Ida \"x\"","3",""]},"#
            + #""badge":1,"sound":"s.caf","category":"c","content-available":1},"ck":{"ce":2,"#
            + #""cid":"\#(WireServer.tea)","ckuserid":"\#(ida.name)","nid":"#
            + #""\#(heard[0]["ck"]["nid"].string ?? "")","qry":{"sid":"s","zid":"Shelf","#
            + #""zoid":"\#(ida.name)","dbs":1,"rid":"a","fo":1,"af":{"name":"Ida \"x\"","size":3}}}}"#
        #expect(heard[0].raw == expected)
        #expect(heard[1]["aps"]["badge"].int == 2)
        #expect(heard[1]["ck"]["nid"].string != heard[0]["ck"]["nid"].string)
        // An app that registers again has been looked at.
        let again = try ida.send(
            "tokens/register",
            #"{"apnsEnvironment":"development","clientId":"phone","apnsToken":"\#(phone.token)"}"#,
            module: "device")
        #expect(again["apnsToken"].string == phone.token)
        try ida.save("c")
        #expect(try phone.heard()[0]["aps"]["badge"].int == 1)
    }

    @Test("In localised texts a date is in UTC, and a reference the name of its record")
    func arguments() throws {
        let phone = try NoticeListener(ida, device: "phone")
        try phone.subscribe(
            querySubscription(
                "s",
                more: #","notificationInfo":{"alertLocalizationKey":"K","#
                    + #""alertLocalizationArgs":["when","far","whom","where","half"]}"#))
        try ida.save(
            "a",
            #"{"when":{"value":1767225600123,"type":"TIMESTAMP"},"#
                + #""far":{"value":900000000000000,"type":"TIMESTAMP"},"#
                + #""whom":{"value":{"recordName":"b","action":"NONE"}},"#
                + #""where":{"value":{"latitude":1,"longitude":2}},"#
                + #""half":{"value":1.5,"type":"DOUBLE"}}"#)
        let heard = try phone.heard()
        #expect(
            heard[0]["aps"]["alert"]["loc-args"].raw
                == #"["2026-01-01T00:00:00.123Z","900000000000000","b","","1.5"]"#)
    }

    @Test("What is too large loses its parts in the documented order, and stays below 4 KB")
    func pruning() throws {
        let phone = try NoticeListener(ida, device: "phone")
        let long = String(repeating: "é", count: 1_900)
        try phone.subscribe(
            querySubscription(
                "s",
                more: ",\"notificationInfo\":{\"alertBody\":\(quoted(long)),\"soundName\":\"s\","
                    + "\"additionalFields\":[\"text\"]}"))
        try ida.save("a", "{\"text\":{\"value\":\(quoted(String(repeating: "x", count: 900)))}}")
        try phone.subscribe(
            querySubscription(
                "t", firesOn: ["create"],
                more:
                    ",\"notificationInfo\":{\"alertBody\":\(quoted(long + long)),\"soundName\":\"s\""
                    + ",\"alertLocalizationKey\":\"K\"}"))
        try ida.save("b")
        let heard = try phone.heard()
        let fields = try #require(heard.first { $0["ck"]["qry"]["rid"].string == "a" })
        #expect(fields.raw.utf8.count <= 4_096)
        #expect(fields["ck"]["p"].int == 1)
        #expect(!fields["ck"]["qry"]["af"].exists)
        #expect(fields["aps"]["alert"]["body"].string == long)
        let texts = try #require(heard.first { $0["ck"]["qry"]["sid"].string == "t" })
        #expect(texts.raw.utf8.count <= 4_096)
        #expect(texts["ck"]["p"].int == 1)
        #expect(!texts["ck"]["cid"].exists && !texts["ck"]["qry"]["rid"].exists)
        #expect(!texts["aps"]["sound"].exists && !texts["aps"]["alert"]["body"].exists)
        #expect(texts["aps"]["alert"]["loc-key"].string == "K")
        #expect(texts["ck"]["nid"].exists)
    }

    @Test("Of encrypted fields a notice says nothing")
    func encrypted() throws {
        let phone = try NoticeListener(ida, device: "phone")
        try phone.subscribe(
            querySubscription(
                "s", type: "Letter",
                more: #","notificationInfo":{"additionalFields":["secret"],"#
                    + #""alertLocalizationKey":"K","alertLocalizationArgs":["secret"]}"#))
        try ida.save(
            "a", #"{"secret":{"value":"aGlkZGVu","type":"BYTES","isEncrypted":true}}"#,
            type: "Letter")
        let heard = try phone.heard()
        #expect(heard.count == 1)
        #expect(!heard[0].raw.contains("aGlkZGVu") && heard[0]["ck"]["qry"]["af"].raw == "{}")
    }

    @Test("Participants hear of what is shared with them, and of nothing once it is not")
    func shared() throws {
        let phone = try NoticeListener(bo, device: "phone")
        try phone.subscribe(#""subscriptionID":"s","subscriptionType":"database""#, in: "shared")
        let share = try ida.shareNote(
            zone: "Shelf", participants: [invitation(user: bo.name, permission: "READ_WRITE")])
        #expect(try bo.accept(share.shortGUID).status == 200)
        let joined = try phone.words()
        #expect(joined == ["s:Shelf met 2"])
        // What is in no shared tree is not theirs to hear of.
        try ida.save("other", type: "Note")
        #expect(try phone.words() == [])
        try ida.save("page", type: "Note", more: #""parent":{"recordName":"note"}"#)
        #expect(try phone.words() == ["s:Shelf met 2"])
        try ida.delete("page")
        #expect(try phone.words() == ["s:Shelf met 2"])
        _ = try ida.changeShare(participants: [])
        #expect(try phone.words() == [])
        try ida.save("note", type: "Note")
        #expect(try phone.words() == [])
    }

    @Test(
        "A notice that waits is thrown away when its user loses the right to see what it tells of")
    func revoked() throws {
        let phone = try NoticeListener(bo, device: "phone")
        try phone.subscribe(#""subscriptionID":"s","subscriptionType":"database""#, in: "shared")
        let share = try ida.shareNote(
            zone: "Shelf", participants: [invitation(user: bo.name, permission: "READ_WRITE")])
        #expect(try bo.accept(share.shortGUID).status == 200)
        #expect(try phone.words() == ["s:Shelf met 2"])
        let tablet = try NoticeListener(bo, device: "tablet")
        try ida.save("note", type: "Note")
        // The tablet shows that it has been put into the outbox; the phone's still waits.
        #expect(try tablet.words() == ["s:Shelf met 2"])
        _ = try ida.changeShare(participants: [])
        #expect(try phone.words() == [])
    }

    /// A user of a server that lets five notices wait, and their phone.
    private func withFewWaiting() throws -> (ida: WireClient, phone: NoticeListener) {
        let server = try WireServer { $0.noticesWaitingMax = 5 }
        let ida = try server.user("ida")
        try ida.make("Shelf")
        let phone = try NoticeListener(ida, device: "phone")
        try phone.subscribe(querySubscription("all"))
        return (ida, phone)
    }

    @Test("Over the limit all that waits becomes one notice, in each database")
    func merged() throws {
        let (ida, phone) = try withFewWaiting()
        let tablet = try NoticeListener(ida, device: "tablet")
        for index in 0..<6 { try ida.save("r\(index)") }
        // The tablet shows that all has been put into the outbox; the phone's still waits.
        _ = try tablet.heard()
        let heard = try phone.heard()
        #expect(heard.count == 1)
        #expect(heard[0]["ck"]["p"].int == 1 && heard[0]["ck"]["met"]["dbs"].int == 1)
        try ida.save("z")
        #expect(try phone.words() == ["all:Shelf/z+"])
    }

    @Test("The limit is of what waits: what a device has taken counts no more")
    func taken() throws {
        let (ida, phone) = try withFewWaiting()
        for round in 0..<4 {
            let names = (0..<4).map { "r\(round)\($0)" }
            for name in names { try ida.save(name) }
            #expect(try phone.words() == names.map { "all:Shelf/\($0)+" })
        }
        let tablet = try NoticeListener(ida, device: "tablet")
        for index in 0..<6 { try ida.save("z\(index)") }
        // The tablet shows that all has been put into the outbox; the phone's still waits.
        _ = try tablet.heard()
        #expect(try phone.heard().map { $0["ck"]["p"].int } == [1])
    }

    @Test("While nobody has subscribed no change is noted")
    func nobody() throws {
        _ = try NoticeListener(ida, device: "phone")
        try ida.save("a")
        #expect(try server.store().read { try $0.position(of: .init("notices")) } == nil)
        let phone = try NoticeListener(ida, device: "tablet")
        try phone.subscribe(querySubscription("all"))
        #expect(try server.store().read { try $0.position(of: .init("notices")) } != nil)
        _ = try ida.send(
            "private/subscriptions/modify",
            #"{"operations":[{"operationType":"delete","subscription":{"subscriptionID":"all"}}]}"#)
        #expect(try server.store().read { try $0.position(of: .init("notices")) } == nil)
    }
}
