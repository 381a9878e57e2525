import CloudDatabase
import CloudModel
import Storage
import Testing

/// What long texts, large lists and large requests cost others (rulings.md 63 and 64).
@Suite("Long texts and large requests")
struct LongTextTests {
    private static func text(_ word: String, _ count: Int = 9_000) -> String {
        (0..<count).map { "\(word)\($0)" }.joined(separator: " ")
    }

    private func create(_ name: String, _ text: String) -> String {
        operation("create", name, fields: "{\"body\":{\"value\":\"\(text)\"}}")
    }

    private func filter(_ word: String) -> String {
        PlainFilter(
            field: "body", comparator: "CONTAINS_ALL_TOKENS", value: .string(word)
        ).json()
    }

    private func names(_ answer: Answer) -> [String] {
        answer.records.map { $0["recordName"].string ?? "" }.sorted()
    }

    @Test("A query waits until the long texts of its zone are in its index, and others do not wait")
    func waits() throws {
        let server = try WireServer { $0.indexWaitMilliseconds = 0 }
        let (ida, bob) = (try server.user(), try server.user("bob"))
        try ida.make("Shelf")
        try bob.make("Shelf")
        for user in [ida, bob] { _ = try user.modify([create("short", "tea and cake")]) }
        try server.until { try ida.query(filters: [filter("cake")]).status == 200 }
        _ = try bob.query(filters: [filter("cake")])
        // What is left for later stays.
        AttachedWork.stop(of: try server.store())
        let texts = ["a", "b"].map { create($0, Self.text($0)) }
        #expect(try ida.modify(texts).records.allSatisfy { $0.code == nil })
        let early = try ida.query(filters: [filter("a8999")])
        #expect(early.status == 503 && early.code == "TRY_AGAIN_LATER", "\(early.text)")
        #expect(early.reason.contains("the index on body takes in records"))
        #expect(try names(bob.query(filters: [filter("cake")])) == ["short"])
        #expect(try ida.record("a").code == nil)
        // What is left of a record that is gone delays nobody.
        _ = try ida.modify(["a", "b"].map { operation("forceDelete", $0, type: nil) })
        #expect(try names(ida.query(filters: [filter("cake")])) == ["short"])
        _ = try ida.modify([create("c", Self.text("c"))])
        #expect(try ida.query(filters: [filter("c8999")]).status == 503)
        let runner = WorkRunner(try server.store(), WorkRunner.Options())
        AttachedWork.attach(runner, to: try server.store())
        try server.until { try ida.query(filters: [filter("c8999")]).status == 200 }
        #expect(try names(ida.query(filters: [filter("c8999")])) == ["c"])
        #expect(try names(ida.query(filters: [filter("a8999")])).isEmpty)
        #expect(try server.problems() == [])
    }

    @Test(
        "A public text is refused above its limit, whether it is searched or not, unless it cannot be"
    )
    func refused() throws {
        let server = try WireServer { $0.publicIndexedBytesMax = 2_000 }
        let ida = try server.user()
        let answer = try ida.modify(
            [create("long", Self.text("a", 500)), create("short", "tea")], zone: nil, in: "public")
        let long = answer.records[0]
        #expect(long.code == "BAD_REQUEST")
        let reason = long["reason"].string ?? ""
        #expect(reason.hasPrefix("field 'body': the record's searchable texts"), "\(reason)")
        #expect(reason.contains("a public record may have"))
        #expect(answer.records[1].code == nil)
        // At home nobody else waits.
        try ida.make("Shelf")
        #expect(try ida.modify([create("long", Self.text("a", 500))]).records[0].code == nil)
        #expect(ServiceLimits().publicIndexedBytesMax == 32_768)
    }

    @Test("Public texts above the limit together are saved in parts, and none is left for later")
    func parts() throws {
        let server = try WireServer { $0.publicIndexedBytesMax = 2_000 }
        let ida = try server.user()
        _ = try ida.modify([create("short", "tea and cake")], zone: nil, in: "public")
        #expect(
            try ida.query(filters: [filter("cake")], zone: nil, in: "public").status == 200)
        // What is left for later stays.
        AttachedWork.stop(of: try server.store())
        let before = try server.store().notices.writeCount
        let texts = (0..<20).map { create("r\($0)", Self.text("w\($0)x", 80)) }
        let answer = try ida.modify(texts, zone: nil, in: "public")
        #expect(
            answer.records.map { $0["recordName"].string } == (0..<20).map { "r\($0)" },
            "\(answer.text)")
        #expect(answer.records.allSatisfy { $0.code == nil })
        #expect(try server.store().notices.writeCount - before >= 6)
        for number in [0, 19] {
            let found = try ida.query(
                filters: [filter("w\(number)x79")], zone: nil, in: "public")
            #expect(names(found) == ["r\(number)"])
        }
        let mixed = try ida.modify(
            texts + [operation("forceDelete", "short", type: nil)], zone: nil, in: "public")
        #expect(mixed.status == 400 && mixed.reason.contains(" bytes; send what"))
        #expect(try server.problems() == [])
    }

    @Test("Many zones are made and deleted in several writes, each operation with its own answer")
    func zones() throws {
        let server = try WireServer()
        let ida = try server.user()
        let names = (0..<50).map { "z\($0)" }
        func ask(_ kind: String) throws -> Answer {
            let operations = names.map {
                "{\"operationType\":\"\(kind)\",\"zone\":{\"zoneID\":{\"zoneName\":\"\($0)\"}}}"
            }
            return try ida.send(
                "private/zones/modify",
                "{\"operations\":[\(operations.joined(separator: ","))]}")
        }
        for kind in ["create", "delete"] {
            let before = try server.store().notices.writeCount
            let answer = try ask(kind)
            #expect(answer.zones.map { $0["zoneID"]["zoneName"].string } == names)
            #expect(answer.zones.allSatisfy { $0.code == nil })
            #expect(try server.store().notices.writeCount - before >= 4)
        }
        #expect(try ask("delete").zones.allSatisfy { $0.code == "ZONE_NOT_FOUND" })
    }
}
