import Testing

@testable import JSON

@Suite("Writing")
struct WriterTests {
    private func written(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        body(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test(
        "Strings are quoted, and only what must be escaped is",
        arguments: [
            ("", "\"\""), ("abc", "\"abc\""), ("a\"b\\c/", "\"a\\\"b\\\\c/\""),
            ("\u{8}\u{9}\u{A}\u{C}\u{D}", "\"\\b\\t\\n\\f\\r\""),
            ("\u{0}\u{1}\u{1F}\u{B}", "\"\\u0000\\u0001\\u001f\\u000b\""),
            ("\u{7F}é日😀\u{2028}", "\"\u{7F}é日😀\u{2028}\""),
            ("0123456\"89abcdef\n", "\"0123456\\\"89abcdef\\n\""),
            ("01234567\"\"\"\"\"\"\"\"\"", "\"01234567\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\""),
        ])
    func strings(text: String, json: String) {
        #expect(written { $0.string(text) } == json)
        #expect(
            written { writer in Array(text.utf8).withUnsafeBytes { writer.string(utf8: $0) } }
                == json)
    }

    @Test(
        "A string that was received is written as any other is, however it was escaped",
        arguments: [
            ("\"\"", "\"\""), ("\"abé日😀/\u{7F}\"", "\"abé日😀/\u{7F}\""),
            ("\"\\u0041\\/\\n\"", "\"A/\\n\""), ("\"a\\\"b\"", "\"a\\\"b\""),
            ("7", ""), ("[\"a\"]", ""),
        ])
    func receivedStrings(received: String, json: String) throws {
        let value = try JSONDocument(parsing: Array(received.utf8)).root
        #expect(written { $0.string(value) } == json)
    }

    @Test("An escape is found at every place of a word, among all neighbours")
    func everyOffset() throws {
        for special in ["\"", "\\", "\u{1F}", "\u{0}"] {
            for neighbour in ["!", "#", "[", "]", " ", "\u{7F}", "é"] {
                for location in 0..<20 {
                    let text =
                        String(repeating: neighbour, count: location) + special
                        + String(repeating: neighbour, count: 20 - location)
                    var writer = JSONWriter()
                    writer.string(text)
                    #expect(try JSONDocument(parsing: writer.bytes).root.string == text)
                    let bare = Array("\"\(text)\"".utf8)
                    #expect(!accepts(bare))
                }
            }
        }
    }

    @Test(
        "Integers are written in full",
        arguments: [
            0, 1, -1, 9, 10, -10, 99, 100, 1_234_567_890, .max, .min, .max - 1, .min + 1,
        ] as [Int64])
    func integers(value: Int64) { #expect(written { $0.integer(value) } == String(value)) }

    @Test(
        "Doubles keep a fraction or an exponent",
        arguments: [
            (0, "0.0"), (-0.0, "-0.0"), (3, "3.0"), (0.1, "0.1"), (1e20, "1e+20"),
            (.leastNonzeroMagnitude, "5e-324"), (1.7976931348623157e308, "1.7976931348623157e+308"),
            (0.1 + 0.2, "0.30000000000000004"),
        ] as [(Double, String)])
    func doubles(value: Double, text: String) {
        #expect(written { $0.double(value) } == text)
    }

    @Test("Raw text and bytes are passed on as they are")
    func raw() {
        let text = written { writer in
            writer.byte(UInt8(ascii: "{"))
            writer.raw("\"a\":")
            writer.raw(Array("[1]".utf8))
            Array(",\"b\":2}".utf8).withUnsafeBytes { writer.raw($0) }
        }
        #expect(text == "{\"a\":[1],\"b\":2}")
    }
}
