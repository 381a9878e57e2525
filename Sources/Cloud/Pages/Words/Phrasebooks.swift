import JSON

/// The languages that the pages and letters are at hand in.
package struct Phrasebooks: Sendable {
    package static let english = Phrasebooks([])

    private let books: [String: Phrasebook]
    private let usual: Phrasebook

    /// - Parameters:
    ///   - books: beside English, or in its place.
    ///   - usual: what those read whose browser names none that is at hand; English when it is not.
    package init(_ books: [Phrasebook], usual: String = "en") {
        var known = ["en": Phrasebook.english]
        for book in books { known[book.tag.lowercased()] = book }
        self.books = known
        self.usual = known[usual.lowercased()] ?? .english
    }

    /// Whether a language is at hand under exactly this name.
    package func has(_ tag: String) -> Bool { books[tag.lowercased()] != nil }

    /// The language of a letter, by the name that it was queued with.
    func book(_ tag: String) -> Phrasebook { books[tag.lowercased()] ?? usual }

    /// The language in which somebody reads pages.
    ///
    /// - Parameters:
    ///   - chosen: what they or an app chose; nil for nothing.
    ///   - accepted: what their browser sends as `Accept-Language`; nil for nothing.
    func choose(chosen: String?, accepted: String?) -> Phrasebook {
        if let chosen, let book = nearest(to: chosen[...]) { return book }
        for range in Self.ranges(accepted ?? "") {
            if range == "*" { return usual }
            if let book = nearest(to: range) { return book }
        }
        return usual
    }

    /// The language itself, else what is left without its last parts (RFC 4647 §3.4).
    private func nearest(to range: Substring) -> Phrasebook? {
        var range = range.lowercased()[...]
        guard range.utf8.count <= Self.rangeBytesMax else { return nil }
        while !range.isEmpty {
            if let book = books[String(range)] { return book }
            guard let end = range.lastIndex(of: "-") else { return nil }
            range = range[..<end]
        }
        return nil
    }

    private static let rangesMax = 16
    private static let rangeBytesMax = 35

    /// The wanted languages, the most wanted first; what is refused is left out.
    private static func ranges(_ header: String) -> [Substring] {
        let items = header.split(separator: ",").prefix(rangesMax)
        let wanted = items.compactMap { item -> (range: Substring, quality: Int)? in
            let parts = item.split(separator: ";")
            guard let range = parts.first?.filter({ $0 != " " }) else { return nil }
            let quality = parts.dropFirst().compactMap(Self.quality).first ?? 1_000
            return quality > 0 ? (Substring(range), quality) : nil
        }
        // Those that are wanted alike stay in their order.
        return wanted.enumerated().sorted {
            ($1.element.quality, $0.offset) < ($0.element.quality, $1.offset)
        }.map(\.element.range)
    }

    /// `q=0.8` in thousandths; nil for anything else.
    private static func quality(_ parameter: Substring) -> Int? {
        let text = parameter.filter { $0 != " " }
        guard text.hasPrefix("q="), let first = text.dropFirst(2).first else { return nil }
        guard first == "0" else { return 1_000 }
        let digits = text.dropFirst(4).prefix(3)
        let padded = digits + String(repeating: "0", count: 3 - digits.count)
        return Int(padded) ?? 0
    }

    /// What the texts are known by in files.
    package static var keys: [String] { Phrase.allCases.map(\.key) }

    /// A file for a language, with every text in English; as JSON5, so that notes can be in it.
    package static var template: String {
        var lines = [
            "// The texts of the pages and letters. Name the file after the language, such as de.json5,",
            "// put it into the folder of pages.textsFolder, and say the texts in that language. What",
            "// stands in braces is put in and stays. Lines that are left out are said in English. Use the",
            "// terms that people know from other sites in that language, such as Passwort vergessen?",
            "{",
        ]
        for phrase in Phrase.allCases {
            var writer = JSONWriter(reserving: 256)
            writer.string(phrase.rawValue)
            lines.append("  \(phrase.key): \(String(decoding: writer.bytes, as: UTF8.self)),")
        }
        return (lines + ["}"]).joined(separator: "\n")
    }
}
