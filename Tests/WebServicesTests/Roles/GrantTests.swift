import CloudModel
import Foundation
import Testing

@Suite("Grants of the public database")
struct GrantTests {
    /// A caller, with the roles that count for records that they have not made.
    struct Somebody {
        let name: String
        let client: WireClient
        let roles: Set<String>
        var isCreator = false
        var passes = false
        var isAnonymous: Bool { roles == ["_world"] }

        /// Whether a grant to a role lets them do something with a record of ida's.
        func has(_ role: String, for permission: Permissions) -> Bool {
            if passes || roles.contains(role) { return true }
            // What somebody makes is their own.
            return role == "_creator" && (isCreator || permission == .create && !isAnonymous)
        }
    }

    static let permissions: [(word: String, value: Permissions)] = [
        ("Read", .read), ("Create", .create), ("Write", .write),
    ]

    static let fields = #"{"secret":{"value":"s3cret"},"n":{"value":1}}"#

    let server: WireServer
    let root: WireClient
    let ida: WireClient
    let mo: WireClient
    let people: [Somebody]

    init() throws {
        server = try WireServer()
        ida = try server.user("ida")
        mo = try server.user("mo")
        let nan = try server.user("nan")
        root = try server.key(scope: .container)
        try server.grant(["Lawn": ["Gardener": .read]])
        try server.assign("Gardener", to: nan)
        people = [
            Somebody(name: "visitor", client: server.visitor(), roles: ["_world"]),
            Somebody(name: "mo", client: mo, roles: ["_world", "_icloud"]),
            Somebody(name: "ida", client: ida, roles: ["_world", "_icloud"], isCreator: true),
            Somebody(name: "nan", client: nan, roles: ["_world", "_icloud", "Gardener"]),
            Somebody(name: "key", client: try server.key(), roles: ["_world", "_icloud"]),
            Somebody(name: "root", client: root, roles: ["_world", "_icloud"], passes: true),
            Somebody(
                name: "behalf", client: root.onBehalf(of: mo), roles: ["_world", "_icloud"],
                passes: true),
        ]
    }

    /// Lets ida make a record of each type for everybody to try themselves on, then sets the grants.
    private func prepare(_ grants: [String: [String: Permissions]]) throws {
        for type in grants.keys.sorted() {
            let made = try ida.modify(
                people.flatMap { ["\(type).\($0.name)", "\(type).\($0.name).2"] }.map {
                    operation("create", $0, type: type, fields: Self.fields)
                }, zone: nil, in: "public")
            try #require(made.records.allSatisfy { $0.code == nil })
        }
        try server.grant(grants)
    }

    @Test("Each role gives what it is granted and no more, by type, operation and caller")
    func table() throws {
        var grants: [String: [String: Permissions]] = ["Nothing": [:]]
        for role in ["_world", "_icloud", "_creator", "Gardener"] {
            for (word, value) in Self.permissions {
                grants["\(word)By\(role.filter(\.isLetter))"] = [role: value]
            }
        }
        try prepare(grants)
        for type in grants.keys.sorted() {
            let (role, granted) = grants[type]?.first ?? ("_nobody", [])
            for somebody in people {
                func may(_ permission: Permissions) -> Bool {
                    somebody.passes
                        || granted.contains(permission) && somebody.has(role, for: permission)
                }
                try expectReads(somebody, type, may(.read), ownOnly: role == "_creator")
                try expectWrites(
                    somebody, type, creates: may(.create), changes: may(.write), reads: may(.read))
            }
        }
    }

    private func expectReads(
        _ somebody: Somebody, _ type: String, _ isAllowed: Bool, ownOnly: Bool
    ) throws {
        let what: Comment = "\(somebody.name) reads \(type)"
        let name = "\(type).\(somebody.name)"
        let found = try somebody.client.lookup([name], zone: nil, in: "public").records[0]
        let queried = try somebody.client.query(type)
        if isAllowed {
            #expect(found["fields"]["secret"]["value"].string == "s3cret", what)
            #expect(queried.records.contains { $0.name == name }, what)
        } else {
            #expect(found.code == "ACCESS_DENIED", what)
            #expect(found.reason == "READ operation not permitted", what)
            #expect(found.keys == ["recordName", "reason", "serverErrorCode"], what)
            if ownOnly, !somebody.isAnonymous, type.hasPrefix("Read") {
                // They might have records of their own.
                #expect(queried.text == #"{"records":[]}"#, what)
            } else {
                #expect(queried.status == 403 && queried.code == "ACCESS_DENIED", what)
                #expect(queried.reason == "READ operation not permitted", what)
            }
        }
    }

