import SQLite
import Storage

/// The terms under which an index of words finds a record.
struct IndexTerms {
    private static let wordBytesMax = 64

    private let tokenizer: WordTokenizer

    init(_ tokenizer: WordTokenizer) { self.tokenizer = tokenizer }

    /// What comes before each word of one zone's records in one index.
    static func prefix(_ index: Int64, _ zone: ZoneNumber) -> String { "\(index)x\(zone.value)x" }

    /// Hands each different word of a text to a closure.
    func forEachWord(
        in text: UnsafeRawBufferPointer, _ visit: (UnsafeRawBufferPointer) -> Void
    ) throws {
        if let plain = PlainLetters.plain(text) {
            try plain.withUnsafeBytes { try forEachPlainWord(in: $0, visit) }
        } else {
            try forEachPlainWord(in: text, visit)
        }
    }

    private func forEachPlainWord(
        in text: UnsafeRawBufferPointer, _ visit: (UnsafeRawBufferPointer) -> Void
    ) throws {
        var seen: Set<[UInt8]> = []
        try tokenizer.forEachWord(in: text) { word in
            let cut = Self.cut(word)
            if seen.insert([UInt8](cut)).inserted { visit(cut) }
        }
    }

    /// The different terms of a text, joined by spaces; empty for a text without words.
    func terms(of text: [UInt8], _ index: Int64, _ zone: ZoneNumber) throws -> [UInt8] {
        let prefix = Array(Self.prefix(index, zone).utf8)
        var terms: [UInt8] = []
        try text.withUnsafeBytes { text in
            try forEachWord(in: text) { word in
                if !terms.isEmpty { terms.append(UInt8(ascii: " ")) }
                terms.append(contentsOf: prefix)
                terms.append(contentsOf: word)
            }
        }
        return terms
    }

    private static func cut(_ word: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard word.count > wordBytesMax else { return word }
        var end = wordBytesMax
        while end > 0, word[end] & 0xC0 == 0x80 { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: word[..<end])
    }
}
