/// Why a language's texts are not taken.
package struct PhraseRefusal: Error, Sendable, Equatable {
    /// Whose text it is; nil for the language itself.
    package let key: String?
    /// What was expected, as a phrase without a capital or a full stop.
    package let reason: String
}

/// The texts of the pages and letters in one language.
package struct Phrasebook: Sendable {
    /// More is no text for a button or a line of a page.
    private static let textBytesMax = 2_000
    /// Languages that are written from right to left.
    private static let rightToLeft: Set<String> = [
        "ar", "ckb", "dv", "fa", "he", "ku", "ps", "sd", "ug", "ur", "yi",
    ]

    /// The language of the page that is being made.
    @TaskLocal static var current = Phrasebook.english

    package static let english = Phrasebook(tag: "en", texts: [:])

    /// As browsers name the language (RFC 5646), such as `de` or `pt-BR`.
    package let tag: String
    /// Those that differ from English.
    private let texts: [Phrase: String]

    private init(tag: String, texts: [Phrase: String]) {
        self.tag = tag
        self.texts = texts
    }

    /// A language in the operator's words.
    ///
    /// What is missing is said in English.
    ///
    /// - Throws: `PhraseRefusal` for a name that no language has, for a key that no text has, and for a
    ///   text that is empty or too long. Also for one that puts in other things than the English one.
    package init(tag: String, entries: [(key: String, text: String)]) throws(PhraseRefusal) {
        guard Self.isTag(tag) else {
            throw PhraseRefusal(
                key: nil, reason: "expected the name of a language, such as de or pt-BR")
        }
        var texts: [Phrase: String] = [:]
        for (key, text) in entries {
            guard let phrase = Phrase.named[key] else {
                throw PhraseRefusal(key: key, reason: "there is no such text")
            }
            guard !text.allSatisfy(\.isWhitespace), text.utf8.count <= Self.textBytesMax else {
                throw PhraseRefusal(
                    key: key, reason: "expected a text of 1 to \(Self.textBytesMax) bytes")
            }
            // A line that is begun anew could become a field of a letter's header.
            guard text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
            else { throw PhraseRefusal(key: key, reason: "expected no control characters") }
            let wanted = PhraseTemplate(phrase.rawValue).names
            guard let names = PhraseTemplate(checking: text)?.names, names == wanted else {
                let list = wanted.sorted().map { "{\($0)}" }.joined(separator: " and ")
                throw PhraseRefusal(
                    key: key,
                    reason: wanted.isEmpty
                        ? "expected a text without braces" : "expected \(list) in it")
            }
            texts[phrase] = text
        }
        self.init(tag: tag, texts: texts)
    }

    /// `ltr` or `rtl`, as HTML writes it.
    var direction: String {
        let language = tag.prefix { $0 != "-" }.lowercased()
        return Self.rightToLeft.contains(language) ? "rtl" : "ltr"
    }

    subscript(_ phrase: Phrase) -> String { texts[phrase] ?? phrase.rawValue }

    /// How many texts are its own.
    package var count: Int { texts.count }

    private static func isTag(_ tag: String) -> Bool {
        let parts = tag.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard let language = parts.first, (2...3).contains(language.count), parts.count <= 4 else {
            return false
        }
        func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
        return language.allSatisfy(isLetter)
            && parts.dropFirst().allSatisfy { part in
                (1...8).contains(part.count)
                    && part.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) }
            }
    }
}

extension Phrase {
    /// What a language's file knows the text by.
    package var key: String { String(describing: self) }

    static let named = Dictionary(uniqueKeysWithValues: allCases.map { ($0.key, $0) })

    /// In the language of the page that is being made.
    var text: String { Phrasebook.current[self] }

    /// The same with texts put in.
    func text(_ values: [String: String]) -> String {
        PhraseTemplate(text).pieces.map { piece -> String in
            switch piece {
            case .words(let words): words
            case .name(let name): values[name] ?? ""
            }
        }.joined()
    }

    /// The same with markup put in; all else is text.
    func markup(_ values: [String: Markup]) -> Markup {
        Markup(
            PhraseTemplate(text).pieces.map { piece -> Markup in
                switch piece {
                case .words(let words): "\(words)"
                case .name(let name): values[name] ?? .nothing
                }
            })
    }
}

extension DefaultStringInterpolation {
    /// Never: a phrase in a plain string is a slip for `text`, and would be its key if this were not there.
    @available(*, deprecated, message: "use the phrase's text")
    mutating func appendInterpolation(_ phrase: Phrase) { appendInterpolation(phrase.text) }
}
