/// Tables as text: cells between commas, rows between line ends (RFC 4180), in UTF-8.
///
/// A text that a spreadsheet would take for a formula begins with an apostrophe; reading takes it off. An empty text is in
/// quotes, since a cell with nothing in it is no value.
enum CSVText {
    private static let quote = UInt8(ascii: "\"")
    private static let comma = UInt8(ascii: ",")
    private static let feed = UInt8(ascii: "\n")
    private static let apostrophe = UInt8(ascii: "'")

    /// Appends a text as a cell.
    static func append(text: some Collection<UInt8>, to bytes: inout [UInt8]) {
        let isGuarded = isFormula(text)
        let isPlain =
            !text.isEmpty
            && text.allSatisfy {
                $0 != quote && $0 != comma && $0 != feed && $0 != UInt8(ascii: "\r")
            }
        if !isPlain { bytes.append(quote) }
        if isGuarded { bytes.append(apostrophe) }
        for byte in text {
            if byte == quote { bytes.append(quote) }
            bytes.append(byte)
        }
        if !isPlain { bytes.append(quote) }
    }

    /// The text of a cell, without the apostrophe that guards it.
    static func text(_ cell: [UInt8]) -> [UInt8] {
        cell.first == apostrophe && isFormula(cell) ? Array(cell.dropFirst()) : cell
    }

    /// Whether a text begins, after any apostrophes, as a formula does.
    ///
    /// Those after apostrophes count too, so that taking one off gives back any text.
    private static func isFormula(_ text: some Collection<UInt8>) -> Bool {
        guard let first = text.first(where: { $0 != apostrophe }) else { return false }
        return "=+-@".utf8.contains(first)
    }

    /// A cell as it was read.
    struct Cell: Equatable {
        var bytes: [UInt8] = []
        /// Whether it was in quotes: an empty one is then an empty text.
        var isQuoted = false

        /// Whether it holds no value.
        var isAbsent: Bool { bytes.isEmpty && !isQuoted }
    }

    /// Where the last whole row of a text ends, when the text begins with a row; 0 for none.
    static func endOfRows(_ bytes: [UInt8]) -> Int {
        var (isInQuotes, end) = (false, 0)
        for (index, byte) in bytes.enumerated() {
            if byte == quote {
                isInQuotes.toggle()
            } else if byte == feed, !isInQuotes {
                end = index + 1
            }
        }
        return end
    }

    /// Reads the row that begins at a place, and moves the place behind it.
    ///
    /// - Returns: nil at the end.
    /// - Throws: `CSVMistake`.
    static func row(_ bytes: [UInt8], at index: inout Int) throws(CSVMistake) -> [Cell]? {
        guard index < bytes.count else { return nil }
        var cells: [Cell] = []
        while true {
            cells.append(try cell(bytes, at: &index))
            guard index < bytes.count else { return cells }
            let byte = bytes[index]
            index += 1
            if byte == comma { continue }
            if byte == UInt8(ascii: "\r"), index < bytes.count, bytes[index] == feed {
                index += 1
                return cells
            }
            guard byte == feed else { throw CSVMistake("a cell goes on behind its quotes") }
            return cells
        }
    }

    private static func cell(_ bytes: [UInt8], at index: inout Int) throws(CSVMistake) -> Cell {
        guard index < bytes.count, bytes[index] == quote else {
            let start = index
            while index < bytes.count, bytes[index] != comma, bytes[index] != feed {
                guard bytes[index] != quote else { throw CSVMistake("a quote within a cell") }
                index += 1
            }
            var end = index
            // The line end of another system.
            if end > start, bytes[end - 1] == UInt8(ascii: "\r"),
                index == bytes.count || bytes[index] == feed
            {
                end -= 1
            }
            return Cell(bytes: Array(bytes[start..<end]))
        }
        index += 1
        var cell = Cell(isQuoted: true)
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            guard byte == quote else {
                cell.bytes.append(byte)
                continue
            }
            guard index < bytes.count, bytes[index] == quote else { return cell }
            cell.bytes.append(quote)
            index += 1
        }
        throw CSVMistake("a quote is not closed")
    }
}

/// What is wrong with a row.
struct CSVMistake: Error, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
