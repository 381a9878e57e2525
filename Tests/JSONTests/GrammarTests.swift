import Testing

@testable import JSON

/// Whether a text is taken.
func accepts(_ text: String) -> Bool { accepts(Array(text.utf8)) }

func accepts(_ bytes: [UInt8]) -> Bool { (try? JSONDocument(parsing: bytes)) != nil }

/// The error of a text that must be refused.
func refusal(of text: String, depthMax: Int = 64) -> JSONError? {
    do {
        _ = try JSONDocument(parsing: Array(text.utf8), depthMax: depthMax)
        return nil
    } catch { return error }
}

@Suite("Grammar")
struct GrammarTests {
    @Test(
        "Valid texts are taken",
        arguments: [
            // Structure and white space.
            "[]", "{}", " [] ", "[[]]", "[{}]", "{\"a\":{}}", "[[]   ]", "[ 1 , 2 ]", "\t[\r\n1]\n",
            "{\"a\":[]}", "{ \"a\" : 1 , \"b\" : 2 }", "[1,2,3,4]", "[null,1,\"1\",{}]",
            "[1\n,\t2\r]", "{\"\":0}", "{\"a\":{\"a\":{\"a\":1}}}", "{\"a\":1,\"A\":2}",
            "[{\"a\":1},{\"a\":1}]", "{\"asd\":\"sdf\",\"dfg\":\"fgh\"}",
            "{\"min\":-1.0e+28,\"max\":1.0e+28}", "{\n\"a\": []\n}",
            // Any value may stand alone.
            "1", "-0", "\"\"", "\"a\"", "true", "false", "null", " 42 ", "-0.5e-3", "[true]",
            "[false]", "[null]", "[\"\"]",
            // Numbers.
            "[0]", "[-0]", "[0.0]", "[123]", "[-123]", "[123.456]", "[0e1]", "[0e+1]", "[0E-1]",
            "[1E22]", "[1e-2]", "[1E+2]", "[123e65]", "[20e1]", "[-1.5E+10]",
            "[1.7976931348623157e308]",
            "[123.456789]", "[4]", "[-0.000000000000000000000000000000000000000000000000000001]",
            "[100000000000000000000]", "[1e400]", "[-1e400]", "[1e-400]", "[0.1e0001]",
            // Strings.
            "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]", "[\"\\u0060\\u012a\\u12AB\"]", "[\"\\u0000\"]",
            "[\"\\\\u0000\"]", "[\"\\\\n\"]", "[\"\\\"\"]", "[\"a/*b*/c\"]", "[\"\u{7F}\"]",
            "[\"\\uD801\\udc37\"]", "[\"\\ud83d\\ude39\\ud83d\\udc8d\"]", "[\"\\uDBFF\\uDFFF\"]",
            "[\"\\uFFFF\"]", "[\"\\uFFFE\"]", "[\"\\u2028\\u2029\"]", "[\"\u{2028}\u{2029}\"]",
            "[\"π€𝄞\"]", "[\"\u{80}\u{7FF}\u{800}\u{D7FF}\u{E000}\u{FFFD}\u{10000}\u{10FFFF}\"]",
            "[\"日本語日本語日本語日本語\"]", "[\"\\u005C\"]", "[\"\\u0022\"]", "[\"\u{FEFF}\"]",
            "{\"foo\\u0000bar\":42}", "{\"日\":1,\"本\":2}", "[\"new\\u000Aline\"]",
        ])
    func accepted(text: String) { #expect(accepts(text)) }

    @Test(
        "Invalid texts are refused",
        arguments: [
            // Nothing, or too much.
            "", " ", "\n", "[] []", "[]]", "{}}", "1 2", "[1]x", "{\"a\":1}#", "[][", "\"\"x",
            "{\"a\":\"b\"}/**/", "[1],", "{}//", "123abc", "nulll", "truefalse", "\u{FEFF}{}",
            // Unclosed and mismatched.
            "[", "{", "]", "}", "[[", "[{", "[1", "[1,", "[\"a\"", "[\"a", "{\"a", "{\"a\"",
            "{\"a\":",
            "{\"a\":1", "{\"a\":1,", "[}", "{]", "[1}", "{\"a\":1]", "[[1]", "[{]}", "[\"\",",
            "[\"asd]",
            // Commas and colons.
            "[1,]", "[,1]", "[,]", "[1,,2]", "[1 2]", "[\"a\" \"b\"]", "[1:2]", "{,}", "{\"a\":1,}",
            "{,\"a\":1}", "{\"a\" 1}", "{\"a\"::1}", "{\"a\":1,,\"b\":2}", "{\"a\":1 \"b\":2}",
            "{\"a\"}",
            "{\"a\",1}", "{:1}", "{\"a\":}", "[3[4]]", "{\"a\":\"b\":\"c\"}", "[;]", "{\"a\":1;}",
            // Keys.
            "{a:1}", "{1:1}", "{'a':1}", "{null:1}", "{[]:1}", "{true:1}", "{-1:1}",
            // Words.
            "[nul]", "[tru]", "[fals]", "[True]", "[NULL]", "[truE]", "[nil]", "[undefined]", "t",
            "n",
            "[fa", "[NaN]", "[-NaN]", "[Infinity]", "[-Infinity]", "[Inf]", "'a'", "['a']", "*",
            "&",
            // Numbers.
            "[01]", "[-01]", "[00]", "[-]", "[+1]", "[++1]", "[.5]", "[-.5]", "[1.]", "[1.e1]",
            "[0.e1]",
            "[1e]", "[1E]", "[1e+]", "[1e-]", "[0e]", "[1.0e]", "[1.0e+]", "[1eE2]", "[1e1.5]",
            "[0x1]",
            "[0x42]", "[1a]", "[-a]", "[--1]", "[- 1]", "[1 000]", "[1_000]", "[1.2.3]", "[2.e3]",
            "[9.e+]", "[1e1e1]", "[１]", "[-foo]", "[0.1.2]", "[1+2]", "-", "0.", "1e", "[012]",
            "[0.3e",
            // Strings.
            "[\"a\nb\"]", "[\"a\tb\"]", "[\"a\rb\"]", "[\"\u{0}\"]", "[\"\u{1F}\"]", "[\"\\a\"]",
            "[\"\\x00\"]", "[\"\\0\"]", "[\"\\'\"]", "[\"\\U0041\"]", "[\"\\u\"]", "[\"\\u1\"]",
            "[\"\\u00A\"]",
            "[\"\\u00G0\"]", "[\"\\u 041\"]", "[\"\\", "[\"\\\"", "[\"\\u", "[\"\\u00", "[\"\\🌀\"]",
            "[\"\\ \"]", "[\\n]", "\\", "[\"\\\n\"]", "[\\u0020\"asd\"]", "[“a”]", "\"", "[\"aé",
            "[a\"]",
            "abcdefgh\"", "[\"abcdefghijkl\u{2}\"]",
            // Surrogates without their other half.
            "[\"\\uD800\"]", "[\"\\uDC00\"]", "[\"\\uD800\\n\"]", "[\"\\uD800\\u0041\"]",
            "[\"\\uD800\\uD800\"]", "[\"\\uDC00\\uD800\"]", "[\"\\uD800abc\"]", "[\"\\uD834\\uD\"]",
            "[\"\\uD800\\uDC0\"]", "[\"\\uD800\\", "{\"\\uDEAD\":0}", "[\"\\uD800\\u",
            "[\"\\uD800x\\uDC00\"]",
            // White space that JSON does not have, and comments.
            "[\u{0C}]", "[\u{0B}]", "[\u{A0}]", "[\u{2060}]", "[\u{FEFF}]", "\u{0}", "[1\u{0}]",
            "[1]\u{0}", "/**/[]", "[1/**/]", "//\n[]", "[1]//", "<a>", "[<null>]",
            // A key twice.
            "{\"a\":1,\"a\":1}", "{\"a\":1,\"\\u0061\":2}", "{\"\":1,\"\":2}",
            "{\"a\":{\"b\":1,\"b\":2}}",
            "[{\"x\":1,\"y\":2,\"x\":3}]",
        ])
    func refused(text: String) { #expect(!accepts(text)) }

    @Test(
        "Bytes that are not UTF-8 are refused in strings and keys",
        arguments: [
            [0x80], [0xBF], [0xFF], [0xFE], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80],
            [0xE0, 0x9F, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF],
            [0xED, 0xA0, 0x80],
            [0xED, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xC3],
            [0xE2, 0x82],
            [0xF0, 0x9F, 0x98], [0xE9], [0xC3, 0x28], [0xE2, 0x28, 0xA1], [0xF0, 0x28, 0x8C, 0xBC],
            [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFC, 0x80, 0x80, 0x80, 0x80, 0x80], [0xC3, 0xC3],
        ] as [[UInt8]])
    func invalidUTF8(sequence: [UInt8]) {
        let quote: [UInt8] = [0x22]
        for before in ["", "a", "abcdefg", "é"] {
            let string = quote + Array(before.utf8) + sequence + quote
            #expect(!accepts(string))
            #expect(!accepts([0x5B] + string + Array(",\"much text follows\"]".utf8)))
            #expect(!accepts([0x7B] + string + Array(":1}".utf8)))
        }
        #expect(!accepts(sequence))
        #expect(!accepts([0x5B] + sequence + [0x5D]))
        #expect(!accepts(quote + sequence))
    }

    @Test("Other encodings are refused")
    func otherEncodings() {
        let text = Array("[\"é\"]".utf16)
        #expect(!accepts(text.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }))
        #expect(!accepts(text.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }))
        #expect(!accepts([0xFF, 0xFE] + text.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }))
        #expect(refusal(of: "\u{FEFF}[]")?.reason == "expected no byte order mark")
    }

    @Test("Containers may be nested 64 deep and no deeper, or as deep as told")
    func depth() {
        for (opening, closing) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
            let levels = opening.hasPrefix("[{") ? 2 : 1
            func nested(_ count: Int) -> String {
                String(repeating: opening, count: count / levels) + "1"
                    + String(repeating: closing, count: count / levels)
            }
            #expect(accepts(nested(64)))
            #expect(refusal(of: nested(64 + levels))?.reason == "expected at most 64 levels")
            #expect(refusal(of: nested(6), depthMax: 6) == nil)
            #expect(refusal(of: nested(6), depthMax: 5) != nil)
        }
        #expect(accepts(String(repeating: "[", count: 64) + String(repeating: "]", count: 64)))
        #expect(!accepts(String(repeating: "[", count: 100_000)))
        #expect(!accepts(String(repeating: "{\"a\":", count: 100_000)))
        #expect(refusal(of: "1", depthMax: 0) == nil)
        #expect(refusal(of: "[]", depthMax: 0) != nil)
        let wide = "[" + Array(repeating: "[[]]", count: 1000).joined(separator: ",") + "]"
        #expect(refusal(of: wide, depthMax: 3) == nil)
    }

