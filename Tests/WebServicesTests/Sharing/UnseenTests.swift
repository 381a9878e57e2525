import CloudDatabase
import Foundation
import Testing

/// For what somebody may not see they get the answer of what is not there, in the same bytes and time
/// (rulings.md 37 and 38).
@Suite("What is out of sight")
struct UnseenTests {
    let server: WireServer
    let ida: WireClient
    let bo: WireClient
    let eve: WireClient
    /// Of a share that neither of the others may see.
    let guid: String

    private var shelf: String { zone("Shelf", ida.name) }

    /// Bo may write below `note`; `secret`, `locker` and its share are Ida's alone, as is zone `Den`.
    ///
    /// Names of what is not there are as long as those of what is.
    init() throws {
        server = try WireServer()
        ida = try server.user("ida")
        bo = try server.user("bo")
        eve = try server.user("eve")
        try ida.make("Shelf")
        try ida.make("Den")
        try ida.put(
            ("note", nil), ("page", "note"), ("secret", nil), ("inside", "secret"),
            ("locker", nil), ("drawer", "locker"))
        try ida.put(("secret", nil), zone: "Den")
        try bo.join(try ida.share("note"))
        let tag = try ida.record("locker").tag
        guid = try ida.modify([
            shareOperation("create", "lshare", root: "locker", rootTag: tag, participants: [])
        ]).records[0].shortGUID
    }

    private func zone(_ name: String, _ owner: String) -> String {
        "\"zoneID\":{\"zoneName\":\(quoted(name)),\"ownerRecordName\":\(quoted(owner))}"
    }

    /// An answer without what every answer has of its own.
    private func told(_ client: WireClient, _ path: String, _ body: String) throws -> String {
        let text = try client.send(path, body).text
        return try text.replacing(Regex("\"uuid\":\"[^\"]*\""), with: "\"uuid\":\"\"")
    }

