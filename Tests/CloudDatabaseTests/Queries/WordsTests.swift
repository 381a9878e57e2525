import CloudModel
import Testing

@Suite("Words of texts")
struct WordsTests {
    /// Texts and the words that they have.
    private static let texts: [(text: String, words: Set<String>)] = [
        ("", []), ("  ... --- !", []), ("one", ["one"]), ("One, two; TWO", ["one", "two"]),
        ("it's", ["it", "s"]), ("a1b2 3c", ["a1b2", "3c"]), ("été ÉTÉ Ete", ["ete"]),
        ("Straße", ["straße"]), ("naïve café", ["naive", "cafe"]), ("Ünïcödé", ["unicode"]),
        ("Привет МИР", ["привет", "мир"]), ("ёлка", ["елка"]),
        ("Ἑλλάς Ελλάδα", ["ελλασ", "ελλαδα"]),
        ("snake_case kebab-case", ["snake", "case", "kebab"]),
        ("x@y.example", ["x", "y", "example"]),
        ("日本語 text", ["日本語", "text"]), ("😀 smile", ["smile"]),
        (String(repeating: "a", count: 70), [String(repeating: "a", count: 64)]),
        (String(repeating: "я", count: 40), [String(repeating: "я", count: 32)]),
    ]

    @Test("A word is a run of letters and digits, whatever its case and accents, cut at 64 bytes")
    func words() {
        for (text, words) in Self.texts {
            let found = Words.of(text)
            #expect(Set(found.map { String(decoding: $0, as: UTF8.self) }) == words, "\(text)")
            #expect(found.count == words.count, "\(text)")
        }
    }
}