    @Test(
        "An error says where it is and what was expected",
        arguments: [
            ("[1,\n 2,\n  x]", 3, 3, "expected a value"),
            ("{\"a\" 1}", 1, 6, "expected ':'"),
            ("{\"a\":1 \"b\"}", 1, 8, "expected ',' or '}'"),
            ("[1 2]", 1, 4, "expected ',' or ']'"),
            ("[\"é日𝄞\" x", 1, 8, "expected ',' or ']'"),
            ("{\"a\":1,\n\"b\":2,\n\"a\":3}", 3, 1, "expected each key only once"),
            ("{a:1}", 1, 2, "expected a key in quotes"),
            ("[01]", 1, 3, "expected no digit after a leading zero"),
            ("[1.]", 1, 4, "expected a digit"),
            ("[]\n\nx", 3, 1, "expected the end of the text"),
            ("\"abc", 1, 5, "expected the end of the string"),
            ("\"ab\\uD800c\"", 1, 4, "expected surrogates to come in pairs"),
            ("\"ab\\qc\"", 1, 4, "expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u"),
            ("", 1, 1, "expected a value"),
        ])
    func errors(text: String, line: Int, column: Int, reason: String) {
        let error = refusal(of: text)
        #expect(error?.line == line)
        #expect(error?.column == column)
        #expect(error?.reason == reason)
        #expect(error?.description == "line \(line), column \(column): \(reason)")
    }
}
