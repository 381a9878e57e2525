import CloudModel
import Foundation
import Testing

@Suite("Encrypted fields")
struct EncryptedFieldTests {
    /// A value of each type that can be encrypted, and another one.
    static let values: [(tag: String, value: String, other: String)] = [
        ("STRING", #""s3cret""#, #""other""#), ("INT64", "9007199254740993", "-1"),
        ("DOUBLE", "0.1", "2.5"), ("TIMESTAMP", "1700000000123", "0"),
        ("BYTES", #""AAEC""#, #""""#),
        ("LOCATION", #"{"latitude":1.5,"longitude":2.5}"#, #"{"latitude":-1.5,"longitude":0.5}"#),
    ]

    let server: WireServer
    let ida: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user()
        try ida.make("Shelf")
    }

    private static func field(_ value: String, _ type: String, isEncrypted: Bool = true) -> String {
        #"{"value":\#(value),"type":"\#(type)"\#(isEncrypted ? #","isEncrypted":true"# : "")}"#
    }

    private func save(
        _ field: String, type: String, kind: String = "forceUpdate", in database: String = "private"
    ) throws -> AnswerPart {
        try ida.modify(
            [operation(kind, "r\(type)", type: type, fields: "{\"f\":\(field)}")], zone: nil,
            in: database
        ).records[0]
    }

    @Test("Each type and its lists are made on the fly, stay encrypted, and come back in clear")
    func roundTrip() throws {
        for (tag, value, other) in Self.values {
            for (type, first, second) in [
                (tag, value, other), ("\(tag)_LIST", "[\(value),\(other)]", "[]"),
            ] {
                let what: Comment = "\(type)"
                let sent = Self.field(first, type)
                #expect(try save(sent, type: "Of\(type)")["fields"]["f"].raw == sent, what)
                let name = try #require(RecordTypeName("Of\(type)"))
                let field = try #require(
                    FieldName("f").flatMap { try server.store().schema.types[name]?.fields[$0] })
                #expect(field.type.name == "ENCRYPTED_\(type)" && field.indexes == [], what)
                // A merge keeps it, a further value is held to the type.
                let merged = try ida.modify(
                    [
                        operation(
                            "forceUpdate", "rOf\(type)", type: "Of\(type)",
                            fields: #"{"n":{"value":1}}"#)
                    ],
                    zone: nil
                ).records[0]
                #expect(merged["fields"]["f"].raw == sent, what)
                #expect(try ida.record("rOf\(type)", zone: nil)["fields"]["f"].raw == sent, what)
                let next = Self.field(second, type)
                #expect(try save(next, type: "Of\(type)")["fields"]["f"].raw == next, what)
            }
        }
    }

    @Test("Numbers come as strings where that is asked for, encrypted ones too")
    func numbersAsStrings() throws {
        _ = try ida.modify(
            [
                operation(
                    "create", "n", type: "Sum",
                    fields: """
                        {"i":\(Self.field("9007199254740993", "INT64")),\
                        "d":\(Self.field("0.5", "DOUBLE")),"l":\(Self.field("[1,2]", "INT64_LIST"))}
                        """)
            ], zone: nil)
        let found = try ida.lookup(["n"], zone: nil, more: #""numbersAsStrings":true"#).records[0]
        #expect(found["fields"]["i"].raw == Self.field(#""9007199254740993""#, "INT64"))
        #expect(found["fields"]["d"].raw == Self.field(#""0.5""#, "DOUBLE"))
        #expect(found["fields"]["l"].raw == Self.field(#"["1","2"]"#, "INT64_LIST"))
        // And are taken so.
        let sent = try save(Self.field(#""-12""#, "INT64"), type: "Sum2")
        #expect(sent["fields"]["f"].raw == Self.field("-12", "INT64"))
    }

    @Test("The flag without a type is refused, and the reason names the encrypted types")
    func flagAlone() throws {
        for value in [#""s3cret""#, "1", "[]", #"["s3cret"]"#, #"{"recordName":"x"}"#] {
            for type in ["", #","type":null"#] {
                let refused = try save(
                    #"{"value":\#(value),"isEncrypted":true\#(type)}"#, type: "Alone")
                #expect(refused.code == "BAD_REQUEST", "\(value)")
                for (tag, _, _) in Self.values {
                    #expect(refused.reason.contains("ENCRYPTED_\(tag)"), "\(refused.reason)")
                }
                #expect(!refused.raw.contains("s3cret"))
            }
        }
    }

    @Test("An encrypted value in a plain field is refused in the service's words")
    func flagOnPlainField() throws {
        for (tag, value, _) in Self.values {
            for (type, sent) in [(tag, value), ("\(tag)_LIST", "[\(value)]")] {
                #expect(
                    try save(Self.field(sent, type, isEncrypted: false), type: "Plain\(type)").code
                        == nil)
                let refused = try save(Self.field(sent, type), type: "Plain\(type)")
                #expect(refused.code == "BAD_REQUEST")
                #expect(
                    refused.reason.hasPrefix(
                        "Attempt to save encrypted data in non encrypted field type"))
            }
        }
        #expect(try save("{\"value\":[]}", type: "PlainSTRING_LIST").code == nil)
        let empty = try save(Self.field("[]", "UNKNOWN_LIST"), type: "PlainSTRING_LIST")
        #expect(
            empty.reason.hasPrefix("Attempt to save encrypted data in non encrypted field type"))
    }

    @Test("A plain value in an encrypted field is refused, and the reason says what to send")
    func plainValue() throws {
        for (tag, value, _) in Self.values {
            for (type, sent) in [(tag, value), ("\(tag)_LIST", "[\(value)]")] {
                #expect(try save(Self.field(sent, type), type: "Of\(type)").code == nil)
                var plain = [
                    Self.field(sent, type, isEncrypted: false), #"{"value":\#(sent)}"#,
                    #"{"value":\#(sent),"type":"\#(type)","isEncrypted":false}"#,
                ]
                if type.hasSuffix("LIST") { plain += [#"{"value":[]}"#] }
                for field in plain {
                    let refused = try save(field, type: "Of\(type)")
                    #expect(refused.code == "BAD_REQUEST")
                    #expect(
                        refused.reason.hasPrefix("Invalid value, expected type ENCRYPTED_\(type)."),
                        "\(refused.reason)")
                    #expect(
                        refused.reason.hasSuffix(
                            #"{"value":…,"type":"\#(type)","isEncrypted":true}"#))
                }
                // Of another type, encrypted or not.
                let wrong =
                    tag == "STRING" ? Self.field("1", "INT64") : Self.field(#""s""#, "STRING")
                #expect(
                    try save(wrong, type: "Of\(type)").reason
                        .hasPrefix("Invalid value, expected type ENCRYPTED_\(type)."))
                #expect(try ida.record("rOf\(type)", zone: nil)["fields"]["f"]["value"].raw == sent)
            }
        }
        // An empty list is of the field's type when it is flagged.
        let empty = try save(Self.field("[]", "UNKNOWN_LIST"), type: "OfSTRING_LIST")
        #expect(empty["fields"]["f"].raw == Self.field("[]", "STRING_LIST"))
    }

    @Test("References, assets and lists that are new and empty cannot be encrypted")
    func typesWithout() throws {
        for (type, value) in [
            ("REFERENCE", #"{"recordName":"x","action":"NONE"}"#),
            ("REFERENCE_LIST", #"[{"recordName":"x","action":"NONE"}]"#), ("REFERENCE_LIST", "[]"),
            ("ASSETID", #"{"receipt":"r"}"#), ("ASSETID_LIST", "[]"),
        ] {
            let refused = try save(Self.field(value, type), type: "New")
            #expect(refused.code == "BAD_REQUEST" && refused.reason.contains("cannot be encrypted"))
        }
        let empty = try save(Self.field("[]", "UNKNOWN_LIST"), type: "New")
        #expect(empty.reason.contains("empty list"))
        let tag = try save(#"{"value":"AA==","type":"ENCRYPTED_BYTES"}"#, type: "New")
        #expect(tag.code == "BAD_REQUEST" && tag.reason.contains("unknown type"))
        #expect(try server.store().schema.types.keys == Schema.builtInTypes.keys)
    }

    @Test("The public database takes none, whatever the field is and however it comes")
    func publicDatabase() throws {
        let reason = "encrypted fields are not supported in the public database"
        _ = try save(Self.field(#""s3cret""#, "STRING"), type: "Secret")
        _ = try save(#"{"value":"x"}"#, type: "Plain")
        for type in ["Secret", "Plain", "New"] {
            for (tag, value, _) in Self.values {
                for field in [Self.field(value, tag), Self.field("[\(value)]", "\(tag)_LIST")] {
                    let refused = try save(field, type: type, in: "public")
                    #expect(refused.code == "BAD_REQUEST" && refused.reason.hasPrefix(reason))
                    #expect(!refused.raw.contains("s3cret"))
                }
            }
        }
        // A type is of all databases: here its encrypted field cannot have a value at all.
        for field in [#"{"value":"x"}"#, #"{"value":"x","type":"STRING"}"#, #"{"value":1}"#] {
            #expect(try save(field, type: "Secret", in: "public").reason.hasPrefix(reason))
        }
        #expect(try save("null", type: "Secret", in: "public").code == nil)
        #expect(
            try save(#"{"value":null,"isEncrypted":true}"#, type: "Secret", in: "public").code
                == nil)
    }

    @Test("Clearing needs neither the flag nor a type, and leaves the field encrypted")
    func clearing() throws {
        for empty in [
            "null", "{}", #"{"value":null}"#, #"{"value":null,"isEncrypted":true}"#,
            #"{"value":null,"type":"STRING","isEncrypted":true}"#, #"{"isEncrypted":true}"#,
        ] {
            #expect(try save(Self.field(#""s""#, "STRING"), type: "Clear").code == nil)
            #expect(try save(empty, type: "Clear")["fields"].raw == "{}", "\(empty)")
            #expect(try save(#"{"value":"s"}"#, type: "Clear").code == "BAD_REQUEST")
        }
        for kind in ["forceReplace", "forceUpdate"] {
            #expect(try save(Self.field(#""s""#, "STRING"), type: "Clear").code == nil)
            let other = try ida.modify(
                [operation(kind, "rClear", type: "Clear", fields: "{}")], zone: nil
            ).records[0]
            #expect(other["fields"]["f"].exists == (kind == "forceUpdate"))
        }
    }

    @Test(
        "They travel in feeds, batches and conflicts like any other, in production only as deployed"
    )
    func everywhere() throws {
        let field = Self.field(#""s3cret""#, "STRING")
        let saved = try ida.save("a", "{\"f\":\(field)}")
        #expect(try ida.changes()["records"][0].raw == saved.raw)
        let conflict = try ida.modify([operation("create", "a")]).records[0]
        #expect(conflict["serverRecord"]["fields"]["f"].raw == field)
        let there = try server.user("ida", WireServer.tea, .production)
        try server.grant(["Cup": ["_icloud": .create]], .production)
        let refused = try there.save("a", "{\"f\":\(field)}", zone: nil)
        #expect(
            refused.reason.hasPrefix("Cannot create or modify field 'f' in record 'Cup'"))
        #expect(!refused.raw.contains("s3cret"))
    }

    @Test("Filters on one are refused, a sort by one orders nothing, and neither tells of values")
    func queries() throws {
        for (number, text) in ["b", "c", "a"].enumerated() {
            try ida.save("r\(number)", "{\"f\":\(Self.field("\"s3cret \(text)\"", "STRING"))}")
        }
        func query(_ more: String) throws -> Answer {
            try ida.send(
                "private/records/query",
                #"{"zoneID":{"zoneName":"Shelf"},"query":{"recordType":"Cup",\#(more)}}"#)
        }
        for comparator in RecordQuery.Comparator.allCases.map(\.rawValue) {
            for flag in ["", #","isEncrypted":true"#] {
                let answer = try query(
                    """
                    "filterBy":[{"fieldName":"f","comparator":"\(comparator)",\
                    "fieldValue":{"value":"s3cret a","type":"STRING"\(flag)}}]
                    """)
                #expect(answer.status == 400 && answer.code == "BAD_REQUEST", "\(comparator)")
                #expect(!answer.text.contains("s3cret"))
            }
        }
        let up = try query(#""sortBy":[{"fieldName":"f"}]"#)
        let down = try query(#""sortBy":[{"fieldName":"f","ascending":false}]"#)
        #expect(up.records.map(\.name) == ["r0", "r1", "r2"])
        #expect(up.records.map(\.name) == down.records.map(\.name))
    }
}
