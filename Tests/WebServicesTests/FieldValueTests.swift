import Foundation
import Testing

/// Field values: types, inference, mismatches, clearing (rulings.md 14; web-services.md §5.5, §8).
@Suite("Field values")
struct FieldValueTests {
    let server: WireServer
    let ida: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user()
        try ida.make("Shelf")
    }

    /// Saves one field on a new record of a type of its own and hands back the item.
    private func item(_ field: String, type: String = "T") throws -> AnswerPart {
        try ida.save("r-\(type)", "{\"f\":\(field)}", type: type)
    }

    @Test(
        "A value of each type comes back as it was sent, with its type",
        arguments: [
            (#"{"value":"Ida","type":"STRING"}"#, nil),
            (#"{"value":"","type":"STRING"}"#, nil),
            (#"{"value":"\"\\\u0001é😀","type":"STRING"}"#, nil),
            (#"{"value":9223372036854775807,"type":"INT64"}"#, nil),
            (#"{"value":-9223372036854775808,"type":"INT64"}"#, nil),
            (#"{"value":2.5,"type":"DOUBLE"}"#, nil),
            (#"{"value":3,"type":"DOUBLE"}"#, "3.0"),
            (#"{"value":-62135596800000,"type":"TIMESTAMP"}"#, nil),
            (#"{"value":1700000000123,"type":"TIMESTAMP"}"#, nil),
            (#"{"value":"AAEC","type":"BYTES"}"#, nil), (#"{"value":"","type":"BYTES"}"#, nil),
            (#"{"value":"/+8=","type":"BYTES"}"#, nil),
            (#"{"value":{"recordName":"x","action":"NONE"},"type":"REFERENCE"}"#, nil),
            (#"{"value":{"recordName":"x","action":"DELETE_SELF"},"type":"REFERENCE"}"#, nil),
            (
                #"{"value":{"recordName":"x","zoneID":{"zoneName":"Shelf"},"action":"NONE"},"type":"REFERENCE"}"#,
                nil
            ),
            (#"{"value":{"latitude":1.5,"longitude":-2.25},"type":"LOCATION"}"#, nil),
            (
                #"{"value":{"latitude":-90.0,"longitude":180.0,"altitude":10.5,"horizontalAccuracy":-1.0,"verticalAccuracy":-1.0,"course":-1.0,"speed":-1.0,"timestamp":1700000000000},"type":"LOCATION"}"#,
                nil
            ),
            (#"{"value":["a","b","a"],"type":"STRING_LIST"}"#, nil),
            (#"{"value":[1,-9223372036854775808],"type":"INT64_LIST"}"#, nil),
            (#"{"value":[1.5,2],"type":"DOUBLE_LIST"}"#, "[1.5,2.0]"),
            (#"{"value":[0,-1],"type":"TIMESTAMP_LIST"}"#, nil),
            (#"{"value":["AAEC",""],"type":"BYTES_LIST"}"#, nil),
            (#"{"value":[{"recordName":"x","action":"NONE"}],"type":"REFERENCE_LIST"}"#, nil),
            (#"{"value":[{"latitude":0.0,"longitude":-0.5}],"type":"LOCATION_LIST"}"#, nil),
            (#"{"value":[],"type":"STRING_LIST"}"#, nil),
            (#"{"value":[],"type":"ASSETID_LIST"}"#, nil),
            (#"{"value":"s","type":"STRING","isEncrypted":true}"#, nil),
            (#"{"value":[1],"type":"INT64_LIST","isEncrypted":true}"#, nil),
        ])
    func roundTrip(field: String, value: String?) throws {
        let saved = try item(field)
        #expect(saved.code == nil, "\(saved.raw)")
        if let value {
            #expect(saved["fields"]["f"]["value"].raw == value)
        } else {
            #expect(saved["fields"]["f"].raw == field)
        }
        #expect(try ida.record("r-T").raw == saved.raw)
    }

    @Test(
        "A value without a type gets the type of its JSON",
        arguments: [
            (#""x""#, "STRING"), ("1", "INT64"), ("1.0", "DOUBLE"), ("1e2", "DOUBLE"),
            ("-0", "INT64"), (#"{"latitude":1,"longitude":2}"#, "LOCATION"),
            (#"{"recordName":"x"}"#, "REFERENCE"), (#"["a"]"#, "STRING_LIST"),
            ("[1,2]", "INT64_LIST"), ("[1,2.5]", "DOUBLE_LIST"), ("[2.5,1]", "DOUBLE_LIST"),
            (#"[{"recordName":"x"},{"recordName":"y"}]"#, "REFERENCE_LIST"),
        ])
    func inferred(value: String, type: String) throws {
        for field in ["{\"value\":\(value)}", "{\"value\":\(value),\"type\":null}"] {
            #expect(try item(field)["fields"]["f"]["type"].string == type)
        }
    }

    @Test(
        "Numeric text is a number where the type says so",
        arguments: [
            (#"{"value":"9223372036854775807","type":"INT64"}"#, "9223372036854775807"),
            (#"{"value":"-1","type":"TIMESTAMP"}"#, "-1"),
            (#"{"value":"2.5e1","type":"DOUBLE"}"#, "25.0"),
            (#"{"value":["1",2],"type":"INT64_LIST"}"#, "[1,2]"),
        ])
    func numericText(field: String, value: String) throws {
        #expect(try item(field)["fields"]["f"]["value"].raw == value)
    }

    @Test(
        "A value that its type cannot hold fails the record with a reason that names the field",
        arguments: [
            #"{"value":true}"#, #"{"value":false,"type":"INT64"}"#, #"{"value":[1,"a"]}"#,
            #"{"value":[true]}"#, #"{"value":[[1]]}"#, #"{"value":{}}"#, #"{"value":{"a":1}}"#,
            #"{"value":[1,null]}"#, #"{"value":9223372036854775808,"type":"INT64"}"#,
            #"{"value":9223372036854775808}"#, #"{"value":1.5,"type":"INT64"}"#,
            #"{"value":"1.5","type":"INT64"}"#, #"{"value":"","type":"INT64"}"#,
            #"{"value":"x","type":"DOUBLE"}"#, #"{"value":"nan","type":"DOUBLE"}"#,
            #"{"value":"0x1p3","type":"DOUBLE"}"#, #"{"value":1e999,"type":"DOUBLE"}"#,
            #"{"value":"1e999","type":"DOUBLE"}"#,
            #"{"value":1700000000000.5,"type":"TIMESTAMP"}"#, #"{"value":5,"type":"STRING"}"#,
            #"{"value":"AAE","type":"BYTES"}"#, #"{"value":"A-==","type":"BYTES"}"#,
            #"{"value":"AAEC\n","type":"BYTES"}"#, #"{"value":"AB==","type":"BYTES"}"#,
            #"{"value":5,"type":"BYTES"}"#, #"{"value":"x","type":"REFERENCE"}"#,
            #"{"value":{"recordName":""},"type":"REFERENCE"}"#,
            #"{"value":{"latitude":1},"type":"LOCATION"}"#,
            #"{"value":{"latitude":90.1,"longitude":0},"type":"LOCATION"}"#,
            #"{"value":{"latitude":0,"longitude":-180.1},"type":"LOCATION"}"#,
            #"{"value":{"latitude":0,"longitude":0,"timestamp":1.5},"type":"LOCATION"}"#,
            #"{"value":{"latitude":0,"longitude":0,"speed":"5"},"type":"LOCATION"}"#,
            #"{"value":1,"type":"INT64_LIST"}"#, #"{"value":[1],"type":"INT64"}"#,
            #"{"value":1,"type":"NUMBER"}"#, #"{"value":1,"type":"int64"}"#,
            #"{"value":1,"type":"ASSET"}"#, #"{"value":[1],"type":"LIST"}"#,
            #"{"value":true,"type":"BOOLEAN"}"#, #"{"value":[1],"type":"UNKNOWN_LIST"}"#,
            #"{"value":"","type":"UNKNOWN_LIST"}"#, #"{"value":1,"type":""}"#,
            #"{"value":{"recordName":"x"},"type":"REFERENCE","isEncrypted":true}"#,
            #"{"value":"s","isEncrypted":true}"#,
            #"{"value":{"fileChecksum":"AA==","size":1,"receipt":"x"}}"#,
        ])
    func impossible(field: String) throws {
        let refused = try item(field, type: "Odd")
        #expect(refused.code == "BAD_REQUEST", "\(refused.raw)")
        #expect(refused.keys == ["recordName", "reason", "serverErrorCode"])
        #expect(refused.reason.contains("'f'"), "\(refused.reason)")
        // Nothing of it is kept: the field may still become anything.
        #expect(try item(#"{"value":"s","type":"STRING"}"#, type: "Odd").code == nil)
    }

    @Test(
        "Wrong JSON where an object, a word or a flag must be fails the whole request",
        arguments: [
            ("5", "'f'"), (#""x""#, "'f'"), ("[]", "'f'"), (#"{"value":1,"type":5}"#, "type"),
            (#"{"value":{"recordName":"x","action":"BREAK"},"type":"REFERENCE"}"#, "action"),
            (#"{"value":{"recordName":"x","action":1},"type":"REFERENCE"}"#, "action"),
            (#"{"value":{"recordName":"x","zoneID":"Shelf"},"type":"REFERENCE"}"#, "zoneID"),
            (#"{"value":"s","type":"STRING","isEncrypted":1}"#, "isEncrypted"),
            (#"{"value":"x","type":"ASSETID"}"#, "asset"),
        ])
    func requestLevel(field: String, key: String) throws {
        let answer = try ida.modify([operation("create", "r", fields: "{\"f\":\(field)}")])
        #expect(answer.status == 400 && answer.code == "BAD_REQUEST", "\(answer.text)")
        #expect(answer.reason.contains(key), "\(answer.reason)")
    }

    @Test("A mismatch with the schema says what is expected and ends with what to send")
    func mismatch() throws {
        let kinds = [
            ("STRING", #""s""#), ("INT64", "1"), ("DOUBLE", "1.5"), ("TIMESTAMP", "1"),
            ("BYTES", #""AAEC""#), ("REFERENCE", #"{"recordName":"x"}"#),
            ("LOCATION", #"{"latitude":1,"longitude":2}"#), ("STRING_LIST", #"["s"]"#),
            ("DOUBLE_LIST", "[1.5]"),
        ]
        for (type, value) in kinds {
            let kind = "Of\(type)"
            #expect(
                try item("{\"value\":\(value),\"type\":\"\(type)\"}", type: kind).code == nil)
            for (other, wrong) in kinds where other != type && (type, other) != ("DOUBLE", "INT64")
            {
                let refused = try item(
                    "{\"value\":\(wrong),\"type\":\"\(other)\"}", type: kind)
                #expect(refused.code == "BAD_REQUEST")
                #expect(refused.reason.hasPrefix("Invalid value, expected type \(type)."))
                #expect(refused.reason.hasSuffix("\"type\":\"\(type)\"}"), "\(refused.reason)")
            }
        }
        // Without a type, these are taken for what their JSON is.
        for (kind, wrong) in [
            ("OfTIMESTAMP", "1700000000000"), ("OfBYTES", #""AAEC""#), ("OfINT64", "3.0"),
        ] {
            let refused = try item("{\"value\":\(wrong)}", type: kind)
            #expect(refused.reason.hasPrefix("Invalid value, expected type \(kind.dropFirst(2))."))
        }
    }

    @Test("Whole numbers are values of a DOUBLE field, tagged or not, in lists and encrypted too")
    func wholeNumbersInDoubles() throws {
        _ = try item(#"{"value":1.5}"#, type: "One")
        _ = try item(#"{"value":[1.5]}"#, type: "Many")
        let secret = #""type":"DOUBLE","isEncrypted":true"#
        _ = try item("{\"value\":1.5,\(secret)}", type: "Secret")
        for (kind, value, shown) in [
            ("One", #"{"value":2}"#, #"{"value":2.0,"type":"DOUBLE"}"#),
            ("One", #"{"value":-3,"type":"DOUBLE"}"#, #"{"value":-3.0,"type":"DOUBLE"}"#),
            ("One", #"{"value":4,"type":"INT64"}"#, #"{"value":4.0,"type":"DOUBLE"}"#),
            ("Many", #"{"value":[2,-3]}"#, #"{"value":[2.0,-3.0],"type":"DOUBLE_LIST"}"#),
            (
                "Many", #"{"value":[2],"type":"INT64_LIST"}"#,
                #"{"value":[2.0],"type":"DOUBLE_LIST"}"#
            ),
            (
                "Secret", #"{"value":2,"type":"INT64","isEncrypted":true}"#,
                "{\"value\":2.0,\(secret)}"
            ),
        ] {
            let saved = try item(value, type: kind)
            #expect(saved["fields"]["f"].raw == shown, "\(saved.raw)")
            #expect(try ida.record("r-\(kind)")["fields"]["f"].raw == shown)
        }
        // A list for one value, and one value for a list, are what they were.
        #expect(try item(#"{"value":[2]}"#, type: "One").code == "BAD_REQUEST")
        #expect(try item(#"{"value":2}"#, type: "Many").code == "BAD_REQUEST")
        #expect(try item(#"{"value":2,"type":"INT64"}"#, type: "Secret").code == "BAD_REQUEST")
    }

    @Test("An encrypted field stays one, and plain ones never become encrypted")
    func encrypted() throws {
        #expect(try item(#"{"value":"s","type":"STRING","isEncrypted":true}"#).code == nil)
        let plain = try item(#"{"value":"s","type":"STRING"}"#)
        #expect(plain.reason.hasPrefix("Invalid value, expected type ENCRYPTED_STRING."))
        #expect(plain.reason.hasSuffix("\"type\":\"STRING\",\"isEncrypted\":true}"))
        _ = try item(#"{"value":"s","type":"STRING"}"#, type: "Plain")
        let other = try item(#"{"value":"s","type":"STRING","isEncrypted":true}"#, type: "Plain")
        #expect(other.code == "BAD_REQUEST")
        let open = try ida.save(
            "r", #"{"f":{"value":"s","type":"STRING","isEncrypted":true}}"#, type: "Open",
            zone: nil, in: "public")
        #expect(open.code == "BAD_REQUEST" && open.reason.contains("public"))
    }

    @Test("null, an empty object and a null value clear a field, known or not")
    func clearing() throws {
        for empty in ["null", "{}", #"{"value":null}"#, #"{"value":null,"type":"STRING"}"#] {
            try ida.save("r", #"{"f":{"value":"s"},"g":{"value":1}}"#, type: "Clear")
            let merged = try ida.modify([
                operation("forceUpdate", "r", type: "Clear", fields: "{\"f\":\(empty)}")
            ]).records[0]
            #expect(merged["fields"].raw == #"{"g":{"value":1,"type":"INT64"}}"#, "\(empty)")
            let fresh = try ida.save("r", "{\"new\":\(empty)}", type: "Clear")
            #expect(fresh["fields"].raw == "{}")
        }
        // Clearing has not made a field: it may still be of any type.
        #expect(try ida.save("r", #"{"new":{"value":[1]}}"#, type: "Clear").code == nil)
    }

    @Test("An empty list needs a type on a field that is new, and takes that of one that is known")
    func emptyLists() throws {
        for empty in [#"{"value":[]}"#, #"{"value":[],"type":"UNKNOWN_LIST"}"#] {
            let refused = try item(empty, type: "New")
            #expect(refused.code == "BAD_REQUEST" && refused.reason.contains("STRING_LIST"))
            _ = try item(#"{"value":[1],"type":"TIMESTAMP_LIST"}"#, type: "Known")
            #expect(
                try item(empty, type: "Known")["fields"]["f"].raw
                    == #"{"value":[],"type":"TIMESTAMP_LIST"}"#)
            _ = try item(#"{"value":1}"#, type: "Single")
            #expect(try item(empty, type: "Single").code == "BAD_REQUEST")
        }
    }

    @Test("Field and type names that are not legal are refused by name")
    func names() throws {
        for bad in ["1a", "_a", "a-b", "a b", "", "é", "___recordID", "a.b"] {
            let refused = try ida.save("r", "{\(quoted(bad)):{\"value\":1}}")
            #expect(refused.code == "BAD_REQUEST" && refused.reason.contains("'\(bad)'"))
            let typed = try ida.save("r", "{}", type: bad)
            #expect(typed.code == "NOT_FOUND", "\(typed.raw)")
            #expect(typed.keys == ["recordName", "reason", "serverErrorCode"])
        }
        let long = String(repeating: "a", count: 255)
        #expect(try ida.save("r", "{\(quoted(long)):{\"value\":1}}", type: long).code == nil)
        #expect(try ida.save("q", "{\(quoted(long + "a")):{\"value\":1}}").code == "BAD_REQUEST")
        #expect(try ida.save("q", "{}", type: long + "a").code == "NOT_FOUND")
        #expect(try ida.save("q", "{}", type: "Users").code == "ACCESS_DENIED")
        #expect(try ida.save("q", "{}", type: "cloudkit.share").code == "BAD_REQUEST")
    }

    @Test("Record names are 1 to 255 printable ASCII characters that do not start with _")
    func recordNames() throws {
        for good in ["/", ":", "a b", "~", String(repeating: "n", count: 255), "\"\\"] {
            #expect(try ida.save(good).name == good)
            #expect(try ida.record(good).name == good)
        }
        for bad in ["", "_a", "é", "a\nb", "\u{7f}", String(repeating: "n", count: 256)] {
            let refused = try ida.save(bad)
            #expect(refused.code == "BAD_REQUEST" && refused.name == bad)
            #expect(refused.reason.contains("recordName"))
            #expect(try ida.record(bad).code == "NOT_FOUND")
        }
    }

    @Test("Production refuses new types and fields, naming each and the command that deploys it")
    func production() throws {
        let live = try server.user("ida", WireServer.tea, .production)
        try live.make("Shelf")
        let type = try live.save("r", #"{"f":{"value":1}}"#)
        #expect(type.code == "BAD_REQUEST")
        #expect(type.reason.contains("'Cup'") && type.reason.contains("lenticular schema deploy"))
        #expect(!type.keys.contains("recordType"))
    }

    @Test("Over the fields of a type or the types of a container, the limit is named")
    func schemaLimits() throws {
        let small = try WireServer {
            $0.fieldsPerTypeMax = 2
            $0.recordTypesMax = 2
        }
        let ida = try small.user()
        try ida.make("Shelf")
        #expect(try ida.save("r", #"{"a":{"value":1},"b":{"value":1}}"#).code == nil)
        let field = try ida.save("r", #"{"c":{"value":1}}"#)
        #expect(field.reason.contains("'c'") && field.reason.contains("fields of a record type"))
        #expect(try ida.save("s", "{}", type: "Tin").code == nil)
        let type = try ida.save("t", "{}", type: "Pot")
        #expect(type.reason.contains("'Pot'"))
        #expect(type.reason.contains("record types of a container"))
    }

    @Test("An operation that fails leaves no type and no field behind")
    func schemaOfFailures() throws {
        let own = #""parent":{"recordName":"r"}"#
        _ = try ida.modify(
            [
                operation("create", "r", fields: #"{"f":{"value":1}}"#, more: own),
                operation("create", "s", type: "Tin"),
            ], atomic: false)
        #expect(try ida.save("r", #"{"f":{"value":"text"}}"#).code == nil)
        let alike = try ida.modify(
            [
                operation(
                    "create", "p", type: "Pot", fields: #"{"f":{"value":1}}"#,
                    more: #""parent":{"recordName":"p"}"#),
                operation("create", "q", type: "Pot", fields: #"{"f":{"value":2}}"#),
            ], atomic: false)
        #expect(alike.records.map(\.code) == ["BAD_REQUEST", nil])
        #expect(try ida.save("q", #"{"f":{"value":"text"}}"#, type: "Pot").code == "BAD_REQUEST")
        let before = try ida.modify(
            [
                operation("create", "x", type: "Jar", fields: #"{"f":{"value":1}}"#),
                operation("update", "never", tag: "x"),
            ], atomic: false)
        #expect(before.records.map(\.code) == [nil, "NOT_FOUND"])
        #expect(try ida.save("x", #"{"f":{"value":"text"}}"#, type: "Jar").code == "BAD_REQUEST")
        #expect(try server.problems() == [])
    }

    @Test("Two operations of one batch cannot give one field two types")
    func oneBatch() throws {
        let answer = try ida.modify(
            [
                operation("create", "a", fields: #"{"f":{"value":1}}"#),
                operation("create", "b", fields: #"{"f":{"value":"s"}}"#),
            ], atomic: false)
        #expect(answer.records.map(\.code) == [nil, "BAD_REQUEST"])
    }

    @Test("Numbers come as text when asked for, by either spelling, for a request or an operation")
    func numbersAsStrings() throws {
        let fields =
            #"{"i":{"value":9007199254740993},"d":{"value":1.5},"l":{"value":[1,2]},"#
            + #""s":{"value":"x"},"t":{"value":5,"type":"TIMESTAMP"}}"#
        let expected =
            #"{"i":{"value":"9007199254740993","type":"INT64"},"d":{"value":"1.5","type":"DOUBLE"},"#
            + #""l":{"value":["1","2"],"type":"INT64_LIST"},"s":{"value":"x","type":"STRING"},"#
            + #""t":{"value":5,"type":"TIMESTAMP"}}"#
        for flag in [#""numbersAsStrings":true"#, #""numberAsStrings":true"#] {
            let save = operation("forceReplace", "r", fields: fields)
            #expect(try ida.modify([save], more: flag).records[0]["fields"].raw == expected)
            let beside = operation("forceReplace", "r", fields: fields, beside: flag)
            #expect(try ida.modify([beside]).records[0]["fields"].raw == expected)
            #expect(try ida.lookup(["r"], more: flag).records[0]["fields"].raw == expected)
            #expect(try ida.changes(more: flag)["records"][0]["fields"].raw == expected)
            #expect(try ida.record("r")["fields"].raw != expected)
        }
    }

    @Test("desiredKeys chooses fields for a request, an operation or a record; [] leaves none")
    func desiredKeys() throws {
        let fields = #"{"a":{"value":1},"b":{"value":2}}"#
        let all = ["a", "b"]
        func saved(
            _ more: String?, beside: String? = nil, inside: String? = nil
        ) throws -> AnswerPart {
            try ida.modify(
                [operation("forceReplace", "r", fields: fields, more: inside, beside: beside)],
                more: more
            ).records[0]
        }
        for (value, keys) in [
            ("null", all), (#"["a"]"#, ["a"]), (#"["a","a","zz"]"#, ["a"]), ("[]", []),
            (#"["not a name"]"#, []),
        ] {
            let key = "\"desiredKeys\":\(value)"
            #expect(try saved(key)["fields"].keys == keys)
            #expect(try saved(nil, beside: key)["fields"].keys == keys)
            #expect(try saved(nil, inside: key)["fields"].keys == keys)
            #expect(try ida.lookup(["r"], more: key).records[0]["fields"].keys == keys)
            #expect(try ida.changes(more: key)["records"][0]["fields"].keys == keys)
            let each = try ida.send(
                "private/records/lookup",
                """
                {"zoneID":{"zoneName":"Shelf"},"desiredKeys":["b"],"records":\
                [{"recordName":"r",\(key)},{"recordName":"r"}]}
                """)
            #expect(each.records[0]["fields"].keys == (value == "null" ? ["b"] : keys))
            #expect(each.records[1]["fields"].keys == ["b"])
        }
        #expect(
            try saved(#""desiredKeys":["a"]"#, beside: #""desiredKeys":["b"]"#)["fields"].keys == [
                "b"
            ])
        let none = try ida.lookup(["r"], more: #""desiredKeys":[]"#).records[0]
        #expect(none["fields"].raw == "{}" && none["pluginFields"].raw == "{}")
        #expect(none["created"].exists && none["zoneID"].exists && !none.tag.isEmpty)
    }
}