    private func expectWrites(
        _ somebody: Somebody, _ type: String, creates: Bool, changes: Bool, reads: Bool
    ) throws {
        let name = "\(type).\(somebody.name)"
        for kind in ["create", "forceUpdate", "forceReplace"] {
            try expect(
                somebody,
                operation(
                    kind, "\(name).\(kind)", type: type, fields: #"{"n":{"value":2}}"#),
                creates, "CREATE operation not permitted")
        }
        for kind in ["update", "forceUpdate", "replace", "forceReplace"] {
            let stored = try root.save(name, Self.fields, type: type, zone: nil, in: "public")
            let item = try expect(
                somebody,
                operation(
                    kind, name, type: type, fields: #"{"n":{"value":3}}"#, tag: stored.tag),
                changes, "WRITE operation not permitted")
            let now = try root.record(name, zone: nil, in: "public")
            guard changes, let item, !somebody.isAnonymous else {
                #expect(now.raw == stored.raw, "\(somebody.name): \(kind) of \(type)")
                continue
            }
            // A merge keeps what is there, and tells it only to who may read it.
            #expect(now["fields"]["n"]["value"].int == 3)
            #expect(now["fields"]["secret"].exists == kind.hasSuffix("pdate"))
            #expect(
                item["fields"].raw
                    == (reads ? now["fields"].raw : #"{"n":{"value":3,"type":"INT64"}}"#),
                "\(somebody.name): \(kind) of \(type)")
        }
        for (kind, target) in [("delete", name), ("forceDelete", "\(name).2")] {
            try expect(
                somebody, operation(kind, target, type: nil), changes,
                "WRITE operation not permitted")
            let isGone = changes && !somebody.isAnonymous
            let left = try root.record(target, zone: nil, in: "public")
            #expect((left.code == "NOT_FOUND") == isGone, "\(somebody.name): \(kind) of \(type)")
        }
    }

    @discardableResult
    private func expect(
        _ somebody: Somebody, _ operation: String, _ isAllowed: Bool, _ reason: String
    ) throws -> AnswerPart? {
        let answer = try somebody.client.modify([operation], zone: nil, in: "public")
        let what: Comment = "\(somebody.name): \(operation)"
        if somebody.isAnonymous {
            #expect(answer.status == 421, what)
            return nil
        }
        let item = answer.records[0]
        if isAllowed {
            #expect(item.code == nil, what)
        } else {
            #expect(item.code == "ACCESS_DENIED" && item.reason == reason, what)
            #expect(item.keys == ["recordName", "reason", "serverErrorCode"], what)
        }
        return item
    }

    @Test("Grants of all of a caller's roles add up, and none takes anything away")
    func additive() throws {
        try prepare([
            "Bed": ["_world": .read, "Gardener": .create, "_creator": .write],
            "Tree": ["_icloud": [.read, .create], "Gardener": .write],
            "Weed": ["_creator": [.read, .write], "_icloud": .create, "Gardener": [.read]],
        ])
        let nan = people[3].client
        let fields = #"{"n":{"value":9}}"#
        // Custom, world and creator together.
        #expect(try nan.save("b", fields, type: "Bed", zone: nil, in: "public").code == nil)
        #expect(try nan.save("b", fields, type: "Bed", zone: nil, in: "public").code == nil)
        #expect(try nan.record("Bed.mo", zone: nil, in: "public").code == nil)
        let others = try nan.save("Bed.mo", fields, type: "Bed", zone: nil, in: "public")
        #expect(others.reason == "WRITE operation not permitted")
        #expect(
            try mo.save("b2", fields, type: "Bed", zone: nil, in: "public").reason
                == "CREATE operation not permitted")
        // Custom on top of signed in.
        #expect(try nan.save("Tree.mo", fields, type: "Tree", zone: nil, in: "public").code == nil)
        #expect(try mo.save("t", fields, type: "Tree", zone: nil, in: "public").code == nil)
        #expect(
            try mo.save("t", fields, type: "Tree", zone: nil, in: "public").code == "ACCESS_DENIED")
        // All of a type by one role, their own by another.
        #expect(try mo.save("w", fields, type: "Weed", zone: nil, in: "public").code == nil)
        #expect(try mo.query("Weed").records.map(\.name) == ["w"])
        #expect(try nan.query("Weed").records.count == 2 * people.count + 1)
        #expect(try ida.query("Weed").records.count == 2 * people.count)
        #expect(try server.visitor().query("Weed").status == 403)
    }

