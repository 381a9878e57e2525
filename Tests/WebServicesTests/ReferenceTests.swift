import CloudModel
import Testing

/// References and parents (rulings.md 18; web-services.md §5.7).
@Suite("References, parents and cascades")
struct ReferenceTests {
    let server: WireServer
    let ida: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user()
        try ida.make("Shelf", "Other")
    }

    private func field(_ target: String, _ action: String, zone: String? = nil) -> String {
        let location = zone.map { ",\"zoneID\":{\"zoneName\":\(quoted($0))}" } ?? ""
        return "{\"ref\":{\"value\":{\"recordName\":\(quoted(target))\(location),"
            + "\"action\":\"\(action)\"}}}"
    }

    private func list(_ targets: [String], _ action: String) -> String {
        let values = targets.map { "{\"recordName\":\(quoted($0)),\"action\":\"\(action)\"}" }
        return "{\"refs\":{\"value\":[\(values.joined(separator: ","))]}}"
    }

    private func parent(_ name: String) -> String {
        "\"parent\":{\"recordName\":\(quoted(name))}"
    }

    private func isThere(_ name: String, _ zone: String? = "Shelf") throws -> Bool {
        try ida.record(name, zone: zone).code == nil
    }

    private func tombstones(_ zone: String, after token: String?) throws -> Set<String> {
        let page = try ida.changes(zone, after: token)
        return Set(
            page["records"].elements.filter { $0["deleted"].bool == true }.map { $0.name ?? "" })
    }

    @Test("A reference without an action, or with NONE, may lead nowhere and does nothing")
    func none() throws {
        try ida.save("t")
        #expect(
            try ida.save("s", #"{"ref":{"value":{"recordName":"t"}}}"#)["fields"]["ref"].raw
                == #"{"value":{"recordName":"t","action":"NONE"},"type":"REFERENCE"}"#)
        #expect(try ida.save("q", field("nowhere", "NONE")).code == nil)
        try ida.delete("t")
        #expect(try isThere("s"))
    }

    @Test("VALIDATE needs its target, in fields, lists, other zones and parents")
    func validate() throws {
        let cases = [
            (field("t", "VALIDATE"), nil), (list(["t"], "VALIDATE"), nil), ("{}", parent("t")),
            (field("t", "VALIDATE", zone: "Shelf"), nil),
        ]
        for (fields, more) in cases {
            let refused = try ida.save("s", fields, more: more)
            #expect(refused.code == "VALIDATING_REFERENCE_ERROR", "\(refused.raw)")
            #expect(refused.keys == ["recordName", "reason", "serverErrorCode"])
            #expect(refused.reason.contains("'t'"))
            try ida.save("t")
            #expect(try ida.save("s", fields, more: more).code == nil)
            let kept = try ida.delete("t")
            #expect(kept.code == "VALIDATING_REFERENCE_ERROR", "\(kept.raw)")
            try ida.delete("s")
            #expect(try ida.delete("t").code == nil)
        }
        #expect(
            try ida.save("s", field("t", "VALIDATE", zone: "Other")).code
                == "VALIDATING_REFERENCE_ERROR")
        #expect(
            try ida.save("s", field("t", "VALIDATE", zone: "Nope")).code
                == "VALIDATING_REFERENCE_ERROR")
        try ida.save("t", zone: "Other")
        #expect(try ida.save("s", field("t", "VALIDATE", zone: "Other")).code == nil)
        #expect(try ida.delete("t", zone: "Other").code == "VALIDATING_REFERENCE_ERROR")
    }

    @Test("A parent comes back in answers, stays on an update, and null or a replace clears it")
    func parents() throws {
        try ida.save("p")
        let saved = try ida.save("c", more: parent("p"))
        #expect(saved["parent"].raw == #"{"recordName":"p"}"#)
        #expect(saved.keys.last == "parent")
        let parentTag = try ida.record("p").tag
        let updated = try ida.modify([operation("update", "c", tag: saved.tag)]).records[0]
        #expect(updated["parent"].exists)
        #expect(try ida.record("p").tag == parentTag)
        let cleared = try ida.modify([
            operation("update", "c", tag: updated.tag, more: #""parent":null"#)
        ]).records[0]
        #expect(!cleared["parent"].exists)
        #expect(try ida.delete("p").code == nil)
        try ida.save("p")
        try ida.save("c", more: parent("p"))
        #expect(try !ida.save("c")["parent"].exists)
        #expect(try ida.delete("p").code == nil)
    }

    @Test("A parent of the wrong JSON fails the request; oneself as a parent fails the record")
    func badParents() throws {
        for bad in [#""p""#, "5", "[]", "{}", #"{"recordName":5}"#] {
            let answer = try ida.modify([operation("create", "c", more: "\"parent\":\(bad)")])
            #expect(answer.status == 400, "\(answer.text)")
            #expect(answer.reason.contains("parent") || answer.reason.contains("recordName"))
        }
        #expect(try ida.save("c", more: parent("c")).code == "BAD_REQUEST")
        #expect(try ida.save("c", more: parent("")).code == "BAD_REQUEST")
    }

    @Test("Order in a batch does not matter: references are checked after all operations")
    func order() throws {
        let saved = try ida.modify([
            operation("create", "s", fields: field("t", "VALIDATE")), operation("create", "t"),
        ])
        #expect(saved.records.map(\.code) == [nil, nil])
        let gone = try ida.modify([
            operation("forceDelete", "t", type: nil), operation("forceDelete", "s", type: nil),
        ])
        #expect(gone.records.map(\.code) == [nil, nil])
        let circle = try ida.modify([
            operation("create", "a", fields: field("b", "VALIDATE")),
            operation("create", "b", fields: field("a", "VALIDATE")),
        ])
        #expect(circle.records.map(\.code) == [nil, nil])
        #expect(try ida.delete("a").code == "VALIDATING_REFERENCE_ERROR")
        let both = try ida.modify([
            operation("forceDelete", "a", type: nil), operation("forceDelete", "b", type: nil),
        ])
        #expect(both.records.map(\.code) == [nil, nil])
    }

    @Test("A record may validate itself, and be deleted")
    func itself() throws {
        #expect(try ida.save("s", field("s", "VALIDATE")).code == nil)
        #expect(try ida.delete("s").code == nil)
        #expect(try ida.save("s", field("s", "DELETE_SELF")).code == nil)
        #expect(try ida.delete("s").code == nil)
    }

    @Test("A target saved and deleted, or deleted and saved, within a batch is as it is at its end")
    func endOfBatch() throws {
        try ida.save("t")
        try ida.save("s", field("t", "VALIDATE"))
        let moved = try ida.modify([
            operation("forceDelete", "t", type: nil),
            operation("forceUpdate", "s", fields: field("u", "VALIDATE")),
            operation("create", "u"),
        ])
        #expect(moved.records.map(\.code) == [nil, nil, nil])
        let broken = try ida.modify([
            operation("create", "x", fields: field("u", "VALIDATE")),
            operation("forceDelete", "u", type: nil),
        ])
        #expect(broken.records.allSatisfy { $0.code == "VALIDATING_REFERENCE_ERROR" })
    }

    @Test("Without atomicity, what refers to a record that fails fails with it, all the way")
    func failingTargets() throws {
        try ida.save("there")
        for zone in ["Shelf", nil] as [String?] {
            let answer = try ida.modify(
                [
                    operation("create", "c", fields: field("b", "VALIDATE")),
                    operation("create", "b", fields: field("a", "DELETE_SELF")),
                    operation("update", "a", tag: "x"), operation("create", "free"),
                ], zone: zone, atomic: false)
            #expect(
                answer.records.map(\.code) == [
                    "VALIDATING_REFERENCE_ERROR", "VALIDATING_REFERENCE_ERROR", "NOT_FOUND", nil,
                ])
        }
    }

    @Test(
        "A long chain of saves fails with its end, in whatever order, and what is beside it is done"
    )
    func longChain() throws {
        try ida.save("t")
        try ida.save("s", field("t", "DELETE_SELF"))
        let chain = (0..<150).map {
            operation("create", "c\($0)", fields: field("c\($0 + 1)", "VALIDATE"))
        }
        for operations in [chain, chain.reversed()] {
            try ida.save("t")
            try ida.save("s", field("t", "DELETE_SELF"))
            let answer = try ida.modify(
                operations + [
                    operation("forceDelete", "t", type: nil), operation("update", "c150", tag: "x"),
                ],
                atomic: false)
            #expect(
                answer.records.map(\.code)
                    == Array(repeating: "VALIDATING_REFERENCE_ERROR", count: 150) + [
                        nil, "NOT_FOUND",
                    ])
            #expect(try !isThere("s"))
        }
        let whole = try ida.modify(chain + [operation("create", "c150")], atomic: false)
        #expect(whole.records.allSatisfy { $0.code == nil })
        #expect(try server.problems() == [])
    }

    @Test("Deleting a target deletes its DELETE_SELF sources, theirs too, in every zone")
    func cascade() throws {
        try ida.save("t")
        try ida.save("a", field("t", "DELETE_SELF"))
        try ida.save("b", list(["x", "a"], "DELETE_SELF"))
        try ida.save("far", field("b", "DELETE_SELF", zone: "Shelf"), zone: "Other")
        try ida.save("near", field("t", "NONE"))
        let (shelf, other) = (
            try ida.changes()["syncToken"].string, try ida.changes("Other")["syncToken"].string
        )
        let answer = try ida.modify([operation("delete", "t", type: nil)])
        #expect(answer.text == #"{"records":[{"recordName":"t","deleted":true}]}"#)
        #expect(try tombstones("Shelf", after: shelf) == ["t", "a", "b"])
        #expect(try tombstones("Other", after: other) == ["far"])
        #expect(try isThere("near"))
        #expect(try server.problems() == [])
    }

    @Test("A source saved in the batch that deletes its target goes too")
    func sourceInBatch() throws {
        try ida.save("t")
        try ida.save("old")
        for source in ["new", "old"] {
            try ida.save("t")
            let before = try ida.changes()["syncToken"].string
            let answer = try ida.modify([
                operation("forceUpdate", source, fields: field("t", "DELETE_SELF")),
                operation("forceDelete", "t", type: nil),
            ])
            #expect(answer.records.map(\.code) == [nil, nil])
            #expect(try !isThere(source))
            #expect(try tombstones("Shelf", after: before) == ["t", source])
            let all = try ida.changes(after: before)["records"].elements.map { $0.name ?? "" }
            #expect(all.sorted() == ["t", source].sorted())
            #expect(try server.problems() == [])
        }
    }

    @Test("A source that the batch turns away from its target stays, and one made anew is new")
    func turnedAway() throws {
        try ida.save("t")
        try ida.save("s", field("t", "DELETE_SELF"))
        let answer = try ida.modify([
            operation("forceUpdate", "s", fields: #"{"ref":null}"#),
            operation("forceDelete", "t", type: nil),
        ])
        #expect(answer.records.map(\.code) == [nil, nil])
        #expect(try isThere("s"))
        try ida.save("t")
        try ida.save("s", field("t", "DELETE_SELF"))
        let back = try ida.modify([
            operation("forceDelete", "t", type: nil), operation("create", "s"),
        ])
        #expect(back.records.map(\.code) == [nil, nil])
        #expect(back.records[1]["fields"].raw == "{}")
        #expect(try isThere("s"))
        #expect(try server.problems() == [])
    }

    @Test("A record that is gone after all needs nothing")
    func goneNeedsNothing() throws {
        try ida.save("t")
        let both =
            "{\"own\":{\"value\":{\"recordName\":\"t\",\"action\":\"DELETE_SELF\"}},"
            + "\"need\":{\"value\":{\"recordName\":\"t\",\"action\":\"VALIDATE\"}}}"
        let answer = try ida.modify([
            operation("create", "s", fields: both), operation("forceDelete", "t", type: nil),
        ])
        #expect(answer.records.map(\.code) == [nil, nil], "\(answer.text)")
        #expect(try !isThere("s"))
        #expect(try server.problems() == [])
    }

    @Test("A cascade stops at a record that others need, and then nothing is deleted")
    func neededVictim() throws {
        try ida.save("t")
        try ida.save("a", field("t", "DELETE_SELF"))
        try ida.save("b", field("a", "VALIDATE"))
        #expect(try ida.delete("t").code == "VALIDATING_REFERENCE_ERROR")
        #expect(try isThere("t"))
        #expect(try isThere("a"))
    }

    @Test("References that an update keeps go on acting; those that it clears do not")
    func keptReferences() throws {
        try ida.save("t")
        try ida.save("u")
        try ida.save("s", field("t", "DELETE_SELF"))
        _ = try ida.modify([operation("forceUpdate", "s", fields: list(["u"], "VALIDATE"))])
        #expect(try ida.delete("u").code == "VALIDATING_REFERENCE_ERROR")
        _ = try ida.modify([operation("forceUpdate", "s", fields: #"{"refs":{"value":null}}"#)])
        #expect(try ida.delete("u").code == nil)
        try ida.delete("t")
        #expect(try !isThere("s"))
    }

    @Test("A reference into a zone that is made later acts from the next save on")
    func laterZone() throws {
        try ida.save("s", field("t", "DELETE_SELF", zone: "Later"))
        try ida.make("Later")
        try ida.save("t", zone: "Later")
        _ = try ida.modify([operation("forceUpdate", "s")])
        try ida.delete("t", zone: "Later")
        #expect(try !isThere("s"))
    }

    @Test("References act in the default zones too, private and public")
    func defaultZones() throws {
        for database in ["private", "public"] {
            try ida.save("t", zone: nil, in: database)
            try ida.save("s", field("t", "DELETE_SELF"), zone: nil, in: database)
            try ida.save("v", field("s", "VALIDATE"), zone: nil, in: database)
            #expect(
                try ida.delete("t", zone: nil, in: database).code == "VALIDATING_REFERENCE_ERROR")
            try ida.delete("v", zone: nil, in: database)
            try ida.delete("t", zone: nil, in: database)
            #expect(try ida.record("s", zone: nil, in: database).code == "NOT_FOUND")
        }
    }

    @Test("Records of a deleted zone hold nothing and are held by nothing")
    func deletedZones() throws {
        try ida.save("t")
        try ida.save("s", field("t", "VALIDATE", zone: "Shelf"), zone: "Other")
        try ida.save("d", field("t", "DELETE_SELF", zone: "Shelf"), zone: "Other")
        try ida.remove("Other")
        #expect(try ida.delete("t").code == nil)
        try ida.make("Other")
        #expect(try ida.record("s", zone: "Other").code == "NOT_FOUND")
        try ida.save("t", zone: "Other")
        try ida.save("s", field("t", "VALIDATE", zone: "Other"))
        try ida.remove("Other")
        #expect(try isThere("s"))
        #expect(try ida.delete("s").code == nil)
        #expect(try server.problems() == [])
    }

    @Test("Over the sources of one target, the save is refused by the setting's name")
    func sourceLimit() throws {
        let small = try WireServer { $0.deleteSelfSourcesMax = 3 }
        let ida = try small.user()
        try ida.make("Shelf")
        try ida.save("t")
        let answer = try ida.modify(
            (1...4).map { operation("create", "s\($0)", fields: field("t", "DELETE_SELF")) },
            atomic: false)
        #expect(answer.records.map(\.code) == [nil, nil, nil, "BAD_REQUEST"])
        #expect(answer.records[3].reason.contains("3"))
        #expect(answer.records[3].reason.contains("limits.deleteSelfSourcesMax"))
        #expect(try ida.save("s5", field("t", "DELETE_SELF")).code == "BAD_REQUEST")
        #expect(try ida.save("s3", field("t", "DELETE_SELF")).code == nil)
        #expect(try ida.save("free", field("t", "VALIDATE")).code == nil)
        let swapped = try ida.modify([
            operation("forceDelete", "s1", type: nil),
            operation("create", "s5", fields: field("t", "DELETE_SELF")),
        ])
        #expect(swapped.records.map(\.code) == [nil, nil])
        #expect(ServiceLimits().deleteSelfSourcesMax == 750)
    }

    @Test("A cascade over its limit is refused and deletes nothing")
    func cascadeLimit() throws {
        let small = try WireServer { $0.cascadeRecordsMax = 3 }
        let ida = try small.user()
        try ida.make("Shelf")
        try ida.save("s0")
        for number in 1...4 {
            try ida.save("s\(number)", field("s\(number - 1)", "DELETE_SELF"))
        }
        let refused = try ida.delete("s0")
        #expect(
            refused.code == "BAD_REQUEST" && refused.reason.contains("limits.cascadeRecordsMax"))
        #expect(try ida.lookup((0...4).map { "s\($0)" }).records.allSatisfy { $0.code == nil })
        #expect(try ida.delete("s1").code == nil)
        #expect(
            try ida.lookup((0...4).map { "s\($0)" }).records.map(\.code)
                == [nil, "NOT_FOUND", "NOT_FOUND", "NOT_FOUND", "NOT_FOUND"])
        #expect(ServiceLimits().cascadeRecordsMax == 5_000)
    }

    @Test("The stored records that a batch changes keep to a limit together")
    func batchBytes() throws {
        let small = try WireServer { $0.batchBytesMax = 1_500 }
        let ida = try small.user()
        try ida.make("Shelf")
        for name in ["a", "b", "c", "d"] { try ida.save(name) }
        let updates = ["a", "b", "c", "d"].map { operation("forceUpdate", $0) }
        let refused = try ida.modify(updates, atomic: false)
        #expect(refused.records.first?.code == nil)
        #expect(refused.records.last?.code == "BAD_REQUEST")
        #expect(refused.records.last?.reason.contains("bytes together") == true)
        #expect(try ida.modify([operation("forceUpdate", "d")]).records.map(\.code) == [nil])
        #expect(ServiceLimits().batchBytesMax == 67_108_864)
    }

    @Test("All cascades of a batch together keep to the limit")
    func cascadesOfBatch() throws {
        let small = try WireServer { $0.cascadeRecordsMax = 3 }
        let ida = try small.user()
        try ida.make("Shelf")
        for target in ["t1", "t2"] {
            try ida.save(target)
            for number in 1...2 {
                try ida.save("\(target)-s\(number)", field(target, "DELETE_SELF"))
            }
        }
        let deletions = ["t1", "t2"].map { operation("forceDelete", $0, type: nil) }
        let refused = try ida.modify(deletions, atomic: false)
        #expect(refused.records.map(\.code) == [nil, "BAD_REQUEST"])
        #expect(refused.records[1].reason.contains("limits.cascadeRecordsMax"))
        #expect(try ida.record("t2-s2").code == nil)
        #expect(try ida.delete("t2").code == nil)
        #expect(try small.problems() == [])
    }

    @Test("A list that names one target many times is one reference")
    func repeatedReference() throws {
        try ida.save("t")
        let reference = #"{"recordName":"t","action":"DELETE_SELF"}"#
        let list = Array(repeating: reference, count: 2_000).joined(separator: ",")
        let saved = try ida.save("s", "{\"a\":{\"value\":[\(list)]}}")
        #expect(saved.code == nil)
        #expect(try ida.delete("t").code == nil)
        #expect(try !isThere("s"))
        #expect(try server.problems() == [])
    }

    @Test("A type that comes with a record that fails is made by the next that has it")
    func typeOfFailedRecord() throws {
        let answer = try ida.modify(
            [
                operation(
                    "create", "own", type: "Fresh", fields: #"{"a":{"value":1}}"#,
                    more: #""parent":{"recordName":"own"}"#),
                operation("create", "good", type: "Fresh", fields: #"{"a":{"value":1}}"#),
            ], atomic: false)
        #expect(answer.records.map(\.code) == ["BAD_REQUEST", nil])
        #expect(try server.problems() == [])
        let page = try ida.changes(more: #""desiredRecordTypes":["Fresh"]"#)
        #expect(page["records"].elements.map(\.name) == ["good"])
    }
}
