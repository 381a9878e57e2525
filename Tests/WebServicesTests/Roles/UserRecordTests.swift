import CloudModel
import Foundation
import Testing

@Suite("The records that the server keeps of users")
struct UserRecordTests {
    let server: WireServer
    let ida: WireClient
    let mo: WireClient
    let root: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user("ida")
        mo = try server.user("mo")
        root = try server.key(scope: .container)
    }

    private func change(
        _ client: WireClient, _ name: String, _ fields: String, kind: String = "forceUpdate",
        tag: String? = nil, in database: String = "public"
    ) throws -> AnswerPart {
        try client.modify(
            [operation(kind, name, type: "Users", fields: fields, tag: tag)], zone: nil,
            in: database
        ).records[0]
    }

    @Test("Every user and key has one in public, there when it is first asked for, by anybody")
    func lookup() throws {
        let key = try server.key()
        for (name, clients) in [
            (ida.name, [server.visitor(), ida, mo, key, root]),
            (try key.recordName(), [mo, key, server.visitor()]),
        ] {
            for client in clients {
                let found = try client.record(name, zone: nil, in: "public")
                #expect(found.name == name && found["recordType"].string == "Users")
                #expect(found["fields"].raw == "{}")
                #expect(found["created"]["userRecordName"].string == name)
                #expect(found["modified"]["userRecordName"].string == name)
                #expect(found["created"]["timestamp"].int == server.clock.now)
                #expect(found["zoneID"]["zoneName"].string == "_defaultZone")
            }
        }
        // Made once.
        let tags = try (0..<3).map { _ in try mo.record(ida.name, zone: nil, in: "public").tag }
        #expect(Set(tags).count == 1)
        #expect(try server.problems().isEmpty)
    }

    @Test("Nobody's name, another container's and one off the form name no record")
    func strangers() throws {
        let elsewhere = try server.user("zoe", WireServer.mate)
        let names = [
            "_0123456789abcdef0123456789abcdef", elsewhere.name, "_x", ida.name.uppercased(),
            "\(ida.name)0", "_defaultOwner",
        ]
        let answer = try mo.lookup(names, zone: nil, in: "public")
        #expect(answer.records.map(\.code) == names.map { _ in "NOT_FOUND" })
    }

    @Test("One request may name many, twice and between other records")
    func manyNames() throws {
        try ida.save("c", zone: nil, in: "public")
        let names = [mo.name, "c", ida.name, "none", mo.name]
        let found = try ida.lookup(
            names, zone: nil, in: "public", more: #""desiredKeys":[]"#
        ).records
        #expect(found.map(\.name) == names)
        #expect(found.map(\.code) == [nil, nil, nil, "NOT_FOUND", nil])
        #expect(found[0].raw == found[4].raw)
    }

    @Test("The user changes their own, by every kind of save, and nobody else's")
    func changes() throws {
        let made = try change(ida, ida.name, #"{"motto":{"value":"Onward"},"n":{"value":1}}"#)
        #expect(made["fields"]["motto"]["value"].string == "Onward")
        let updated = try change(
            ida, ida.name, #"{"motto":{"value":"Up"}}"#, kind: "update", tag: made.tag)
        #expect(updated["fields"]["n"]["value"].int == 1)
        #expect(try mo.record(ida.name, zone: nil, in: "public").raw == updated.raw)
        let stale = try change(ida, ida.name, "{}", kind: "update", tag: made.tag)
        #expect(stale.code == "CONFLICT" && stale["serverRecord"].raw == updated.raw)
        let replaced = try change(
            ida, ida.name, #"{"n":{"value":2}}"#, kind: "replace", tag: updated.tag)
        #expect(replaced["fields"].keys == ["n"])
        #expect(try change(ida, ida.name, "{}", kind: "forceReplace")["fields"].raw == "{}")
        // Without its type too.
        let untyped = try ida.modify(
            [operation("forceUpdate", ida.name, type: nil, fields: #"{"n":{"value":3}}"#)],
            zone: nil, in: "public")
        #expect(untyped.records[0]["recordType"].string == "Users")
        for client in [mo, try server.key()] {
            for kind in ["forceUpdate", "forceReplace", "update", "replace"] {
                let refused = try change(client, ida.name, "{}", kind: kind, tag: "x")
                #expect(refused.reason == "WRITE operation not permitted", "\(kind)")
            }
        }
        #expect(try change(root, ida.name, #"{"n":{"value":4}}"#).code == nil)
        let mine = try server.key()
        #expect(try change(mine, mine.recordName(), #"{"n":{"value":5}}"#).code == nil)
        #expect(try server.problems().isEmpty)
    }

    @Test("Its fields are held to the schema")
    func schemaRules() throws {
        #expect(try change(ida, ida.name, #"{"n":{"value":1}}"#).code == nil)
        #expect(try change(mo, mo.name, #"{"n":{"value":"1"}}"#).code == "BAD_REQUEST")
        let secret = try change(
            mo, mo.name, #"{"pin":{"value":"1","type":"STRING","isEncrypted":true}}"#)
        #expect(
            secret.reason.hasPrefix("encrypted fields are not supported in the public database"))
        let there = try server.user("ida", WireServer.tea, .production)
        #expect(
            try change(there, there.name, #"{"n":{"value":1}}"#).reason
                .hasPrefix("Cannot create or modify field 'n' in record 'Users'"))
        #expect(try change(there, there.name, "{}").code == nil)
        // Grants are of this type as of any other.
        try server.grant(["Users": ["_icloud": .read]])
        #expect(try change(ida, ida.name, "{}").reason == "WRITE operation not permitted")
        #expect(
            try server.visitor().record(ida.name, zone: nil, in: "public").code == "ACCESS_DENIED")
    }

    @Test("Clients cannot create, delete or query them, nor give their name to another type")
    func refusals() throws {
        for client in [ida, mo, root] {
            for name in [ida.name, "_0123456789abcdef0123456789abcdef", "plain"] {
                let made = try change(client, name, "{}", kind: "create")
                #expect(made.code == "ACCESS_DENIED", "\(name)")
                #expect(made.reason.hasPrefix("CREATE operation not permitted"))
            }
            for kind in ["delete", "forceDelete"] {
                for name in [ida.name, "_0123456789abcdef0123456789abcdef"] {
                    let gone = try client.modify(
                        [operation(kind, name, type: nil)], zone: nil, in: "public"
                    ).records[0]
                    #expect(gone.code == "ACCESS_DENIED")
                    #expect(gone.reason.hasPrefix("WRITE operation not permitted"))
                }
            }
            let other = try client.save(ida.name, type: "Cup", zone: nil, in: "public")
            #expect(other.code == "BAD_REQUEST" && other.reason.contains("start with _"))
            #expect(try client.query("Users").status == 400)
        }
        let nobody = "_0123456789abcdef0123456789abcdef"
        #expect(try change(root, nobody, "{}").reason.hasPrefix("CREATE operation not permitted"))
        #expect(try change(root, nobody, "{}", kind: "update", tag: "x").code == "NOT_FOUND")
        #expect(try ida.record(ida.name, zone: nil, in: "public").code == nil)
    }

    @Test("In their private database a user has one too, and sees no others")
    func privateDatabase() throws {
        let mine = try ida.record(ida.name, zone: nil)
        #expect(mine["recordType"].string == "Users" && mine["fields"].raw == "{}")
        #expect(mine["zoneID"]["ownerRecordName"].string == ida.name)
        #expect(try ida.record(mo.name, zone: nil).code == "NOT_FOUND")
        #expect(
            try change(
                mo, mo.name, #"{"pin":{"value":"1","type":"STRING","isEncrypted":true}}"#,
                in: "private"
            )
            .code == nil)
        #expect(
            try mo.record(mo.name, zone: nil)["fields"].raw
                == #"{"pin":{"value":"1","type":"STRING","isEncrypted":true}}"#)
        #expect(try mo.record(mo.name, zone: nil, in: "public")["fields"].raw == "{}")
        #expect(
            try change(mo, ida.name, "{}", in: "private").reason
                .hasPrefix("CREATE operation not permitted"))
        // It is of the default zone.
        try ida.make("Shelf")
        #expect(try ida.record(ida.name).code == "NOT_FOUND")
        let elsewhere = try ida.modify(
            [operation("forceUpdate", ida.name, type: "Users")], zone: "Shelf")
        #expect(elsewhere.records[0].reason.hasPrefix("CREATE operation not permitted"))
        let behalf = root.onBehalf(of: ida)
        #expect(try behalf.record(ida.name, zone: nil).raw == mine.raw)
        #expect(try server.problems().isEmpty)
    }

    @Test("The field roles shows a user's roles to keys of container scope only, whatever is saved")
    func rolesShow() throws {
        try server.grant(["Bed": ["Gardener": .read, "Mason": .read]])
        let numbers = try server.store().schema.roles
        let gardener = try #require(RoleName("Gardener").flatMap { numbers[$0] })
        let mason = try #require(RoleName("Mason").flatMap { numbers[$0] })
        func shown() throws -> String {
            try root.record(ida.name, zone: nil, in: "public")["fields"].raw
        }
        #expect(try shown() == "{}")
        try server.assign("Mason", to: ida)
        let roles = #""roles":{"value":[\#(mason)],"type":"INT64_LIST"}"#
        #expect(try shown() == "{\(roles)}")
        let saved = try change(ida, ida.name, #"{"n":{"value":1}}"#)
        let number = #""n":{"value":1,"type":"INT64"}"#
        #expect(saved["fields"].raw == "{\(number)}")
        #expect(try shown() == "{\(roles),\(number)}")
        for client in [ida, mo, try server.key()] {
            let seen = try client.record(ida.name, zone: nil, in: "public")
            #expect(seen["fields"].raw == "{\(number)}")
        }
        // The user may not send them even as they are, or would learn by trying.
        #expect(try change(ida, ida.name, "{\(roles)}").code == "ACCESS_DENIED")
        let replaced = try change(ida, ida.name, "{}", kind: "forceReplace")
        #expect(replaced["fields"].raw == "{}")
        #expect(try shown() == "{\(roles)}")
        // Who gives roles may send them back with the rest of the record.
        #expect(try change(root, ida.name, "{\(roles)}", kind: "forceReplace").code == nil)
        #expect(try shown() == "{\(roles)}")
        try server.assign("Gardener", to: ida)
        let both = [gardener, mason].sorted().map { "\($0)" }.joined(separator: ",")
        #expect(try shown() == #"{"roles":{"value":[\#(both)],"type":"INT64_LIST"}}"#)
        let asText = try root.lookup(
            [ida.name], zone: nil, in: "public", more: #""numbersAsStrings":true"#)
        #expect(
            asText.records[0]["fields"]["roles"]["value"].elements.allSatisfy { $0.string != nil })
        let conflict = try change(ida, ida.name, "{}", kind: "update", tag: "x")
        #expect(conflict["serverRecord"]["fields"].raw == "{}")
        let told = try change(root, ida.name, "{}", kind: "update", tag: "x")
        #expect(try told["serverRecord"]["fields"].raw == shown())
        try server.assign("Gardener", false, to: ida)
        try server.assign("Mason", false, to: ida)
        #expect(try shown() == "{}")
    }

    @Test("Only a key of container scope changes roles through the API, to roles that there are")
    func rolesChange() throws {
        try server.grant(["Bed": ["Gardener": .read]])
        let number = try #require(server.store().schema.roles.values.first)
        let wanted = #"{"roles":{"value":[\#(number),\#(number)],"type":"INT64_LIST"}}"#
        #expect(try ida.query("Bed").status == 403)
        for client in [ida, try server.key()] {
            let name = try client.recordName()
            for fields in [wanted, #"{"roles":{"value":[\#(number + 1)]}}"#] {
                let refused = try change(client, name, fields)
                #expect(refused.code == "ACCESS_DENIED")
                #expect(refused.reason.hasPrefix("WRITE operation not permitted"))
            }
        }
        #expect(try ida.query("Bed").status == 403)
        let given = try change(root, ida.name, wanted)
        #expect(given["fields"]["roles"]["value"].raw == "[\(number)]")
        #expect(try ida.query("Bed").status == 200)
        let unknown = try change(root, ida.name, #"{"roles":{"value":[\#(number),999]}}"#)
        #expect(unknown.code == "BAD_REQUEST" && unknown.reason.contains("999"))
        #expect(try change(root, ida.name, #"{"roles":{"value":"1"}}"#).code == "BAD_REQUEST")
        // The user cannot give them up either, nor by clearing the field.
        for fields in [#"{"roles":null}"#, #"{"roles":{"value":[]}}"#] {
            #expect(try change(ida, ida.name, fields).code == "ACCESS_DENIED")
        }
        #expect(try ida.query("Bed").status == 200)
        #expect(try change(root, ida.name, #"{"roles":null}"#)["fields"].raw == "{}")
        #expect(try ida.query("Bed").status == 403)
        // In private databases roles mean nothing.
        let behalf = root.onBehalf(of: ida)
        #expect(try change(behalf, ida.name, wanted, in: "private").code == "ACCESS_DENIED")
        #expect(try change(behalf, ida.name, wanted).code == nil)
        #expect(try change(behalf, ida.name, #"{"roles":{"value":[]}}"#).code == nil)
    }

    @Test("A server key may be given a role by its record")
    func keysHaveRoles() throws {
        try server.grant(["Bed": ["Gardener": .create]])
        let number = try #require(server.store().schema.roles.values.first)
        let key = try server.key()
        #expect(try key.save("b", type: "Bed", zone: nil, in: "public").code == "ACCESS_DENIED")
        let given = try change(
            root, key.recordName(), #"{"roles":{"value":[\#(number)]}}"#)
        #expect(given.code == nil)
        #expect(try key.save("b", type: "Bed", zone: nil, in: "public").code == nil)
    }

    @Test("References may point to them, but none can rely on them")
    func references() throws {
        func refer(_ action: String) throws -> AnswerPart {
            try mo.save(
                "r", #"{"who":{"value":{"recordName":"\#(ida.name)","action":"\#(action)"}}}"#,
                zone: nil, in: "public")
        }
        for isThere in [false, true] {
            if isThere { _ = try ida.record(ida.name, zone: nil, in: "public") }
            #expect(try refer("NONE").code == nil)
            #expect(try refer("DELETE_SELF").code == nil)
            #expect(try refer("VALIDATE").code == "VALIDATING_REFERENCE_ERROR")
            let child = try mo.save(
                "c", zone: nil, in: "public", more: #""parent":{"recordName":"\#(ida.name)"}"#)
            #expect(child.code == "VALIDATING_REFERENCE_ERROR")
        }
        #expect(try server.problems().isEmpty)
    }

    @Test("Requests that name one record for the first time together all find it")
    func together() throws {
        let pending = (0..<8).map { number in
            (number.isMultiple(of: 2) ? ida : mo).start(
                "public/records/lookup", "{\"records\":[{\"recordName\":\"\(ida.name)\"}]}")
        }
        let found = try pending.map { try $0.answer().records[0].raw }
        #expect(Set(found).count == 1 && found[0].contains("\"Users\""))
    }
}
