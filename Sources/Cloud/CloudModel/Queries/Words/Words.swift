/// Takes words from texts, alike for every engine: those that indexes of words hold, and those that searches look for.
///
/// A word is letters with their marks, and digits; case, accents and Latin diacritics do not count. It is cut at
/// `bytesMax`, never within a letter.
package enum Words {
    package static let bytesMax = 64

    /// The different words of a text, in the order in which they first come.
    package static func of(_ text: String) -> [[UInt8]] {
        var words: [[UInt8]] = []
        var text = text
        text.withUTF8 { bytes in
            forEach(in: UnsafeRawBufferPointer(bytes)) { words.append([UInt8]($0)) }
        }
        return words
    }

    /// Hands each different word of a text to a closure, in the order in which they first come.
    package static func forEach(
        in text: UnsafeRawBufferPointer, _ visit: (UnsafeRawBufferPointer) -> Void
    ) {
        var seen: Set<[UInt8]> = []
        var word: [UInt8] = []
        word.reserveCapacity(2 * bytesMax)
        func end() {
            if word.isEmpty { return }
            if seen.insert(word).inserted { word.withUnsafeBytes(visit) }
            word.removeAll(keepingCapacity: true)
        }
        var isFull = false
        var place = 0
        while place < text.count {
            let letter = WordLetters.next(in: text, &place)
            switch letter {
            case WordLetters.none:
                end()
                isFull = false
            case WordLetters.unwritten: continue
            default: isFull = isFull || !append(letter, to: &word)
            }
        }
        end()
    }

    /// - Returns: whether there was room for it.
    private static func append(_ letter: UInt32, to word: inout [UInt8]) -> Bool {
        if letter < 0x80 {
            guard word.count < bytesMax else { return false }
            word.append(UInt8(truncatingIfNeeded: letter))
            return true
        }
        guard let scalar = Unicode.Scalar(letter) else { return true }
        let bytes = UTF8.encode(scalar)
        guard let bytes, word.count + bytes.count <= bytesMax else { return false }
        word.append(contentsOf: bytes)
        return true
    }
}

/// What each scalar is to words.
private enum WordLetters {
    /// It ends a word.
    static let none: UInt32 = 0
    /// It is written or left out as one likes.
    static let unwritten: UInt32 = 1

    private static let tableEnd: UInt32 = 0x10000

    /// For each scalar below `tableEnd` the letter as which it is compared.
    private static let table: [UInt32] = {
        var table = [UInt32](repeating: none, count: Int(tableEnd))
        for scalar in 0..<UInt32(0x80) {
            switch UInt8(truncatingIfNeeded: scalar) {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"):
                table[Int(scalar)] = scalar
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): table[Int(scalar)] = scalar + 0x20
            default: break
            }
        }
        for number in UInt32(0x80)..<tableEnd {
            guard let scalar = Unicode.Scalar(number) else { continue }
            table[Int(number)] = folded(scalar)
        }
        return table
    }()

    private static let foldedLetters: [Unicode.Scalar: Unicode.Scalar] = Dictionary(
        zip(LetterTable.letters.unicodeScalars, LetterTable.folded.unicodeScalars),
        uniquingKeysWith: { $1 })

    private static func folded(_ scalar: Unicode.Scalar) -> UInt32 {
        guard !PlainLetters.isAccent(scalar.value) else { return unwritten }
        let base = PlainLetters.base(of: scalar)
        return isLetter(base.value) ? (foldedLetters[base] ?? base).value : none
    }

    private static func isLetter(_ value: UInt32) -> Bool {
        var (low, high) = (0, LetterTable.bounds.count)
        while low < high {
            let middle = (low + high) / 2
            if LetterTable.bounds[middle] <= value { low = middle + 1 } else { high = middle }
        }
        return low % 2 == 1
    }

    /// Reads the scalar at a place and moves behind it; bytes that are none end a word.
    static func next(in text: UnsafeRawBufferPointer, _ place: inout Int) -> UInt32 {
        let first = text[place]
        place += 1
        if first < 0x80 { return table[Int(first)] }
        let count = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0
        guard count > 0, place + count <= text.count else { return none }
        var value = UInt32(first) & (0x3F >> UInt32(count))
        for offset in 0..<count { value = value << 6 | UInt32(text[place + offset]) & 0x3F }
        place += count
        if value < tableEnd { return table[Int(value)] }
        return Unicode.Scalar(value).map { folded($0) } ?? none
    }
}
