import Seeding
import Testing

@testable import Configuration

private func read(_ text: String) throws(JSON5Error) -> JSON5Value.Content {
    try JSON5Reader.read(Array(text.utf8)).content
}

@Suite("JSON5")
struct JSON5Tests {
    @Test(
        "Strings may have either quotes, all escapes and lines that go on",
        arguments: [
            ("\"a\"", "a"), ("'a'", "a"), ("'\"'", "\""), ("\"'\"", "'"), ("'\\''", "'"),
            ("'\\b\\f\\n\\r\\t\\v\\0'", "\u{8}\u{C}\n\r\t\u{B}\0"), ("'\\x41\\u0042'", "AB"),
            ("'\\xe9\\u00E9'", "éé"), ("'\\uD83D\\uDE00'", "😀"), ("'a\\\nb'", "ab"),
            ("'a\\\r\nb'", "ab"), ("'a\\\rb'", "ab"), ("'a\\\u{2028}b'", "ab"),
            ("'\\q\\/\\\\'", "q/\\"),
            ("'日\u{2028}\t'", "日\u{2028}\t"), ("''", ""),
        ])
    func strings(text: String, value: String) throws {
        #expect(try read(text) == .string(value))
    }

    @Test(
        "Whole numbers may be signed and hexadecimal",
        arguments: [
            ("0", 0), ("-0", 0), ("+1", 1), ("-1", -1), ("0x1F", 31), ("0Xff", 255), ("-0x10", -16),
            ("9223372036854775807", .max), ("-9223372036854775808", .min), ("0x0001", 1),
        ])
    func integers(text: String, value: Int) throws {
        #expect(try read(text) == .integer(value))
    }

    @Test(
        "Other numbers are numbers, but not whole ones",
        arguments: [
            "1.0", ".5", "5.", "1e3", "1E-3", "+.5e+1", "-1.5", "9223372036854775808", "0e0", "0.",
            "0xFFFFFFFFFFFFFFFFFF",
        ])
    func numbers(text: String) throws { #expect(try read(text) == .number) }

    @Test("Keys may stand without quotes, and commas may trail")
    func containers() throws {
        let text = "{ a: 1, 'b-c': [1, 2,], \"d\": {}, $e_1: [], ünïcode: true, null: null, }"
        guard case .object(let members) = try read(text) else {
            Issue.record("no object")
            return
        }
        #expect(members.map(\.key) == ["a", "b-c", "d", "$e_1", "ünïcode", "null"])
        #expect(members[4].value.content == .bool(true))
        #expect(members[5].value.content == .null)
        guard case .array(let elements) = members[1].value.content else {
            Issue.record("no array")
            return
        }
        #expect(elements.map(\.content) == [.integer(1), .integer(2)])
    }

    @Test("Comments and all white space of JSON5 are stepped over")
    func space() throws {
        let text =
            "\u{FEFF}// one\n/* two\n** */ [ // three\r\n 1 /**/ , \u{A0}\u{3000}\u{B}\u{C}/*/*/ 2 ] // end"
        guard case .array(let elements) = try read(text) else {
            Issue.record("no array")
            return
        }
        #expect(elements.map(\.content) == [.integer(1), .integer(2)])
        #expect(
            elements.map(\.location) == [
                JSON5Location(line: 4, column: 2), JSON5Location(line: 4, column: 21),
            ])
    }

