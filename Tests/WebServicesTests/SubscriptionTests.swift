import CloudModel
import Testing

/// Subscriptions made, changed and read (web-services.md §4.15, §5.14, §5.15; rulings.md 1, 20, 42).
@Suite("subscriptions/*")
struct SubscriptionTests {
    let server: WireServer
    let ida: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user()
        try ida.make("Shelf")
    }

    private func change(
        _ kind: String, _ subscription: String, in database: String = "private",
        by client: WireClient? = nil
    ) throws -> AnswerPart {
        try (client ?? ida).send(
            "\(database)/subscriptions/modify",
            "{\"operations\":[{\"operationType\":\"\(kind)\",\"subscription\":{\(subscription)}}]}"
        ).json["subscriptions"][0]
    }

    private func list(_ database: String = "private", by client: WireClient? = nil) throws -> Answer
    {
        try (client ?? ida).send("\(database)/subscriptions/list", nil)
    }

    private func query(
        _ id: String, type: String = "Cup", firesOn: String = "\"create\"", filters: String = "",
        more: String = ""
    ) -> String {
        let filters = filters.isEmpty ? "" : ",\"filterBy\":[\(filters)]"
        return "\"subscriptionID\":\(quoted(id)),\"subscriptionType\":\"query\","
            + "\"firesOn\":[\(firesOn)],\"query\":{\"recordType\":\"\(type)\"\(filters)}\(more)"
    }

    @Test("A query subscription is kept as it was sent, and listed, looked up and deleted")
    func queries() throws {
        let made = try change(
            "create",
            query(
                "new cups", firesOn: "\"update\",\"create\"",
                filters:
                    #" {"fieldName" : "name", "comparator":"EQUALS","fieldValue":{"value":"a \" b"}}"#,
                more: #","firesOnce":true,"zoneID":{"zoneName":"Shelf"},"notificationInfo":"#
                    + #"{"shouldBadge":true,"alertBody":"New","unknown":1}"#))
        let expected =
            #"{"subscriptionID":"new cups","subscriptionType":"query","query":{"recordType":"Cup","#
            + #""filterBy":[{"fieldName":"name","comparator":"EQUALS","fieldValue":{"value":"a \" b"}}]},"#
            + #""zoneID":{"zoneName":"Shelf","ownerRecordName":"\#(ida.name)","#
            + #""zoneType":"REGULAR_CUSTOM_ZONE"},"firesOn":["create","update"],"firesOnce":true,"#
            + #""notificationInfo":{"alertBody":"New","shouldBadge":true}}"#
        #expect(made.raw == expected)
        #expect(try list().text == "{\"subscriptions\":[\(expected)]}")
        for asked in [#"{"subscriptionID":"new cups"}"#, #""new cups""#] {
            let found = try ida.send(
                "private/subscriptions/lookup", "{\"subscriptions\":[\(asked)]}")
            #expect(found.text == "{\"subscriptions\":[\(expected)]}")
        }
        #expect(
            try change("delete", #""subscriptionID":"new cups""#).raw
                == #"{"subscriptionID":"new cups","deleted":true}"#)
        #expect(try list().text == #"{"subscriptions":[]}"#)
        let gone = try ida.send(
            "private/subscriptions/lookup", #"{"subscriptions":["new cups"]}"#
        ).json["subscriptions"][0]
        #expect(gone.code == "NOT_FOUND" && gone["subscriptionID"].string == "new cups")
        #expect(try change("delete", #""subscriptionID":"new cups""#).code == "NOT_FOUND")
    }

    @Test("Each database allows its kinds of subscriptions and refuses the others for the item")
    func kinds() throws {
        let zone = #""subscriptionType":"zone","zoneID":{"zoneName":"Shelf"}"#
        let database = #""subscriptionType":"database","recordType":"Cup""#
        #expect(try change("create", "\"subscriptionID\":\"z\",\(zone)").code == nil)
        let made = try change("create", "\"subscriptionID\":\"d\",\(database)")
        #expect(
            made.raw
                == #"{"subscriptionID":"d","subscriptionType":"database","recordType":"Cup"}"#)
        #expect(
            try change("create", "\"subscriptionID\":\"d\",\(database)", in: "shared").code == nil)
        #expect(try change("create", query("q"), in: "public").code == nil)
        for (wanted, location) in [
            (query("q"), "shared"), ("\"subscriptionID\":\"z\",\(zone)", "public"),
            ("\"subscriptionID\":\"z\",\(zone)", "shared"),
            ("\"subscriptionID\":\"d\",\(database)", "public"),
        ] {
            let refused = try change("create", wanted, in: location)
            #expect(refused.code == "BAD_REQUEST" && refused.reason.contains("subscriptionType"))
        }
        #expect(try list("shared").json["subscriptions"].elements.count == 1)
    }

    @Test("A zone subscription for all zones is one of the database, and one for none is refused")
    func zoneWide() throws {
        let wide = try change(
            "create", #""subscriptionID":"w","subscriptionType":"zone","zoneWide":true"#)
        #expect(wide["subscriptionType"].string == "database")
        let none = try change("create", #""subscriptionID":"n","subscriptionType":"zone""#)
        #expect(none.code == "BAD_REQUEST" && none.reason.contains("zoneID"))
        let foreign = try change(
            "create",
            #""subscriptionID":"f","subscriptionType":"zone","zoneID":{"zoneName":"Shelf","#
                + #""ownerRecordName":"_somebody"}"#)
        #expect(foreign.code == "BAD_REQUEST")
        let missing = try change(
            "create", #""subscriptionID":"m","subscriptionType":"zone","zoneID":{"zoneName":"No"}"#)
        #expect(missing.code == "ZONE_NOT_FOUND")
        #expect(try change("create", query("a"))["zoneWide"].bool == true)
        let inDefault = try change("create", query("b", more: #","zoneWide":false"#))
        #expect(inDefault["zoneID"]["zoneName"].string == "_defaultZone")
    }

    @Test("Several in one request are kept apart, and looked up together")
    func several() throws {
        for (subscription, expected) in [
            (query("a", more: #","notificationInfo":{"alertBody":"New"}"#), "query"),
            (#""subscriptionID":"b","subscriptionType":"database""#, "database"),
        ] {
            #expect(try change("create", subscription)["subscriptionType"].string == expected)
        }
        let plain = #"{"subscriptionID":"b","subscriptionType":"database"}"#
        #expect(try list().json["subscriptions"][1].raw == plain)
        let found = try ida.send(
            "private/subscriptions/lookup", #"{"subscriptions":["b","a","none","b"]}"#
        ).json["subscriptions"].elements
        #expect(found.count == 4 && found[0].raw == plain && found[3].raw == plain)
        #expect(found[1]["notificationInfo"]["alertBody"].string == "New")
        #expect(found[2].code == "NOT_FOUND")
    }

    @Test("Creating an equal one again answers it; another one under its ID is refused")
    func again() throws {
        let first = try change("create", query("a"))
        #expect(try change("create", query("a")).raw == first.raw)
        let other = try change("create", query("a", type: "Pot"))
        #expect(other.code == "BAD_REQUEST" && other.reason.contains("subscriptionID"))
        #expect(
            try change("update", query("a", type: "Pot"))["query"]["recordType"].string == "Pot")
        #expect(try change("update", query("none")).code == "NOT_FOUND")
    }

    @Test("A second subscription to the same is refused in the words that clients know")
    func duplicates() throws {
        try #require(try change("create", query("a")).code == nil)
        let second = try change("create", query("b"))
        #expect(second.code == "INTERNAL_ERROR")
        #expect(second.reason == "could not find subscription we just created")
        #expect(second["subscriptionID"].string == "b")
        #expect(try change("create", query("c", firesOn: "\"create\",\"update\"")).code == nil)
        #expect(try change("create", query("a"), by: server.user("otto")).code == nil)
        #expect(try list().json["subscriptions"].elements.count == 2)
    }

    @Test("One that is created without an ID gets one, by which it is found, changed and deleted")
    func nameless() throws {
        let wanted =
            #""subscriptionType":"query","firesOn":["create"],"query":{"recordType":"Cup"}"#
        let made = try change("create", wanted)
        let id = try #require(made["subscriptionID"].string)
        #expect(made.code == nil && id.utf8.count == 36)
        let found = try ida.send(
            "private/subscriptions/lookup", "{\"subscriptions\":[\(quoted(id))]}")
        #expect(found.json["subscriptions"][0].raw == made.raw)
        let again = try change("create", "\(wanted),\"subscriptionID\":null")
        #expect(again.reason == "could not find subscription we just created")
        #expect(again["subscriptionID"].string?.utf8.count == 36)
        #expect(again["subscriptionID"].string != id)
        #expect(try change("update", query(id, type: "Pot"))["subscriptionID"].string == id)
        let everything = try change("create", #""subscriptionType":"database""#)
        #expect(everything.code == nil && everything["subscriptionID"].string != id)
        #expect(try list().json["subscriptions"].elements.count == 2)
        #expect(try change("delete", "\"subscriptionID\":\(quoted(id))")["deleted"].bool == true)
    }

    @Test("What is malformed is refused with the key that is wrong")
    func malformed() throws {
        for kind in ["update", "delete"] {
            let nameless = try change(kind, #""subscriptionType":"database""#)
            #expect(nameless.code == "BAD_REQUEST" && nameless.reason.contains("subscriptionID"))
        }
        for id in ["", String(repeating: "x", count: 256), "a\u{1}"] {
            let refused = try change("create", query(id))
            #expect(refused.code == "BAD_REQUEST" && refused.reason.contains("subscriptionID"))
        }
        let still = try change(
            "create",
            #""subscriptionID":"s","subscriptionType":"query","query":{"recordType":"Cup"}"#)
        #expect(still.code == "BAD_REQUEST" && still.reason.contains("firesOn"))
        for (body, key) in [
            (#""subscriptionID":7,"subscriptionType":"query""#, "subscriptionID"),
            (#""subscriptionID":"s","subscriptionType":"all""#, "subscriptionType"),
            (query("s", firesOn: "\"never\""), "firesOn"),
            (query("s", more: #","notificationInfo":{"alertBody":1}"#), "alertBody"),
        ] {
            let answer = try ida.send(
                "private/subscriptions/modify",
                "{\"operations\":[{\"operationType\":\"create\",\"subscription\":{\(body)}}]}")
            #expect(answer.status == 400 && answer.reason.contains(key))
        }
        #expect(try list().text == #"{"subscriptions":[]}"#)
    }

    @Test("In production a subscription names types and fields that the schema has")
    func production() throws {
        let otto = try server.user("otto", WireServer.tea, .production)
        let refused = try change("create", query("a", type: "Kettle"), by: otto)
        #expect(refused.code == "BAD_REQUEST" && refused.reason.contains("Kettle"))
        #expect(try change("create", query("a", type: "Kettle")).code == nil)
    }

    @Test("A user sees their own subscriptions, a server key its own, a bare API token none")
    func owners() throws {
        try #require(try change("create", query("a"), in: "public").code == nil)
        let otto = try server.user("otto")
        #expect(try list("public", by: otto).text == #"{"subscriptions":[]}"#)
        #expect(
            try change("delete", #""subscriptionID":"a""#, in: "public", by: otto).code
                == "NOT_FOUND")
        #expect(try list("public", by: server.visitor()).status == 421)
        #expect(try list("private").text == #"{"subscriptions":[]}"#)
    }

    @Test("A user has a limited number of subscriptions, each of a limited size")
    func limits() throws {
        let server = try WireServer {
            $0.subscriptionsPerUserMax = 2
            $0.subscriptionBytesMax = 300
        }
        let ida = try server.user()
        for (name, code) in [("a", nil), ("b", nil), ("c", "BAD_REQUEST")] {
            #expect(try change("create", query(name, type: "T\(name)"), by: ida).code == code)
        }
        #expect(try change("create", query("a", type: "Ta"), by: ida).code == nil)
        let long = "\"notificationInfo\":{\"alertBody\":\"\(String(repeating: "x", count: 300))\"}"
        let refused = try change(
            "update", query("a", type: "Ta", more: ",\(long)"), by: ida)
        #expect(refused.reason.contains("bytes"))
    }
}
