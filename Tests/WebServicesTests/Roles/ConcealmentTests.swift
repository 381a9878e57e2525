import CloudModel
import Cryptography
import Foundation
import Seeding
import Testing

/// What those learn of a record who may not read it (rulings.md 6 and 11).
@Suite("Records that are kept from the caller")
struct ConcealmentTests {
    let server: WireServer
    let ida: WireClient
    let mo: WireClient

    init() throws {
        server = try WireServer { $0.recordBytesMax = 2_000 }
        ida = try server.user("ida")
        mo = try server.user("mo")
        for type in ["Diary", "Post"] {
            try ida.save(
                "\(type).1", #"{"secret":{"value":"s3cret"},"n":{"value":41}}"#, type: type,
                zone: nil, in: "public")
        }
    }

    private func modify(_ operations: String...) throws -> Answer {
        try mo.modify(operations, zone: nil, in: "public")
    }

    @Test("A conflict shows the server's record to who may read it, and to nobody else")
    func conflicts() throws {
        try server.grant([
            "Diary": ["_icloud": [.create, .write]], "Post": ["_icloud": [.read, .create, .write]],
        ])
        for (type, isShown) in [("Diary", false), ("Post", true)] {
            for item in try modify(operation("create", "\(type).1", type: type)).records
                + modify(operation("update", "\(type).1", type: type, tag: "stale")).records
                + modify(operation("delete", "\(type).1", type: nil, tag: "stale")).records
            {
                #expect(item.code == "CONFLICT")
                #expect(item["serverRecord"].exists == isShown, "\(item.raw)")
                #expect(item.raw.contains("s3cret") == isShown)
            }
        }
    }

    @Test("Who may change a record without reading it finds out no file of it by a checksum")
    func blindAssets() throws {
        func photo(_ value: String) -> String { "{\"photo\":{\"value\":\(value)}}" }
        let file = try ida.asset(pattern(100), in: "public")
        for type in ["Diary", "Post"] {
            try ida.save("\(type).1", photo(file.raw), type: type, zone: nil, in: "public")
        }
        try server.grant([
            "Diary": ["_icloud": [.create, .write]], "Post": ["_icloud": [.read, .create, .write]],
        ])
        func guess(_ type: String, _ bytes: [UInt8]) throws -> AnswerPart {
            let checksum = Base64.encode([1] + SHA256.digest(bytes).prefix(20))
            return try modify(
                operation(
                    "forceUpdate", "\(type).1", type: type,
                    fields: photo("{\"fileChecksum\":\"\(checksum)\"}"))
            ).records[0]
        }
        #expect(try guess("Post", pattern(100)).code == nil)
        #expect(try guess("Post", pattern(99)).code == "BAD_REQUEST")
        let right = try guess("Diary", pattern(100))
        #expect(right.code == "BAD_REQUEST")
        #expect(try right.raw == guess("Diary", pattern(99)).raw)
        let own = try mo.asset(pattern(50), in: "public")
        let changed = try modify(
            operation("forceUpdate", "Diary.1", type: "Diary", fields: photo(own.raw)))
        #expect(changed.records[0].code == nil, "\(changed.text)")
    }

