import Accounts
import CloudModel
import Testing

/// The public database's feed, where a container has it (rulings.md 31).
@Suite("Following the public database")
struct PublicChangesTests {
    let server: WireServer
    let ida: WireClient
    let mo: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user("ida")
        mo = try server.user("mo")
    }

    private func set(_ value: String) throws {
        _ = try Containers(catalog: server.catalog).set(
            ["publicChanges": value], of: WireServer.tea)
    }

    private func page(
        _ client: WireClient, after token: String = "", more: String = ""
    ) throws -> AnswerPart {
        try client.send(
            "public/changes/zone",
            """
            {"zones":[{"zoneID":{"zoneName":"_defaultZone"},"syncToken":\(quoted(token))\(more)}]}
            """
        ).json["zones"][0]
    }

    private func names(_ page: AnswerPart) -> [String] {
        page["records"].elements.map {
            ($0["deleted"].bool == true ? "-" : "") + ($0.name ?? "")
        }
    }

    @Test("Without the setting there is none; no other feed is served with it")
    func setting() throws {
        let body = #"{"zones":[{"zoneID":{"zoneName":"_defaultZone"}}]}"#
        #expect(try ida.send("public/changes/zone", body).status == 400)
        try set("true")
        #expect(try ida.send("public/changes/zone", body).status == 200)
        #expect(try server.visitor().send("public/changes/zone", body).status == 421)
        for path in ["changes/database", "zones/changes"] {
            #expect(try ida.send("public/\(path)", "{}").status == 400)
        }
        #expect(
            try ida.send(
                "public/records/changes", #"{"zoneID":{"zoneName":"_defaultZone"}}"#
            ).status == 400)
        #expect(try ida.send("private/changes/zone", body).zones[0].code == "BAD_REQUEST")
        try set("false")
        #expect(try ida.send("public/changes/zone", body).status == 400)
    }

    @Test("A feed that nobody has written to begins with its first record, and goes on from there")
    func following() throws {
        try set("true")
        let empty = try page(mo)
        #expect(names(empty) == [] && empty["moreComing"].bool == false)
        for name in ["a", "b", "c"] { try ida.save(name, "{}", zone: nil, in: "public") }
        // Users are in no feed.
        _ = try mo.record(ida.name, zone: nil, in: "public")
        var first = try page(
            mo, after: try #require(empty["syncToken"].string), more: ",\"resultsLimit\":2")
        #expect(names(first) == ["a", "b"] && first["moreComing"].bool == true)
        first = try page(mo, after: try #require(first["syncToken"].string))
        #expect(names(first) == ["c"] && first["moreComing"].bool == false)
        let token = try #require(first["syncToken"].string)
        try ida.save("a", #"{"n":{"value":1}}"#, zone: nil, in: "public")
        try ida.delete("b", zone: nil, in: "public")
        #expect(try names(page(mo, after: token)) == ["a", "-b"])
        #expect(try names(page(mo, more: ",\"reverse\":true")) == ["a", "c"])
        let foreign = try page(ida, after: token)
        #expect(foreign.code == "BAD_REQUEST", "\(foreign.raw)")
    }

    @Test("A token lasts until deletions that it needs are forgotten; others go on")
    func collection() throws {
        try set("true")
        try ida.save("a", "{}", zone: nil, in: "public")
        let early = try #require(try page(mo)["syncToken"].string)
        try ida.save("b", "{}", zone: nil, in: "public")
        try ida.delete("b", zone: nil, in: "public")
        let late = try #require(try page(mo)["syncToken"].string)
        server.clock.advance(1_000)
        try server.collect(olderThan: server.clock.now)
        #expect(try page(mo, after: early)["changeTokenExpired"].bool == true)
        #expect(try names(page(mo, after: late)) == [])
        let anew = try page(mo)
        #expect(names(anew) == ["a"])
        #expect(
            try names(page(mo, after: try #require(anew["syncToken"].string))) == [])
    }

    @Test("Everybody follows what they may read: deletions too, and nothing of the others' sizes")
    func roles() throws {
        try set("true")
        for type in ["Open", "Own", "Closed", "Role"] {
            for (client, who) in [(ida, "ida"), (mo, "mo")] {
                try client.save("\(type).\(who)", "{}", type: type, zone: nil, in: "public")
                try client.save("\(type).\(who).gone", "{}", type: type, zone: nil, in: "public")
            }
        }
        let start = try #require(try page(mo)["syncToken"].string)
        let beginning = try #require(try page(ida)["syncToken"].string)
        for type in ["Open", "Own", "Closed", "Role"] {
            for (client, who) in [(ida, "ida"), (mo, "mo")] {
                try client.delete("\(type).\(who).gone", zone: nil, in: "public")
            }
        }
        try server.grant([
            "Open": ["_world": .read], "Own": ["_creator": .read], "Closed": ["_world": .create],
            "Role": ["Guest": .read],
        ])
        #expect(try names(page(mo)) == ["Open.ida", "Open.mo", "Own.mo"])
        #expect(try names(page(mo, after: start)) == ["-Open.ida.gone", "-Open.mo.gone"])
        #expect(
            try names(page(mo, more: ",\"desiredRecordTypes\":[\"Closed\",\"Role\"]")) == [])
        try server.assign("Guest", to: ida)
        #expect(
            try names(page(ida)) == ["Open.ida", "Open.mo", "Own.ida", "Role.ida", "Role.mo"])
        #expect(
            try names(page(ida, after: beginning)) == [
                "-Open.ida.gone", "-Open.mo.gone", "-Role.ida.gone", "-Role.mo.gone",
            ])
        let key = try server.key(scope: .container)
        #expect(try names(page(key)).count == 8)
    }
}