    /// Compares what is told of a hidden thing with what is told of one that is not there.
    private func expectSame(
        _ client: WireClient, _ path: String, _ hidden: String, _ missing: String,
        _ body: (String) -> String
    ) throws {
        let ofHidden = try told(client, path, body(hidden))
        let ofMissing = try told(client, path, body(missing))
        #expect(
            ofHidden.replacing(hidden, with: "#") == ofMissing.replacing(missing, with: "#"),
            "\(path) \(body(hidden))")
    }

    @Test(
        "A record: every operation, lookups, queries, parents and references",
        arguments: ["secret", "inside", "locker", "drawer", "lshare"])
    func records(_ hidden: String) throws {
        let missing = String("absent00".prefix(hidden.count))
        func same(_ path: String, _ body: (String) -> String) throws {
            try expectSame(bo, "shared/records/\(path)", hidden, missing, body)
        }
        try same("lookup") { "{\(shelf),\"records\":[{\"recordName\":\(quoted($0))}]}" }
        let other = hidden == "secret" ? "locker" : "secret"
        let locations: [(String) -> String?] = [
            { _ in nil }, { _ in "\"parent\":null" }, { _ in below("nobody") }, { below($0) },
            { _ in below(other) },
        ]
        for location in locations {
            for kind in ["create", "update", "forceUpdate", "replace", "forceReplace"] {
                let tag = kind == "update" || kind == "replace" ? "1" : nil
                for type in ["Note", "cloudkit.share", "Other", "1 2"] {
                    for fields in ["{}", "{\"n\":{\"value\":true}}"] {
                        try same("modify") { name in
                            let save = operation(
                                kind, name, type: type, fields: fields, tag: tag,
                                more: location(name))
                            return "{\(shelf),\"operations\":[\(save)]}"
                        }
                    }
                }
            }
        }
        for kind in ["update", "replace"] {
            try same("modify") { name in
                let save = operation(
                    kind, name, type: "Note", fields: "{}", tag: "1", more: below("page"))
                return "{\(shelf),\"operations\":[\(save)]}"
            }
        }
        for (kind, tag) in [("delete", nil), ("delete", "1"), ("forceDelete", nil)] {
            try same("modify") {
                "{\(shelf),\"operations\":[\(operation(kind, $0, type: nil, tag: tag))]}"
            }
        }
        // What fails for another reason does not say whether it would have for this one.
        try same("modify") { name in
            let save = operation("create", name, type: "Note", fields: "{}", more: below("page"))
            let other = operation("create", "new", type: "Note", fields: "{}", more: below("no"))
            return "{\(shelf),\"operations\":[\(save),\(other)]}"
        }
        try same("modify") { name in
            let field =
                "{\"r\":{\"value\":{\"recordName\":\(quoted(name)),\"action\":\"VALIDATE\"}}}"
            let save = operation("create", "new", type: "Note", fields: field, more: below("page"))
            return "{\(shelf),\"operations\":[\(save)]}"
        }
        try same("query") { name in
            "{\(shelf),\"query\":{\"recordType\":\"Note\",\"filterBy\":[{\"fieldName\":"
                + "\"recordName\",\"comparator\":\"EQUALS\",\"fieldValue\":{\"value\":"
                + "{\"recordName\":\(quoted(name)),\"action\":\"NONE\"}}}]}}"
        }
        #expect(try server.problems() == [])
    }

    @Test(
        "A name that is taken out of sight is refused, and nothing of what has it is told or changed"
    )
    func taken() throws {
        let before = try ida.record("secret").raw
        for kind in ["create", "forceUpdate", "forceReplace"] {
            let save = operation(
                kind, "secret", type: "Note", fields: "{\"n\":{\"value\":1}}", more: below("page"))
            let answer = try bo.modify([save], zone: nil, in: "shared", more: shelf)
            #expect(
                answer.records[0].raw
                    == "{\"recordName\":\"secret\",\"reason\":\"Record not found\","
                    + "\"serverErrorCode\":\"NOT_FOUND\"}")
        }
        #expect(try ida.record("secret").raw == before)
    }

    @Test("A zone: of nobody's, of one who shares others, and of one who shares nothing")
    func zones() throws {
        for client in [bo, eve] {
            for (path, body) in zoneRequests {
                try expectSame(client, path, "Den", "Nix") { body(zone($0, ida.name)) }
                let strange = zone("Den", "_0123456789abcdef0123456789abcdef")
                let known = try told(client, path, body(zone("Den", ida.name)))
                let forged = try told(client, path, body(strange))
                #expect(
                    known.replacing(ida.name, with: "")
                        == forged.replacing("_0123456789abcdef0123456789abcdef", with: ""))
            }
        }
    }

    private var zoneRequests: [(String, (String) -> String)] {
        let save = operation("forceUpdate", "secret", type: "Note", fields: "{}")
        let query = "\"query\":{\"recordType\":\"Note\"}"
        return [
            ("shared/records/lookup", { "{\($0),\"records\":[{\"recordName\":\"secret\"}]}" }),
            ("shared/records/query", { "{\($0),\(query)}" }),
            ("shared/records/modify", { "{\($0),\"operations\":[\(save)]}" }),
            ("shared/records/changes", { "{\($0)}" }),
            ("shared/changes/zone", { "{\"zones\":[{\($0)}]}" }),
            ("shared/zones/lookup", { "{\"zones\":[{\($0)}]}" }),
        ]
    }

    @Test("A short identifier: of a share that is not for them, and of none")
    func links() throws {
        let unknown = String(guid.prefix(4) + "0123456789abcdefghijk")
        for path in ["public/records/resolve", "public/records/accept"] {
            for client in [bo, eve] {
                try expectSame(client, path, guid, unknown) {
                    "{\"shortGUIDs\":[{\"value\":\(quoted($0)),\"shouldFetchRootRecord\":true}]}"
                }
            }
        }
    }

    @Test(
        "Nobody finds a shared root by a parent that is hidden, nor the parent by the root")
    func parents() throws {
        try ida.put(("top", nil), ("middle", "top"), ("leaf", "middle"))
        try bo.join(try ida.share("middle"))
        _ = try ImportSchema(
            SchemaLanguage.parse(
                Array(
                    "DEFINE SCHEMA RECORD TYPE Note (\"___parent\" REFERENCE QUERYABLE);".utf8)),
            into: server.store(), production: server.store(WireServer.tea, .production),
            limits: server.limits
        ).run(by: "the test")
        func found(
            _ client: WireClient, _ database: String, below parent: String
        ) throws -> [String] {
            let filter =
                "{\"fieldName\":\"parent\",\"comparator\":\"EQUALS\",\"fieldValue\":{\"value\":"
                + "{\"recordName\":\(quoted(parent)),\"action\":\"NONE\"}}}"
            return try client.send(
                "\(database)/records/query",
                "{\(shelf),\"query\":{\"recordType\":\"Note\",\"filterBy\":[\(filter)]}}"
            ).records.compactMap(\.name)
        }
        #expect(try found(ida, "private", below: "top") == ["middle"])
        #expect(try found(bo, "shared", below: "top") == [])
        #expect(try found(bo, "shared", below: "middle") == ["leaf"])
        let guess = try bo.modify(
            [
                operation("forceUpdate", "middle", type: "Note", fields: "{}"),
                operation("delete", "top", type: nil),
            ], zone: nil, atomic: false, in: "shared", more: shelf)
        #expect(guess.records.map(\.code) == [nil, "NOT_FOUND"], "a guess of the parent's name")
        // A circle through the parent that they are not shown would tell that it is the parent.
        for hidden in ["top", "drawer"] {
            let circle = try bo.modify(
                [
                    operation("forceUpdate", "middle", type: "Note", fields: "{}"),
                    operation(
                        "forceUpdate", hidden, type: "Note", fields: "{}",
                        more: "\"parent\":{\"recordName\":\"middle\"}"),
                ], zone: nil, atomic: false, in: "shared", more: shelf)
            #expect(circle.records.map(\.code) == [nil, "NOT_FOUND"], "\(hidden)")
        }
    }

    @Test("Who has left a share and leaves it again sees nothing of it, whatever tag they send")
    func left() throws {
        try bo.join(try ida.share("secret"))
        let old = try bo.lookup(["share-note"], zone: nil, in: "shared", more: shelf).records[0].tag
        func leave(_ kind: String, _ tag: String?) throws -> String {
            let leaving = operation(kind, "share-note", type: nil, tag: tag)
            return try bo.modify([leaving], zone: nil, in: "shared", more: shelf).records[0].raw
        }
        let done = "{\"recordName\":\"share-note\",\"deleted\":true}"
        #expect(try leave("delete", old) == done)
        #expect(
            try bo.lookup(["secret"], zone: nil, in: "shared", more: shelf).records[0].code == nil)
        for (kind, tag) in [("delete", old), ("delete", nil), ("forceDelete", nil)] {
            #expect(try leave(kind, tag) == done)
        }
    }

    @Test("Whom a permission of NONE keeps out, a share is not there for, to be left either")
    func keptOut() throws {
        try bo.join(try ida.share("secret", permission: "READ_ONLY"))
        let share = try ida.record("share-secret")
        let entry = try #require(share.participants[bo.name])
        let changed = try ida.changeShare(
            "share-secret",
            participants: [
                invitation(id: entry["participantId"].string, permission: "NONE", type: "USER")
            ])
        #expect(changed.participants[bo.name]?["permission"].string == "NONE", "\(changed.raw)")
        for kind in ["delete", "forceDelete"] {
            try expectSame(bo, "shared/records/modify", "share-secret", "share-nobody") {
                "{\(shelf),\"operations\":[\(operation(kind, $0, type: nil))]}"
            }
        }
        let kept = try ida.record("share-secret").participants[bo.name]
        #expect(kept?["acceptanceStatus"].string == "ACCEPTED")
    }

    @Test("A share does not name the administrator who saved it to those who do not see that one")
    func modifier() throws {
        let share = try ida.shareNote(
            "song", as: "song-share", publicPermission: "READ_ONLY",
            participants: [invitation(user: eve.name, type: "ADMINISTRATOR")])
        for client in [bo, eve] { try client.join(share.shortGUID) }
        let seen = try eve.lookup(["song-share"], zone: nil, in: "shared", more: shelf).records[0]
        let closing = shareOperation(
            "update", "song-share", publicPermission: "READ_ONLY", participants: nil, tag: seen.tag)
        let saved = try eve.modify([closing], zone: nil, in: "shared", more: shelf).records[0]
        #expect(saved["modified"]["userRecordName"].string == eve.name, "\(saved.raw)")
        let shown = try bo.lookup(["song-share"], zone: nil, in: "shared", more: shelf)
        #expect(shown.records[0].code == nil && !shown.text.contains(eve.name))
        #expect(shown.records[0]["modified"]["userRecordName"].string == ida.name)
        #expect(try ida.record("song-share")["modified"]["userRecordName"].string == eve.name)
    }

    // MARK: - Time

    private static let rounds =
        ProcessInfo.processInfo.environment["LENTICULAR_TIMING"].flatMap { Int($0) }

    /// LENTICULAR_TIMING says how often each request is sent.
    @Test("Neither does time tell them apart", .enabled(if: rounds != nil))
    func time() throws {
        let guids = [guid, String(guid.prefix(4) + "0123456789abcdefghijk")]
        func compare(
            _ what: String, _ client: WireClient, _ path: String, _ bodies: [String]
        ) throws {
            var times: [[Double]] = [[], []]
            for round in 0..<(Self.rounds ?? 0) {
                for index in round % 2 == 0 ? [0, 1] : [1, 0] {
                    let began = ContinuousClock.now
                    _ = try client.send(path, bodies[index])
                    times[index].append(Double((ContinuousClock.now - began).attoseconds))
                }
            }
            let medians = times.map { $0.sorted()[$0.count / 2] / 1e12 }
            let ratio = medians[0] / medians[1]
            print(
                "unseen / unknown \(what):", "ratio",
                ratio.formatted(.number.precision(.fractionLength(3))),
                "of", medians.map { "\(Int($0)) µs" }.joined(separator: " and "))
            #expect((0.9...1.1).contains(ratio))
        }
        let lookup = { (zone: String, name: String) in
            "{\(zone),\"records\":[{\"recordName\":\(quoted(name))}]}"
        }
        try compare(
            "zone", bo, "shared/records/lookup",
            ["Den", "Nix"].map { lookup(zone($0, ida.name), "secret") })
        try compare(
            "record, looked up", bo, "shared/records/lookup",
            ["drawer", "absent"].map { lookup(shelf, $0) })
        try compare(
            "record, updated", bo, "shared/records/modify",
            ["drawer", "absent"].map {
                let save = operation("update", $0, type: "Note", fields: "{}", tag: "1")
                return "{\(shelf),\"operations\":[\(save)]}"
            })
        for endpoint in ["resolve", "accept"] {
            try compare(
                "short identifier, \(endpoint)", eve, "public/records/\(endpoint)",
                guids.map { "{\"shortGUIDs\":[{\"value\":\(quoted($0))}]}" })
        }
    }
}

extension Duration {
    fileprivate var attoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000_000_000_000 + attoseconds
    }
}
