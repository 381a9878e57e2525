import CloudModel
import Testing

/// What references of others do to public records (rulings.md 45).
@Suite("References of others in the public database")
struct PublicReferenceTests {
    private func field(_ target: String, _ action: String) -> String {
        "{\"ref\":{\"value\":{\"recordName\":\(quoted(target)),\"action\":\"\(action)\"}}}"
    }

    private func save(
        _ client: WireClient, _ name: String, _ fields: String = "{}", more: String? = nil
    ) throws -> AnswerPart {
        try client.save(name, fields, zone: nil, in: "public", more: more)
    }

    private func delete(_ client: WireClient, _ name: String) throws -> AnswerPart {
        try client.modify(
            [operation("forceDelete", name, type: nil)], zone: nil, in: "public"
        ).records[0]
    }

    private func isThere(_ client: WireClient, _ name: String) throws -> Bool {
        try client.record(name, zone: nil, in: "public").code == nil
    }

    @Test(
        "Others' VALIDATE and parent references hinder no deletion, and dangle then",
        arguments: [true, false])
    func validate(isParent: Bool) throws {
        let server = try WireServer()
        let (ida, mo) = (try server.user("ida"), try server.user("mo"))
        let fields = isParent ? "{}" : field("t", "VALIDATE")
        let more = isParent ? #""parent":{"recordName":"t"}"# : nil
        #expect(try save(mo, "s", fields, more: more).code == "VALIDATING_REFERENCE_ERROR")
        _ = try save(ida, "t")
        #expect(try save(mo, "s", fields, more: more).code == nil)
        _ = try save(ida, "own", fields, more: more)
        #expect(try delete(ida, "t").code == "VALIDATING_REFERENCE_ERROR")
        _ = try delete(ida, "own")
        #expect(try delete(ida, "t").code == nil)
        #expect(try isThere(mo, "s"))
        #expect(try server.problems() == [])
        #expect(try save(mo, "s", fields, more: more).code == "VALIDATING_REFERENCE_ERROR")
        #expect(try save(mo, "s").code == nil)
    }

    @Test("Others' DELETE_SELF references count for none of the owner's limits, and go later")
    func deleteSelf() throws {
        let server = try WireServer {
            $0.deleteSelfSourcesMax = 2
            $0.cascadeRecordsMax = 2
        }
        let (ida, mo) = (try server.user("ida"), try server.user("mo"))
        _ = try save(ida, "t")
        let strangers = (1...5).map { "mo\($0)" }
        for name in strangers { #expect(try save(mo, name, field("t", "DELETE_SELF")).code == nil) }
        for name in ["ida1", "ida2"] {
            #expect(try save(ida, name, field("t", "DELETE_SELF")).code == nil)
        }
        #expect(try save(ida, "ida3", field("t", "DELETE_SELF")).code == "BAD_REQUEST")
        #expect(try delete(ida, "t").code == nil)
        #expect(try !isThere(ida, "ida1") && !isThere(ida, "ida2"))
        try server.finishDeletions()
        for name in strangers { #expect(try !isThere(mo, name)) }
        #expect(try server.problems() == [])
    }

    @Test("However many references of others there are, a record can be deleted")
    func many() throws {
        let server = try WireServer { $0.sourcesReadMax = 5_000 }
        let (ida, mo) = (try server.user("ida"), try server.user("mo"))
        _ = try save(ida, "t")
        for part in 0..<6 {
            let made = (0..<200).map {
                operation("create", "s\(part)-\($0)", fields: field("t", "VALIDATE"))
            }
            let answer = try mo.modify(made, zone: nil, in: "public")
            #expect(answer.records.allSatisfy { $0.code == nil })
        }
        #expect(try delete(ida, "t").code == nil)
    }
}
