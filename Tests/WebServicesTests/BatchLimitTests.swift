import CloudModel
import Testing

/// What one batch may make the server look at.
@Suite("The work of deciding a batch")
struct BatchLimitTests {
    private func field(_ target: String, _ action: String) -> String {
        "{\"ref\":{\"value\":{\"recordName\":\(quoted(target)),\"action\":\"\(action)\"}}}"
    }

    private func list(_ targets: [String], _ action: String) -> String {
        let values = targets.map { "{\"recordName\":\(quoted($0)),\"action\":\"\(action)\"}" }
        return
            "{\"refs\":{\"value\":[\(values.joined(separator: ","))],\"type\":\"REFERENCE_LIST\"}}"
    }

    /// A server where each of so many operations takes 20 steps, and its user with a zone.
    private func server(operations: Int) throws -> WireClient {
        let server = try WireServer { $0.decisionStepsMax = 20 * operations }
        let ida = try server.user()
        try ida.make("Shelf")
        return ida
    }

    @Test(
        "Each deletion of a chain fails by the next one, in steps that grow with the chain",
        arguments: [25, 50, 100, 199])
    func chainOfDeletions(length: Int) throws {
        let ida = try server(operations: length)
        let made = (0...length).map {
            operation("create", "r\($0)", fields: $0 == 0 ? "{}" : field("r\($0 - 1)", "VALIDATE"))
        }
        #expect(try ida.modify(made).records.allSatisfy { $0.code == nil })
        // The last one stays, and so all that it rests on.
        let names = (0..<length).map { "r\($0)" }
        for operations in [names, names.reversed()].map({
            $0.map { operation("forceDelete", $0, type: nil) }
        }) {
            let refused = try ida.modify(operations, atomic: false)
            #expect(refused.status == 200, "\(refused.text)")
            #expect(refused.records.allSatisfy { $0.code == "VALIDATING_REFERENCE_ERROR" })
        }
    }

    @Test(
        "Each save of a chain fails by the one before it, in steps that grow with the chain",
        arguments: [25, 50, 100, 200], ["VALIDATE", "DELETE_SELF", "parent"])
    func chainOfSaves(length: Int, by link: String) throws {
        let ida = try server(operations: length)
        let made = (0..<length).map { index in
            let target = index == 0 ? "nowhere" : "r\(index - 1)"
            if link == "parent" {
                return operation(
                    "create", "r\(index)", more: "\"parent\":{\"recordName\":\(quoted(target))}")
            }
            return operation(
                "create", "r\(index)", fields: field(target, index == 0 ? "VALIDATE" : link))
        }
        for operations in [made, made.reversed()] {
            let refused = try ida.modify(operations, atomic: false)
            #expect(refused.status == 200, "\(refused.text)")
            #expect(refused.records.allSatisfy { $0.code == "VALIDATING_REFERENCE_ERROR" })
        }
    }

    @Test("What was taken out for a reference lets others go that stood against it")
    func revival() throws {
        let ida = try server(operations: 5)
        try ida.save("t")
        try ida.save("s", field("t", "DELETE_SELF"))
        try ida.save("keeper", field("t", "VALIDATE"))
        // The deletion takes s along, so that making s is right, until the deletion fails.
        let answer = try ida.modify(
            [operation("forceDelete", "t", type: nil), operation("create", "s")], atomic: false)
        #expect(answer.records.map(\.code) == ["VALIDATING_REFERENCE_ERROR", "CONFLICT"])
        #expect(try ida.record("s")["fields"]["ref"].exists)
    }

