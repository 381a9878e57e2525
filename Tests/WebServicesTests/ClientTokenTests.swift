import SQLite
import Testing

/// `clientChangeTokenData`: what a device leaves with its changes of a zone, and finds with its feed.
@Suite("Client change tokens")
struct ClientTokenTests {
    let server: WireServer
    let ida: WireClient

    init() throws {
        server = try WireServer {
            $0.clientTokenBytesMax = 8
            $0.clientTokensPerZoneMax = 2
        }
        ida = try server.user()
        try ida.make("Shelf", "Wall")
    }

    @discardableResult
    private func change(
        _ token: String?, by device: String? = "a", _ client: WireClient? = nil,
        zone: String = #"{"zoneName":"Shelf"}"#, operations: [String]? = nil, more: String = "",
        in database: String = "private"
    ) throws -> Answer {
        let operations = operations ?? [operation("forceReplace", "r")]
        let data = token.map { ",\"clientChangeTokenData\":\($0)" } ?? ""
        return try (client ?? ida).send(
            "\(database)/records/modify",
            "{\"operations\":[\(operations.joined(separator: ","))],\"zoneID\":\(zone)\(data)\(more)}",
            query: device.map { ["clientId=\($0)"] } ?? [])
    }

    private func kept(
        by device: String? = "a", _ client: WireClient? = nil,
        zone: String = #"{"zoneName":"Shelf"}"#,
        more: String = "", in database: String = "private"
    ) throws -> String? {
        let answer = try (client ?? ida).send(
            "\(database)/changes/zone", "{\"zones\":[{\"zoneID\":\(zone)\(more)}]}",
            query: device.map { ["clientId=\($0)"] } ?? [])
        #expect(answer.status == 200 && answer.zones[0].code == nil, "\(answer.text)")
        return answer.zones[0]["clientChangeTokenData"].string
    }

    @Test("A device finds what it left last, with the last page of the zone's feed; others do not")
    func kept() throws {
        #expect(try kept() == nil)
        try change(#""AAEC""#)
        #expect(try kept() == "AAEC")
        try change(nil)
        try change("null")
        #expect(try kept() == "AAEC")
        try change(#""/w==""#)
        #expect(try kept() == "/w==")
        #expect(try kept(by: "b") == nil && kept(by: nil) == nil)
        #expect(try kept(zone: #"{"zoneName":"Wall"}"#) == nil)
        try change(#""AAAA""#, by: nil)
        #expect(try kept(by: nil) == "AAAA" && kept() == "/w==")
        try ida.save("s")
        #expect(try kept(more: #","resultsLimit":1"#) == nil)
        let mo = try server.user("mo")
        try mo.make("Shelf")
        #expect(try kept(mo) == nil)
        try change(#""""#)
        #expect(try kept() == nil)
    }

    @Test("It is kept with its batch or not at all, and shows in no feed")
    func atomic() throws {
        try change(#""AAEC""#)
        let token = try ida.changes()["syncToken"].string
        let failed = try change(
            #""/w==""#,
            operations: [operation("create", "r"), operation("create", "x")])
        #expect(failed.records.map(\.code) == ["CONFLICT", "ATOMIC_ERROR"])
        #expect(try kept() == "AAEC")
        let partly = try change(
            #""BBBB""#, operations: [operation("create", "r"), operation("create", "x")],
            more: #","atomic":false"#)
        #expect(partly.records.map(\.code) == ["CONFLICT", nil])
        #expect(try kept() == "BBBB")
        try change(#""CCCC""#, operations: [])
        #expect(try kept() == "CCCC")
        #expect(try ida.changes(after: token)["records"].elements.map(\.name) == ["x"])
    }

    @Test("Participants have their own, in the owner's zone")
    func shared() throws {
        let mo = try server.user("mo")
        let share = try ida.shareNote(publicPermission: "READ_WRITE")
        _ = try mo.accept(share.shortGUID)
        let zone = #"{"zoneName":"Shelf","ownerRecordName":"\#(ida.name)"}"#
        let note = operation("forceUpdate", "note", type: "Note", fields: #"{"n":{"value":1}}"#)
        let changed = try change(#""AAEC""#, mo, zone: zone, operations: [note], in: "shared")
        #expect(changed.records[0].code == nil)
        #expect(try kept(mo, zone: zone, in: "shared") == "AAEC")
        #expect(try kept() == nil)
    }

    @Test("What is no base64 or too long is refused; of many devices the quiet ones are forgotten")
    func limits() throws {
        for bad in ["7", #""A""#, #""AA""#, #"{}"#] {
            let refused = try change(bad)
            #expect(
                refused.status == 400 && refused.reason.contains("clientChangeTokenData"), "\(bad)")
        }
        let long = try change(#""AAAAAAAAAAAA""#)
        #expect(long.status == 400 && long["detail"].string == "limitExceeded")
        #expect(long.reason.contains("clientChangeTokenData"))
        for device in ["a", "b", "a", "c"] {
            server.clock.advance(1)
            try change(#""AAEC""#, by: device)
        }
        #expect(try ["a", "b", "c"].map { try kept(by: $0) } == ["AAEC", nil, "AAEC"])
    }

    @Test("Default zones keep none, and a zone made anew does not have what its previous self had")
    func zones() throws {
        try change(#""AAEC""#, zone: #"{"zoneName":"_defaultZone"}"#)
        try change(#""AAEC""#, zone: #"{"zoneName":"_defaultZone"}"#, in: "public")
        try change(#""AAEC""#)
        try ida.remove("Shelf")
        try ida.make("Shelf")
        #expect(try kept() == nil)
        try server.collect(olderThan: server.clock.now + 1)
        #expect(try server.problems().isEmpty)
    }

    @Test("The check names data of zones that keep none, and what no device can have left")
    func check() throws {
        try change(#""AAEC""#)
        try ida.save("default", zone: nil)
        try server.restart { path in
            try Connection(path: path, mode: .readWrite).execute(
                """
                INSERT INTO client_tokens SELECT 999, user_record_name, device, data, set_at
                    FROM client_tokens;
                INSERT INTO client_tokens SELECT id, 'u', 'd', x'00', 1
                    FROM zones WHERE name = '_defaultZone';
                UPDATE client_tokens SET data = x'' WHERE zone IN
                    (SELECT id FROM zones WHERE name = 'Shelf')
                """)
        }
        #expect(
            try server.problems() == [
                "data of clients in zones that do not exist or keep none: 2",
                "data of clients that no device can have left: 1",
            ])
    }
}