    @Test(
        "What is not JSON5 is refused where it goes wrong",
        arguments: [
            ("", 1, 1, "expected a value"), ("// x", 1, 5, "expected a value"),
            ("{} x", 1, 4, "expected the end of the file"),
            ("[1 2]", 1, 4, "expected ',' or ']'"), ("[,]", 1, 2, "expected a value"),
            ("[1,,]", 1, 4, "expected a value"), ("{,}", 1, 2, "expected a key or '}'"),
            ("{a 1}", 1, 4, "expected ':'"), ("{a:}", 1, 4, "expected a value"),
            ("{1a:1}", 1, 2, "expected a key or '}'"), ("{a:1 b:2}", 1, 6, "expected ',' or '}'"),
            ("{a:1,\n a:2}", 2, 2, "expected each key only once"),
            ("{a:1, 'a':2}", 1, 7, "expected each key only once"),
            ("Infinity", 1, 1, "expected a finite number"),
            ("-Infinity", 1, 1, "expected a finite number"),
            ("+Infinity", 1, 1, "expected a finite number"),
            ("NaN", 1, 1, "expected a finite number"),
            ("-NaN", 1, 1, "expected a finite number"), ("True", 1, 1, "expected a value"),
            ("truex", 1, 1, "expected a value"), ("undefined", 1, 1, "expected a value"),
            ("01", 1, 1, "expected no digit after a leading zero"),
            ("1_000", 1, 1, "expected a number"),
            ("0x", 1, 3, "expected a digit"), ("-", 1, 2, "expected a digit"),
            (".", 1, 2, "expected a digit"),
            ("1e", 1, 3, "expected a digit"), ("1.2.3", 1, 1, "expected a number"),
            ("0xG", 1, 1, "expected a number"), ("- 1", 1, 2, "expected a digit"),
            ("--1", 1, 2, "expected a digit"), ("10s", 1, 1, "expected a number"),
            ("'a\nb'", 1, 3, "expected the string to end on its line"),
            ("'abc", 1, 1, "expected the string to end"),
            ("'abc\"", 1, 1, "expected the string to end"),
            ("'\\1'", 1, 2, "expected no octal escape"),
            ("'\\01'", 1, 2, "expected no octal escape"),
            ("'\\x4'", 1, 2, "expected 2 hexadecimal digits"),
            ("'\\u00g0'", 1, 2, "expected 4 hexadecimal digits"),
            ("'\\uD800'", 1, 2, "expected surrogates to come in pairs"),
            ("'\\uDC00\\uD800'", 1, 2, "expected surrogates to come in pairs"),
            ("'\\uD800\\uD800'", 1, 2, "expected surrogates to come in pairs"),
            ("[1 /* x ]", 1, 4, "expected the comment to end with '*/'"),
            ("[1 / 2]", 1, 4, "expected '//' or '/*' to begin a comment"),
            ("{'a", 1, 2, "expected the string to end"), ("[", 1, 2, "expected a value"),
            ("{", 1, 2, "expected a key or '}'"), ("# x", 1, 1, "expected a value"),
        ])
    func refused(text: String, line: Int, column: Int, reason: String) throws {
        let error = try #require(throws: JSON5Error.self) { try read(text) }
        #expect(error.location == JSON5Location(line: line, column: column))
        #expect(error.reason == reason)
    }

    @Test("Containers nested too deep and texts that are not UTF-8 are refused")
    func limits() throws {
        let depth = JSON5Reader.depthMax
        func nested(_ count: Int) -> String {
            String(repeating: "[", count: count) + String(repeating: "]", count: count)
        }
        _ = try read(nested(depth))
        #expect(throws: JSON5Error.self) { try read(nested(depth + 1)) }
        #expect(throws: JSON5Error.self) { try read(String(repeating: "{a:", count: 100_000)) }
        #expect(throws: JSON5Error.self) { try JSON5Reader.read([0x27, 0xFF, 0x27]) }
    }

    @Test("Random changes to the reference do not trap, and never give what is not allowed")
    func mutants() throws {
        var random = SeededRandom("changes to the reference")
        let reference = Array(ServerConfiguration.reference.utf8)
        let pieces = [
            "{", "}", "[", "]", ",", ":", "'", "\"", "\\", "/*", "//", "*/", "0x", "-", "1e9",
            "Infinity",
        ]
        let tree = SettingsTree(file: "x")
        for _ in 0..<300 {
            var bytes = reference
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let location = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[location] = .random(in: 0...255, using: &random)
                case 1: bytes.remove(at: location)
                default:
                    bytes.insert(
                        contentsOf: Array((pieces.randomElement(using: &random) ?? "").utf8),
                        at: location)
                }
            }
            guard let root = try? JSON5Reader.read(bytes) else { continue }
            var loaded = LoadedConfiguration()
            guard (try? tree.apply(root, to: &loaded)) != nil else { continue }
            for setting in Setting.sections.flatMap(\.settings) {
                guard let range = setting.range, case .number(_, let get) = setting.access else {
                    continue
                }
                #expect(range.contains(get(loaded.values)), "seed \(random.seed): \(setting.path)")
            }
        }
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...30, using: &random)).map { _ in
                Array("{}[]'\",:\\/*ux0123e-+.aN \n".utf8).randomElement(using: &random) ?? 0
            }
            _ = try? JSON5Reader.read(bytes)
        }
    }
}
