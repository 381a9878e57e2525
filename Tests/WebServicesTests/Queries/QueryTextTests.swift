import Foundation
import Seeding
import Testing

/// How text is compared, ordered and searched (rulings.md 21).
@Suite("Text in queries")
struct QueryTextTests {
    private let server: WireServer
    private let ida: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user()
        try ida.make("Shelf")
    }

    /// Saves one record for each text, named by its place.
    private func save(_ texts: [String]) throws {
        for part in stride(from: 0, to: texts.count, by: 100) {
            let answer = try ida.modify(
                texts.indices[part..<min(part + 100, texts.count)].map { index in
                    operation(
                        "create", "t\(index)",
                        fields: """
                            {"text":{"value":\(quoted(texts[index]))},\
                            "texts":{"value":[\(quoted(texts[index])),"other"]}}
                            """)
                })
            guard answer.records.allSatisfy({ $0.code == nil }) else {
                throw WireFailure(answer.text)
            }
        }
    }

    private func find(
        _ comparator: String, _ text: String, in field: String = "text"
    ) throws -> [Int] {
        let filter = PlainFilter(field: field, comparator: comparator, value: .string(text))
        return try ida.names(filters: [filter.json()]).compactMap { Int($0.dropFirst()) }.sorted()
    }

    @Test(
        "Text is equal whatever its case, by Unicode's full mappings and in no language",
        arguments: [
            ("tea", "TEA", true), ("tea", "tea ", false), ("Straße", "STRASSE", true),
            ("STRAẞE", "strasse", true), ("ὈΔΥΣΣΕΎΣ", "ὀδυσσεύς", true), ("ΟΔΟΣ", "οδος", true),
            ("οδος", "οδοσ", true), ("Дача", "ДАЧА", true), ("ﬁne", "FINE", true),
            // The Turkish letters are letters of their own: I is the capital of i.
            ("I", "i", true), ("ı", "i", false), ("ı", "I", false), ("İ", "i", false),
            ("İ", "i\u{307}", true), ("İSTANBUL", "istanbul", false),
            // What looks alike is the same only where its scalars are.
            ("é", "É", true), ("é", "e\u{301}", false), ("e\u{301}", "E\u{301}", true),
            ("é", "e", false),
            ("\u{212A}", "k", true), ("Ω", "\u{2126}", true), ("\u{1C4}", "\u{1C6}", true),
            ("\u{1C5}", "\u{1C6}", true), ("\u{10400}", "\u{10428}", true), ("Ａ", "ａ", true),
            ("A", "Ａ", false), ("😀", "😀", true), ("👍", "👍🏽", false), ("👩‍👩‍👧", "👩👩👧", false),
            ("a\u{0}B", "A\u{0}b", true), ("a\u{0}", "a", false), ("", "", true),
            ("", "\u{0}", false),
            ("東京", "東京", true), ("ა", "Ა", true), ("Ꭰ", "ꭰ", true),
        ])
    func equality(left: String, right: String, isEqual: Bool) throws {
        try save([left])
        let found = isEqual ? [0] : []
        #expect(try find("EQUALS", right) == found)
        #expect(try find("NOT_EQUALS", right) == (isEqual ? [] : [0]))
        #expect(try find("LIST_CONTAINS", right, in: "texts") == found)
        let list = PlainFilter(
            field: "text", comparator: "IN", value: .list([.string("x"), .string(right)]))
        #expect(try ida.names(filters: [list.json()]).count == found.count)
    }

    @Test("Prefixes go by the case and by scalars")
    func prefixes() throws {
        try save(["Tea", "tea", "éa", "e\u{301}a", "Straße", "a\u{0}b", "", "ab"])
        #expect(try find("BEGINS_WITH", "T") == [0])
        #expect(try find("BEGINS_WITH", "é") == [2])
        #expect(try find("BEGINS_WITH", "e") == [3])
        #expect(try find("BEGINS_WITH", "Strass") == [])
        #expect(try find("BEGINS_WITH", "a\u{0}") == [5])
        #expect(try find("BEGINS_WITH", "") == [0, 1, 2, 3, 4, 5, 6, 7])
        #expect(try find("NOT_BEGINS_WITH", "a") == [0, 1, 2, 3, 4, 6])
        #expect(try find("LIST_MEMBER_BEGINS_WITH", "oth", in: "texts").count == 8)
        #expect(try find("LIST_MEMBER_BEGINS_WITH", "Te", in: "texts") == [0])
    }

    /// In the order of code points, which is neither a language's nor that of UTF-16.
    private static let ordered = [
        "", "\u{0}", "\u{0}\u{0}", "\u{0}a", "\t", " ", "!", "0", "10", "9", "A", "AA", "Z", "_",
        "a",
        "a\u{0}", "a b", "aa", "e\u{301}", "z", "\u{7F}", "ß", "é", "\u{130}", "\u{131}", "\u{301}",
        "Σ", "ς", "σ", "中", "\u{D7FF}", "\u{E000}", "\u{FFFF}", "\u{10000}", "😀", "\u{10FFFF}",
    ]

    @Test("Text is ordered by code points")
    func order() throws {
        var random = SeededRandom("order")
        let shuffled = Self.ordered.shuffled(using: &random)
        try save(shuffled)
        let locations = Self.ordered.map { text in
            "t\(shuffled.firstIndex { $0.unicodeScalars.elementsEqual(text.unicodeScalars) } ?? -1)"
        }
        for limit in [nil, 1, 5] {
            #expect(try ida.names(sorts: [#"{"fieldName":"text"}"#], limit: limit) == locations)
            #expect(
                try ida.names(sorts: [#"{"fieldName":"text","ascending":false}"#], limit: limit)
                    == locations.reversed())
        }
        for (index, text) in Self.ordered.enumerated() {
            #expect(try find("LESS_THAN", text).count == index, "\(text.debugDescription)")
            #expect(try find("GREATER_THAN_OR_EQUALS", text).count == locations.count - index)
        }
    }

    @Test("Long text is compared whole, and sorted by its first 500 bytes")
    func longText() throws {
        let stem = String(repeating: "ä", count: 250)
        let huge = String(repeating: "Straße ", count: 15_000)
        let texts = [
            stem + "b", stem + "a", stem, stem + "A", String(stem.dropLast()) + "z", huge,
            huge + "!",
            stem + String(repeating: "x", count: 3_000),
        ]
        try save(texts)
        for (index, text) in texts.enumerated() {
            let same = texts.indices.filter { PlainText.isEqual(texts[$0], text) }
            #expect(try find("EQUALS", text) == same, "\(index)")
            #expect(try find("EQUALS", text.uppercased()) == same, "\(index)")
            #expect(try find("LIST_CONTAINS", text, in: "texts") == same, "\(index)")
            #expect(try find("NOT_EQUALS", text).count == texts.count - same.count)
            #expect(
                try find("BEGINS_WITH", text)
                    == texts.indices.filter { PlainText.begins(texts[$0], with: text) }, "\(index)")
            for comparator in ["LESS_THAN", "GREATER_THAN_OR_EQUALS"] {
                let isLess = comparator == "LESS_THAN"
                #expect(
                    try find(comparator, text)
                        == texts.indices.filter { PlainText.precedes(texts[$0], text) == isLess },
                    "\(comparator) \(index)")
            }
        }
        #expect(
            try ida.names(sorts: [#"{"fieldName":"text"}"#], limit: 3)
                == ["t5", "t6", "t4", "t0", "t1", "t2", "t3", "t7"])
    }

    // MARK: - Words

    @Test(
        "A search for words knows no case and no accents, in any script",
        arguments: [
            ("Green tea, hot", "tea", true), ("Green tea, hot", "TEA", true),
            ("Green tea", "gre", false),
            ("tea-time", "time", true), ("tea_time", "tea", true), ("teatime", "tea", false),
            ("Café crème", "cafe", true), ("Cafe\u{301}", "café", true), ("NAÏVE", "naive", true),
            ("Ñandú", "nandu", true), ("Zürich", "zurich", true),
            ("smörgåsbord", "smorgasbord", true),
            ("Дом у моря", "дом", true), ("ДОМ", "дом", true), ("Αθήνα", "αθηνα", true),
            ("Αθήνα", "ΑΘΗΝΑ", true), ("東京 大阪", "東京", true), ("東京 大阪", "東", false),
            ("서울 시", "서울", true), ("القاهرة", "القاهرة", true), ("नमस्ते", "नमस्ते", true),
            ("नमस्ते", "नमस", false), ("ที่นี่ ดี", "ที่นี่", true), ("مُحَمَّد", "محمد", true),
            ("أحمد", "احمد", true),
            ("שָׁלוֹם", "שלום", true), ("Ёлка", "елка", true), ("Йога", "и\u{306}ога", true),
            ("ὀδυσσεύς", "ΟΔΥΣΣΕΥΣ", true), ("Ελλάδα", "Ελλα\u{301}δα", true),
            ("❤\u{FE0F}tea", "tea", true),
            ("route 66", "66", true), ("tea4two", "tea", false), ("😀 tea 😀", "tea", true),
            ("tea", "😀", false), ("a\u{0}tea", "tea", true), ("", "tea", false),
        ])
    func words(text: String, search: String, isFound: Bool) throws {
        try save([text])
        let found = isFound ? [0] : []
        for comparator in ["CONTAINS_ALL_TOKENS", "CONTAINS_ANY_TOKENS"] {
            #expect(try find(comparator, search) == found, "\(comparator)")
            #expect(try find(comparator, search, in: "texts") == found, "\(comparator)")
        }
    }

    @Test("All words must be there, or any of them; stop words are not looked for")
    func allAndAny() throws {
        try save(["green tea and milk", "milk", "tea with sugar", "the", "not a thing", "coffee"])
        #expect(try find("CONTAINS_ALL_TOKENS", "tea milk") == [0])
        #expect(try find("CONTAINS_ANY_TOKENS", "tea milk") == [0, 1, 2])
        #expect(try find("CONTAINS_ALL_TOKENS", "milk, TEA; milk") == [0])
        #expect(try find("CONTAINS_ALL_TOKENS", "tea with the milk") == [0])
        #expect(try find("CONTAINS_ANY_TOKENS", "the thing") == [4])
        for stopWord in ["the", "a", "not", "The WITH", "", " ", "!?", "😀"] {
            #expect(try find("CONTAINS_ALL_TOKENS", stopWord) == [], "\(stopWord)")
            #expect(try find("CONTAINS_ANY_TOKENS", stopWord) == [], "\(stopWord)")
        }
        // What a search language of the index would read as its own is but text.
        for search in [
            "tea OR coffee", "\"tea coffee\"", "te*", "tea NEAR coffee", "text:tea", "(tea",
        ] {
            let wanted = PlainText.searchedWords(search)
            let all = try find("CONTAINS_ALL_TOKENS", search)
            #expect(all == (wanted == ["tea"] ? [0, 2] : []), "\(search)")
        }
    }

    @Test("Words may be in any member of a list")
    func wordsOfLists() throws {
        try ida.save("l1", #"{"texts":{"value":["green tea","hot milk"]}}"#)
        try ida.save("l2", #"{"texts":{"value":[],"type":"STRING_LIST"}}"#)
        let filter = PlainFilter(
            field: "texts", comparator: "CONTAINS_ALL_TOKENS", value: .string("milk tea"))
        #expect(try ida.names(filters: [filter.json()]) == ["l1"])
    }

    @Test("Two searches of one query must both find")
    func twoSearches() throws {
        try save(["green tea", "black tea", "green"])
        let filters = ["green", "TEA"].map {
            PlainFilter(field: "text", comparator: "CONTAINS_ANY_TOKENS", value: .string($0)).json()
        }
        #expect(try ida.names(filters: filters) == ["t0"])
    }
}
