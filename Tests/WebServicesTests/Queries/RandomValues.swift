import Foundation
import Seeding

/// Values that bite, and how often they come.
enum RandomValues {
    static let texts: [String] = [
        "", " ", "a", "A", "b", "ab", "aB", "AB", "abc", "ß", "ẞ", "ss", "SS", "straße", "STRASSE",
        "i", "I", "\u{130}", "\u{131}", "i\u{307}", "I\u{307}", "σ", "ς", "Σ", "ΟΔΟΣ", "é",
        "e\u{301}", "É", "E\u{301}", "\u{301}", "😀", "👩‍👩‍👧", "🇩🇪", "\u{0}", "a\u{0}", "a\u{0}b",
        "\u{7F}",
        "\u{FFFF}", "\u{10FFFF}", "\u{D7FF}", "\u{E000}", "\u{2126}", "Ω", "ω", "\u{212A}", "k",
        "K",
        "ﬁ", "fi", "FI", "\u{1C4}", "\u{1C5}", "\u{1C6}", "\u{10400}", "\u{10428}", "Дача", "дАЧА",
        "東京", "中", "\u{17F}", "s", "%", "_", "*", "\"", "\\", "null", "0", "9", "10",
    ]
    private static let units = [
        "a", "A", "b", "B", "z", "ß", "ss", "é", "e\u{301}", "σ", "ς", "İ", "ı", "😀", "\u{0}", "д",
        "Д",
        "中", "0",
    ]

    static func text(_ random: inout SeededRandom) -> String {
        switch Int.random(in: 0..<20, using: &random) {
        case 0:
            // Around the length at which an index cuts text.
            return String(repeating: random.one(of: ["a", "A", "ä", "中"]), count: 494 / 2)
                + String(repeating: "a", count: Int.random(in: 240...260, using: &random))
                + random.one(of: ["", "b", "B", "ä", "😀"])
        case 1...6:
            return (0..<Int.random(in: 1...4, using: &random))
                .map { _ in random.one(of: units) }.joined()
        default: return random.one(of: texts)
        }
    }

    private static let words = [
        "tea", "Tea", "TEA", "café", "cafe", "CAFE\u{301}", "the", "The", "not", "naïve", "Ñandú",
        "nandu",
        "дом", "ДОМ", "Αθήνα", "tea4two", "42", "zürich", "Zurich", "was", "into", "München", "ao",
    ]
    private static let gaps = [" ", "  ", ", ", "-", "\n", "/", " 😀 ", ".", "\u{0}", "'"]

    static func sentence(_ random: inout SeededRandom) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            text += random.one(of: words) + random.one(of: gaps)
        }
        return text
    }

    private static let ints: [Int64] = [
        0, 1, -1, 2, 3, 42, 1_000_000, 9_007_199_254_740_991, 9_007_199_254_740_992,
        9_007_199_254_740_993, -9_007_199_254_740_993, 9_223_372_036_854_775_806, .max,
        -9_223_372_036_854_775_807, .min,
    ]
    private static let doubles: [Double] = [
        0, -0.0, 1, -1, 0.1, 0.2, 0.3, 0.30000000000000004, 1.5, -2.5, .leastNonzeroMagnitude,
        -Double.leastNonzeroMagnitude, 1e308,
        -1e308,
        3, 9_007_199_254_740_992, 9_007_199_254_740_994, 1e-7, 123_456.789,
    ]

    static func int(_ random: inout SeededRandom) -> Int64 { random.one(of: ints) }

    static func double(_ random: inout SeededRandom) -> Double { random.one(of: doubles) }

    static func time(_ random: inout SeededRandom) -> Int64 {
        random.one(of: [
            0, -1, 1, 1_700_000_000_000, 1_700_000_000_001, -62_135_596_800_000, 4_102_444_800_000,
        ])
    }

    static func location(
        _ random: inout SeededRandom
    ) -> (latitude: Double, longitude: Double) {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: return (90, random.one(of: [0, 180, -180, 77]))
        case 1: return (-90, random.one(of: [0, 180, -180, 77]))
        case 2: return (.random(in: -1...1, using: &random), random.one(of: [180, -180]))
        case 3:
            return (.random(in: -89...89, using: &random), .random(in: 179...180, using: &random))
        case 4:
            return (
                .random(in: -89...89, using: &random), .random(in: -180 ... -179, using: &random)
            )
        case 5:
            return (.random(in: 88...90, using: &random), .random(in: -180...180, using: &random))
        case 6: return (0, 0)
        default:
            return (.random(in: -90...90, using: &random), .random(in: -180...180, using: &random))
        }
    }

    static func metres(_ random: inout SeededRandom) -> Double {
        random.one(of: [
            0.5, 100, 12_345, 111_195.5, 500_000, 2_000_000, 9_000_000, 15_000_000, 20_015_000,
            30_000_000,
        ])
    }

    static func reference(_ random: inout SeededRandom) -> PlainValue {
        .reference(
            random.one(of: ["n1", "n2", "n3", "N1", "x"]),
            zone: random.one(of: [nil, nil, "Shelf", "Wall"]))
    }
}