    @Test("Who may change a record without reading it gets back what they sent")
    func blindChanges() throws {
        try server.grant(["Diary": ["_icloud": [.create, .write]]])
        try ida.save("up", "{}", type: "Post", zone: nil, in: "public")
        let root = try server.key(scope: .container)
        _ = try root.modify(
            [
                operation(
                    "forceUpdate", "Diary.1", type: "Diary", more: #""parent":{"recordName":"up"}"#)
            ], zone: nil, in: "public")
        let changed = try modify(
            operation("forceUpdate", "Diary.1", type: "Diary", fields: #"{"n":{"value":5}}"#)
        ).records[0]
        #expect(changed["fields"].raw == #"{"n":{"value":5,"type":"INT64"}}"#)
        #expect(!changed["parent"].exists)
        let stored = try root.record("Diary.1", zone: nil, in: "public")
        #expect(stored["fields"]["secret"]["value"].string == "s3cret")
        #expect(stored["fields"]["n"]["value"].int == 5)
        #expect(stored["parent"]["recordName"].string == "up")
        #expect(stored.tag == changed.tag)
        // Neither its type nor its size is told.
        let other = try modify(operation("forceUpdate", "Diary.1", type: "Post")).records[0]
        #expect(other.code == "BAD_REQUEST" && !other.reason.contains("Diary'"))
        let text = String(repeating: "x", count: 1_990)
        let large = try modify(
            operation(
                "forceUpdate", "Diary.1", type: "Diary", fields: "{\"t\":{\"value\":\"\(text)\"}}"))
        #expect(large.status == 400 && large.reason.contains("too many bytes"), "\(large.text)")
    }

    @Test("References show whether a name is taken, and nothing else of what is kept")
    func references() throws {
        try server.grant([
            "Diary": ["_creator": [.read, .create, .write]],
            "Post": ["_icloud": [.read, .create], "_creator": .write],
        ])
        func item(_ name: String, _ more: String, fields: String = "{}") throws -> AnswerPart {
            try modify(operation("create", name, type: "Post", fields: fields, more: more))
                .records[0]
        }
        for (index, target) in ["Diary.1", "none"].enumerated() {
            let up = try item("up\(index)", #""parent":{"recordName":"\#(target)"}"#)
            let reference = #"{"recordName":"\#(target)","action":"VALIDATE"}"#
            let on = try item(
                "on\(index)", #""parent":null"#,
                fields: #"{"r":{"value":\#(reference),"type":"REFERENCE"}}"#)
            for found in [up, on] {
                #expect(found.code == (index == 0 ? nil : "VALIDATING_REFERENCE_ERROR"))
                #expect(!found.raw.contains("s3cret") && !found.raw.contains("recordType\":\"D"))
            }
        }
        try ida.save(
            "Diary.2", "{}", type: "Diary", zone: nil, in: "public",
            more: #""parent":{"recordName":"up0"}"#)
        // Somebody else's reference hinders no deletion (rulings.md 45), and is not told either.
        let gone = try modify(operation("delete", "up0", type: nil)).records[0]
        #expect(gone.code == nil)
        #expect(!gone.raw.contains("Diary"))
    }

    @Test("Without the right to create, a name that is taken looks like a free one")
    func creation() throws {
        try server.grant(["Diary": [:]])
        for name in ["Diary.1", "free"] {
            #expect(
                try modify(operation("create", name, type: "Diary")).records[0].reason
                    == "CREATE operation not permitted")
        }
    }

    @Test("A missing name is NOT_FOUND to who may read some type, and refused to who may read none")
    func missingNames() throws {
        let visitor = server.visitor()
        try server.grant(["Diary": [:], "Post": ["_world": .read, "_creator": .write]])
        let mixed = try visitor.lookup(["Diary.1", "Post.1", "none"], zone: nil, in: "public")
        #expect(mixed.records.map(\.code) == ["ACCESS_DENIED", nil, "NOT_FOUND"])
        try server.grant(["Post": ["_creator": [.read, .write]]])
        let names = ["Diary.1", "Post.1", "none", ""]
        let closed = try visitor.lookup(names, zone: nil, in: "public")
        #expect(
            closed.records.map(\.raw)
                == names.map {
                    #"{"recordName":"\#($0)","reason":"READ operation not permitted","#
                        + #""serverErrorCode":"ACCESS_DENIED"}"#
                })
        // A user's name is of a type that they may read.
        let nobody = "_0123456789abcdef0123456789abcdef"
        #expect(try visitor.record(nobody, zone: nil, in: "public").code == "NOT_FOUND")
        #expect(try visitor.record(ida.name, zone: nil, in: "public").code == nil)
        // They may have records of their own, and learn whether they are there.
        let signedIn = try mo.lookup(names, zone: nil, in: "public")
        #expect(
            signedIn.records.map(\.code)
                == ["ACCESS_DENIED", "ACCESS_DENIED", "NOT_FOUND", "NOT_FOUND"])
        try ida.delete("Post.1", zone: nil, in: "public")
        #expect(try visitor.record("Post.1", zone: nil, in: "public").code == "ACCESS_DENIED")
    }

    @Test(
        "A missing name is NOT_FOUND to who may write some type, and refused to who may write none")
    func missingTargets() throws {
        let changes = ["update", "replace", "delete", "forceDelete"].flatMap { kind in
            ["Diary.1", "none"].map { name in
                let type = kind.lowercased().contains("delete") ? nil : "Diary"
                return operation(kind, name, type: type, tag: type == nil ? nil : "x")
            }
        }
        // He writes Posts: only what names its type is refused by the type.
        try server.grant(["Diary": ["_world": .read], "Post": ["_icloud": .write]])
        for (index, change) in changes.enumerated() {
            let item = try modify(change).records[0]
            let isKept = index < 4 || index.isMultiple(of: 2)
            #expect((item.code == "ACCESS_DENIED") == isKept, "\(change): \(item.raw)")
        }
        try server.grant(["Post": ["_icloud": [.read, .create]]])
        for change in changes {
            let item = try modify(change).records[0]
            #expect(item.reason == "WRITE operation not permitted", "\(change): \(item.raw)")
        }
    }

    @Test("An empty container has nothing to hide")
    func emptyContainer() throws {
        let visitor = server.visitor(WireServer.mate)
        #expect(try visitor.record("none", zone: nil, in: "public").code == "NOT_FOUND")
    }

    @Test("Queries of any kind find, count and order none of what is kept from the caller")
    func queries() throws {
        for number in 0..<6 {
            try (number.isMultiple(of: 2) ? ida : mo).save(
                "q\(number)", #"{"secret":{"value":"s3cret"},"n":{"value":\#(number)}}"#,
                type: "Note", zone: nil, in: "public")
        }
        try server.grant(["Note": ["_creator": .read]])
        for filter in [
            "", #"{"fieldName":"secret","comparator":"EQUALS","fieldValue":{"value":"s3cret"}}"#,
            #"{"fieldName":"n","comparator":"LESS_THAN","fieldValue":{"value":100}}"#,
            #"{"fieldName":"secret","comparator":"BEGINS_WITH","fieldValue":{"value":"s"}}"#,
            #"{"fieldName":"n","comparator":"NOT_EQUALS","fieldValue":{"value":100}}"#,
        ] {
            for limit in [1, 2, 3, 200] {
                let answer = try mo.send(
                    "public/records/query",
                    """
                    {"query":{"recordType":"Note","filterBy":[\(filter)],\
                    "sortBy":[{"fieldName":"n","ascending":false}]},"resultsLimit":\(limit)}
                    """)
                #expect(answer.records.map(\.name) == Array(["q5", "q3", "q1"].prefix(limit)))
                #expect(answer["continuationMarker"].exists == (limit < 3))
            }
        }
        let nothing = try server.user("nan").query("Note")
        #expect(nothing.text == #"{"records":[]}"#)
    }
}
