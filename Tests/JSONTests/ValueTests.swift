import Testing

@testable import JSON

@Suite("Reading values")
struct ValueTests {
    private func root(_ text: String) throws -> JSONValue {
        try JSONDocument(parsing: Array(text.utf8)).root
    }

    @Test("Members are found by key, whether spelt with escapes or not")
    func members() throws {
        let value = try root("{\"a\":1,\"b\":{\"c\":[1,2]},\"\\u0064\\n\":3,\"\":4}")
        #expect(value.kind == .object)
        #expect(value.count == 4)
        #expect(value["a"]?.int64 == 1)
        #expect(value["b"]?["c"]?.count == 2)
        #expect(value["d\n"]?.int64 == 3)
        #expect(value.member("d\n")?.int64 == 3)
        #expect(value.member("")?.int64 == 4)
        #expect(value["absent"] == nil)
        #expect(value["c"] == nil)
        #expect(value["a"]?["a"] == nil)
        #expect(try root("[\"a\",1]")["a"] == nil)
    }

    @Test("Three members are found in one walk, wherever they stand and whichever are absent")
    func threeMembers() throws {
        func found(_ text: String) throws -> [Int64?] {
            let (one, two, three) = try root(text)["a", "bb", "ccc"]
            return [one?.int64, two?.int64, three?.int64]
        }
        #expect(try found("{\"a\":1,\"bb\":2,\"ccc\":3}") == [1, 2, 3])
        #expect(try found("{\"ccc\":3,\"x\":[{\"a\":7}],\"\\u0061\":1}") == [1, nil, 3])
        #expect(try found("{\"b\":1,\"cc\":{\"bb\":2}}") == [nil, nil, nil])
        #expect(try found("{}") == [nil, nil, nil])
        #expect(try found("[\"a\",1]") == [nil, nil, nil])
    }

    @Test("Members and elements come in their order")
    func order() throws {
        let value = try root("{\"z\":[1,[2,3],{\"a\":4},5],\"a\":{},\"m\":[]}")
        #expect(value.members.compactMap(\.key.string) == ["z", "a", "m"])
        #expect(value.members.map(\.value.count) == [4, 0, 0])
        let elements = Array(try #require(value["z"]).elements)
        #expect(elements.map(\.kind) == [.number, .array, .object, .number])
        #expect(elements.last?.int64 == 5)
        #expect(Array(value.elements).isEmpty)
        #expect(Array(elements[0].elements).isEmpty)
        #expect(elements[1].members.map(\.key.kind).isEmpty)
        #expect(elements[0].members.map(\.key.kind).isEmpty)
        #expect(elements[0].count == 0)
    }

    @Test("Booleans and null are told apart from everything else")
    func words() throws {
        let kinds = try root("[true,false,null,0,\"true\"]").elements.map { $0 }
        #expect(kinds.map(\.kind) == [.true, .false, .null, .number, .string])
        #expect(kinds.map(\.bool) == [true, false, nil, nil, nil])
        #expect(kinds.map(\.isNull) == [false, false, true, false, false])
    }

    @Test(
        "Strings are decoded",
        arguments: [
            ("\"\"", ""), ("\"a\"", "a"), ("\"\\\"\\\\\\/\"", "\"\\/"),
            ("\"\\b\\f\\n\\r\\t\"", "\u{8}\u{C}\n\r\t"), ("\"\\u0000x\"", "\u{0}x"),
            ("\"\\u00e9é\\uD83D\\uDE00😀\"", "éé😀😀"), ("\"\\uDBFF\\uDFFF\"", "\u{10FFFF}"),
            ("\"\\uFFFF\\uffff\"", "\u{FFFF}\u{FFFF}"), ("\"日本\\n語\"", "日本\n語"),
        ])
    func strings(text: String, decoded: String) throws {
        let value = try root(text)
        #expect(value.string == decoded)
        #expect(value.withStringBytes { Array($0) } == Array(decoded.utf8))
    }

    @Test("A string compares with a constant, and nothing else does")
    func stringEquals() throws {
        #expect(try root("\"forceUpdate\"").stringEquals("forceUpdate"))
        #expect(try root("\"force\\u0055pdate\"").stringEquals("forceUpdate"))
        #expect(try root("\"\"").stringEquals(""))
        #expect(try !root("\"forceUpdat\"").stringEquals("forceUpdate"))
        #expect(try !root("\"forceUpdatf\"").stringEquals("forceUpdate"))
        #expect(try !root("\"force\\u0056pdate\"").stringEquals("forceUpdate"))
        #expect(try !root("1234").stringEquals("23"))
        #expect(try root("12").string == nil)
        #expect(try root("12").withStringBytes { $0.count } == nil)
    }

    @Test("Raw bytes are the text as received, without the space around it")
    func rawBytes() throws {
        let value = try root(" { \"a\" : [ 1.50 , \"\\u0041\" ] , \"b\":-0e0 } ")
        func raw(_ value: JSONValue?) -> String? {
            value?.withRawBytes { String(decoding: $0, as: UTF8.self) }
        }
        #expect(raw(value) == "{ \"a\" : [ 1.50 , \"\\u0041\" ] , \"b\":-0e0 }")
        #expect(raw(value["a"]) == "[ 1.50 , \"\\u0041\" ]")
        #expect(value["a"]?.elements.map { raw($0) } == ["1.50", "\"\\u0041\""])
        #expect(raw(value["b"]) == "-0e0")
        #expect(raw(try root("null")) == "null")
    }

    @Test("A value knows its line and column")
    func position() throws {
        let value = try root("{\n  \"é\": [\n1,\n  2]\n}")
        let array = try #require(value["é"])
        #expect(value.position == (1, 1))
        #expect(array.position == (2, 8))
        #expect(array.elements.map(\.position.line) == [3, 4])
        #expect(array.elements.map(\.position.column) == [1, 3])
    }

    @Test("A document made from foreign bytes keeps a copy")
    func copying() throws {
        var bytes = Array("[\"abc\"]".utf8)
        let document = try bytes.withUnsafeBytes { try JSONDocument(copying: $0) }
        bytes[2] = 0x7A
        #expect(document.root.elements.compactMap(\.string) == ["abc"])
        #expect(throws: JSONError.self) {
            try JSONDocument(copying: UnsafeRawBufferPointer(start: nil, count: 0))
        }
    }

    @Test("The index grows past its first guess")
    func growth() throws {
        let text = "[" + Array(repeating: "[]", count: 5000).joined(separator: ",") + "]"
        #expect(try root(text).elements.map(\.kind) == Array(repeating: .array, count: 5000))
    }
}
