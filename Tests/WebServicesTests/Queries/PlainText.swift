import Foundation

/// Text as queries compare it, worked out by hand for the letters that the tests use.
///
/// Nothing here asks the standard library what the case or the words of a text are: what the server gets
/// from there is compared with this.
enum PlainText {
    /// What each letter becomes without regard to case.
    private static let folds: [Unicode.Scalar: String] = {
        var folds: [Unicode.Scalar: String] = [:]
        for (upper, lower) in zip(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZÀÄÅÆÇÉÑÖØÜŠŽĐŁŒΑΒΓΔΗΘΝΟΠΣΩАБДЖМОЧЯԱႠ".unicodeScalars,
            "abcdefghijklmnopqrstuvwxyzàäåæçéñöøüšžđłœαβγδηθνοπσωабджмочяաⴀ".unicodeScalars)
        {
            folds[upper] = String(lower)
        }
        // One letter that becomes two, two that become one, and letters that look alike.
        folds["ß"] = "ss"
        folds["ẞ"] = "ss"
        folds["ﬁ"] = "fi"
        folds["ς"] = "σ"
        folds["\u{130}"] = "i\u{307}"
        folds["\u{1C5}"] = "\u{1C6}"
        folds["\u{1C4}"] = "\u{1C6}"
        folds["\u{212A}"] = "k"
        folds["\u{2126}"] = "ω"
        folds["\u{212B}"] = "å"
        folds["\u{17F}"] = "s"
        folds["\u{10400}"] = "\u{10428}"
        return folds
    }()

    static func folded(_ text: String) -> [UInt8] {
        text.unicodeScalars.flatMap { Array((folds[$0] ?? String($0)).utf8) }
    }

    static func isEqual(_ left: String, _ right: String) -> Bool { folded(left) == folded(right) }

    static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    static func begins(_ text: String, with prefix: String) -> Bool {
        text.utf8.starts(with: prefix.utf8)
    }

    /// What sorting looks at: the first 500 bytes, without half a letter at their end.
    static func sorted(_ text: String) -> [UInt8] {
        var kept: [UInt8] = []
        for scalar in text.unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            if kept.count + bytes.count > 500 { break }
            kept += bytes
        }
        return kept
    }

    // MARK: - Words

    /// Letters without their accents; words keep `ß` and ligatures as they are.
    private static let plain: [Unicode.Scalar: String] = [
        "à": "a", "ä": "a", "å": "a", "ç": "c", "é": "e", "ï": "i", "ñ": "n", "ö": "o", "ü": "u",
        "š": "s", "ž": "z", "ή": "η", "À": "a", "Ä": "a", "Å": "a", "Ç": "c", "É": "e", "Ñ": "n",
        "Ö": "o", "Ü": "u", "Š": "s", "Ž": "z", "\u{212B}": "a", "\u{130}": "i", "ẞ": "ß", "ß": "ß",
        "ﬁ": "ﬁ", "ú": "u",
    ]

    private static func lower(_ scalar: Unicode.Scalar) -> String {
        folds[scalar] ?? String(scalar)
    }

    private static let stopWords = Set(
        """
        a an and are as at be but by for if in into is it no not of on or such that the their then \
        there these they this to was will with
        """.split(separator: " ").map(String.init))

    /// The words of a text: letters and digits between other characters, without case and accents.
    static func words(_ text: String) -> [String] {
        var words: [String] = []
        var word = ""
        for scalar in text.unicodeScalars {
            let isMark = (0x300...0x36F).contains(scalar.value)
            if isMark { continue }
            if separators.contains(scalar) {
                if !word.isEmpty { words.append(cut(word)) }
                word = ""
                continue
            }
            word += plain[scalar] ?? lower(scalar)
        }
        if !word.isEmpty { words.append(cut(word)) }
        return words
    }

    /// What of a word is looked at: its first 64 bytes, without half a letter at their end.
    private static func cut(_ word: String) -> String {
        var kept = Substring(word).unicodeScalars
        while String(kept).utf8.count > 64 { kept.removeLast() }
        return String(kept)
    }

    /// The words that are searched for: without those that nearly every English text has.
    static func searchedWords(_ text: String) -> Set<String> {
        Set(words(text)).subtracting(stopWords)
    }

    static let separators: Set<Unicode.Scalar> = [
        " ", "\t", "\n", ",", ".", "-", "_", "'", "\"", "!", "/", "(", ")", "\u{0}", "\u{1F600}",
        "：",
    ]
}