    @Test("A page of own records alone goes on where it ended, and its marker tells of no others")
    func ownPages() throws {
        try prepare(["Weed": ["_creator": .read, "_icloud": .create]])
        for number in 0..<5 {
            try mo.save("m\(number)", "{}", type: "Weed", zone: nil, in: "public")
        }
        var found: [String] = []
        var marker: String?
        repeat {
            let page = try mo.query(
                "Weed",
                more: #""resultsLimit":2"#
                    + (marker.map { ",\"continuationMarker\":\(quoted($0))" } ?? ""))
            try #require(page.status == 200)
            #expect(page.records.count == (found.count == 4 ? 1 : 2))
            found += page.records.compactMap(\.name)
            marker = page["continuationMarker"].string
        } while marker != nil
        #expect(found == ["m0", "m1", "m2", "m3", "m4"])
    }

    @Test("A role given or taken holds from the next request on")
    func assignment() throws {
        try prepare(["Bed": ["Gardener": [.read, .create, .write]]])
        func isAllowed() throws -> [Bool] {
            [
                try mo.record("Bed.mo", zone: nil, in: "public").code == nil,
                try mo.query("Bed").status == 200,
                try mo.save("new", "{}", type: "Bed", zone: nil, in: "public").code == nil,
                try mo.save("Bed.mo", "{}", type: "Bed", zone: nil, in: "public").code == nil,
            ]
        }
        #expect(try isAllowed() == [false, false, false, false])
        for _ in 0..<3 {
            #expect(try server.assign("Gardener", to: mo))
            #expect(try !server.assign("Gardener", to: mo))
            #expect(try isAllowed() == [true, true, true, true])
            #expect(try server.assign("Gardener", false, to: mo))
            #expect(try !server.assign("Gardener", false, to: mo))
            #expect(try isAllowed() == [false, false, false, false])
        }
        // In the other environment they have none of it.
        try server.grant(["Bed": ["Gardener": .read]], .production)
        try server.assign("Gardener", to: mo)
        let there = try server.user("mo", WireServer.tea, .production)
        #expect(try there.query("Bed").status == 403)
        #expect(try server.problems().isEmpty)
    }

    @Test("A grant given or taken holds from the next request on")
    func regranting() throws {
        try prepare(["Bed": ["_icloud": .read]])
        #expect(try mo.record("Bed.mo", zone: nil, in: "public").code == nil)
        #expect(try server.visitor().query("Bed").status == 403)
        try server.grant(["Bed": ["_world": .read]])
        #expect(try server.visitor().query("Bed").status == 200)
        try server.grant(["Bed": [:]])
        #expect(try mo.record("Bed.mo", zone: nil, in: "public").code == "ACCESS_DENIED")
        #expect(try mo.query("Bed").status == 403)
    }

    @Test("Roles mean nothing in private databases")
    func privateDatabases() throws {
        try server.grant(["Bed": [:]])
        try mo.make("Shelf")
        for zone in ["Shelf", nil] {
            #expect(try mo.save("b", #"{"n":{"value":1}}"#, type: "Bed", zone: zone).code == nil)
            #expect(try mo.record("b", zone: zone).code == nil)
            #expect(try mo.delete("b", zone: zone).code == nil)
            #expect(try mo.record("b", zone: zone).code == "NOT_FOUND")
        }
    }
}