/// The fields that random records have, and what can be asked of them.
enum RandomField: String, CaseIterable, Sendable {
    case text, sentence, int, double, time, location, reference, texts, ints, doubles, times,
        references

    var isList: Bool { rawValue.hasSuffix("s") }

    /// The tag of one value.
    var tag: String {
        switch self {
        case .text, .sentence, .texts: "STRING"
        case .int, .ints: "INT64"
        case .double, .doubles: "DOUBLE"
        case .time, .times: "TIMESTAMP"
        case .location: "LOCATION"
        case .reference, .references: "REFERENCE"
        }
    }

    var type: String { isList ? tag + "_LIST" : tag }

    func one(_ random: inout SeededRandom) -> PlainValue {
        switch self {
        case .text: return .string(RandomValues.text(&random))
        case .texts:
            return .string(
                random.happens(70) ? RandomValues.text(&random) : RandomValues.sentence(&random))
        case .sentence: return .string(RandomValues.sentence(&random))
        case .int, .ints: return .int(RandomValues.int(&random))
        case .double, .doubles: return .double(RandomValues.double(&random))
        case .time, .times: return .time(RandomValues.time(&random))
        case .location:
            let location = RandomValues.location(&random)
            return .location(latitude: location.latitude, longitude: location.longitude)
        case .reference, .references: return RandomValues.reference(&random)
        }
    }

    func value(_ random: inout SeededRandom) -> PlainValue {
        guard isList else { return one(&random) }
        return .list(
            (0..<Int.random(in: 0...4, using: &random)).map { _ in one(&random) })
    }

    var isSortable: Bool { !isList && self != .reference && self != .sentence }

    var comparators: [String] {
        let equal = ["EQUALS", "NOT_EQUALS", "IN", "NOT_IN"]
        let ordered = [
            "LESS_THAN", "LESS_THAN_OR_EQUALS", "GREATER_THAN", "GREATER_THAN_OR_EQUALS",
        ]
        let words = ["CONTAINS_ALL_TOKENS", "CONTAINS_ANY_TOKENS"]
        let lists = [
            "LIST_CONTAINS", "NOT_LIST_CONTAINS", "LIST_CONTAINS_ANY", "NOT_LIST_CONTAINS_ANY",
            "LIST_CONTAINS_ALL", "NOT_LIST_CONTAINS_ALL",
        ]
        switch self {
        case .text: return equal + ordered + ["BEGINS_WITH", "NOT_BEGINS_WITH"]
        case .sentence: return words
        case .int, .double, .time: return equal + ordered
        case .location: return ["NEAR"]
        case .reference: return equal
        case .texts:
            return lists + words + ["LIST_MEMBER_BEGINS_WITH", "NOT_LIST_MEMBER_BEGINS_WITH"]
        case .ints, .doubles, .times, .references: return lists
        }
    }
}