    @Test("A batch that takes more steps than it may is refused whole")
    func steps() throws {
        let server = try WireServer { $0.decisionStepsMax = 10 }
        let ida = try server.user()
        try ida.make("Shelf")
        try ida.save("a")
        let made = (0..<5).map { operation("create", "r\($0)", fields: field("a", "VALIDATE")) }
        let refused = try ida.modify(made, atomic: false)
        #expect(refused.status == 400 && refused.reason.contains("steps to find out"))
        #expect(try ida.record("r0").code == "NOT_FOUND")
        // What needs nothing takes no steps.
        #expect(
            try ida.modify((0..<50).map { operation("create", "p\($0)") }).records
                .allSatisfy { $0.code == nil })
        #expect(ServiceLimits().decisionStepsMax == 1_000_000)
    }

    @Test("Lists have as many values as an index is to hold of a record, kept ones with them")
    func listValues() throws {
        let server = try WireServer { $0.indexedValuesPerRecordMax = 10 }
        let ida = try server.user()
        try ida.make("Shelf")
        func list(_ field: String, _ count: Int) -> String {
            let values = (0..<count).map { "\($0)" }.joined(separator: ",")
            return "{\"\(field)\":{\"value\":[\(values)],\"type\":\"INT64_LIST\"}}"
        }
        let over = try ida.save("a", list("n", 11))
        #expect(over.code == "BAD_REQUEST")
        #expect(over["reason"].string?.contains("more than 10 values") == true)
        #expect(try ida.save("a", list("n", 10)).code == nil)
        // What the record keeps counts with what is sent.
        let more = try ida.modify([operation("forceUpdate", "a", fields: list("m", 1))])
        #expect(more.records[0].code == "BAD_REQUEST", "\(more.text)")
        #expect(more.records[0]["reason"].string?.contains("11 values") == true)
        let fewer = try ida.modify([operation("forceUpdate", "a", fields: list("n", 3))])
        #expect(fewer.records[0].code == nil)
        #expect(ServiceLimits().indexedValuesPerRecordMax == 10_000)
    }

    @Test("A batch that more stored references lead to than are looked at is refused whole")
    func sources() throws {
        let server = try WireServer { $0.sourcesReadMax = 100 }
        let ida = try server.user()
        try ida.make("Shelf")
        try ida.save("t")
        for part in [0..<100, 100..<150] {
            let made = part.map { operation("create", "s\($0)", fields: field("t", "DELETE_SELF")) }
            _ = try ida.modify(made)
        }
        let refused = try ida.modify([operation("forceDelete", "t", type: nil)])
        #expect(refused.status == 400 && refused.reason.contains("references lead to the records"))
        #expect(try ida.record("t").code == nil && ida.record("s0").code == nil)
        #expect(ServiceLimits().sourcesReadMax == 100_000)
    }

    @Test("A record, and a request, have a bounded number of references that act")
    func references() throws {
        let server = try WireServer {
            $0.referencesPerRecordMax = 3
            $0.referencesPerRequestMax = 5
        }
        let ida = try server.user()
        try ida.make("Shelf")
        let refused = try ida.save("r", list(["a", "b", "c", "d"], "DELETE_SELF"))
        #expect(
            refused.code == "BAD_REQUEST"
                && refused.reason.contains("references in one record"))
        #expect(try ida.save("r", list(["a", "b", "c", "d"], "NONE")).code == nil)
        let repeated = Array(repeating: ["a", "b", "c"], count: 50).flatMap(\.self)
        #expect(try ida.save("r", list(repeated, "DELETE_SELF")).code == nil)
        let both = try ida.modify([
            operation("create", "x", fields: list(["a", "b", "c"], "DELETE_SELF")),
            operation("create", "y", fields: list(["a", "b", "c"], "DELETE_SELF")),
        ])
        #expect(both.status == 400 && both.reason.contains("request"))
        #expect(ServiceLimits().referencesPerRecordMax == 1_000)
        #expect(ServiceLimits().referencesPerRequestMax == 10_000)
    }

    @Test("Participants are counted while they are read: what follows is not looked at")
    func participants() throws {
        let server = try WireServer { $0.participantsPerShareMax = 4 }
        let ida = try server.user()
        try ida.make("Shelf")
        let six = (1...6).map { invitation(email: "p\($0)@example.org") }
        let refused = try ida.modify([
            operation("create", "n"),
            // The last one is no object, for which the whole request would fail.
            shareOperation("create", "s", root: "n", participants: six + ["7"]),
        ])
        #expect(refused.status == 200, "\(refused.text)")
        #expect(refused.records.map(\.code) == ["ATOMIC_ERROR", "BAD_REQUEST"])
        #expect(refused.records[1].reason.contains("limits.participantsPerShareMax"))
        #expect(
            try ida.modify([
                operation("create", "n"),
                shareOperation(
                    "create", "s", root: "n",
                    participants: Array(repeating: six[0], count: 500) + six[1..<4]),
            ]).records.map(\.code) == [nil, nil])
    }
}
