import CloudModel

/// One block of an index: some lines of the log, the latest of their times, and a set of terms.
///
/// The set is a Bloom filter: it may take a term for one of its own, and never leaves one out.
enum AuditBlock {
    /// Where each thing lies, in words.
    fileprivate enum Word {
        static let start = 0
        static let end = 1
        static let latest = 2
        static let hasProblem = 3
        static let ending = 4
        static let terms = 5
        static let sum = terms + 64
    }

    static let wordCount = Word.sum + 1
    static let byteCount = wordCount * MemoryLayout<UInt64>.size
    fileprivate static let linesMax = 128
    /// Lines are seldom so long.
    fileprivate static let bytesMax: Int64 = 262_144
    /// By so many bytes before its end a block knows its log again.
    fileprivate static let endingBytesMax = 128

    static func start(_ block: ArraySlice<UInt64>) -> Int64 { number(block, Word.start) }

    /// Behind its last line.
    static func end(_ block: ArraySlice<UInt64>) -> Int64 { number(block, Word.end) }

    /// Of how many bytes before its end `ending` is made.
    static func endingBytes(_ block: ArraySlice<UInt64>) -> Int {
        Int(min(end(block) - start(block), Int64(endingBytesMax)))
    }

    static func ending(of block: ArraySlice<UInt64>) -> UInt64 { word(block, Word.ending) }

    /// Whether it is as it was written.
    static func isWhole(_ block: ArraySlice<UInt64>) -> Bool {
        word(block, Word.sum) == sum(block.dropLast()) && start(block) >= 0
            && end(block) > start(block)
    }

    /// Whether a line of it may be looked for, or has to be shown because something is wrong with it.
    static func mayHold(_ search: AuditSearch, _ block: ArraySlice<UInt64>) -> Bool {
        if word(block, Word.hasProblem) != 0 { return true }
        guard number(block, Word.latest) >= search.since else { return false }
        return search.bits.allSatisfy { word(block, Word.terms + $0.word) & $0.mask != 0 }
    }

    private static func word(_ block: ArraySlice<UInt64>, _ index: Int) -> UInt64 {
        block[block.startIndex + index]
    }

    private static func number(_ block: ArraySlice<UInt64>, _ index: Int) -> Int64 {
        Int64(bitPattern: word(block, index))
    }

    /// One bit of a block's set.
    struct Bit {
        let word: Int
        let mask: UInt64

        fileprivate init(_ number: UInt64) {
            word = Int(number >> 6) & 63
            mask = 1 << (number & 63)
        }
    }

    static func bits(of term: UInt64) -> [Bit] { [Bit(term), Bit(term >> 32)] }

    /// Tells a block that was torn or changed by chance from a whole one.
    fileprivate static func sum(_ words: ArraySlice<UInt64>) -> UInt64 {
        words.reduce(0x9e37_79b9_7f4a_7c15) { sum, word in
            let mixed = (sum ^ word) &* 0xff51_afd7_ed55_8ccd
            return mixed ^ (mixed >> 32)
        }
    }

    /// A number for the bytes by which a log ends somewhere.
    static func ending(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        sum(bytes.suffix(endingBytesMax).map { UInt64($0) }[...])
    }
}

/// Makes a block of lines, the oldest first.
struct AuditBlockBuilder {
    let start: Int64
    private var end: Int64
    private var lineCount = 0
    private var latest: Milliseconds = .min
    private var hasProblem = false
    private var lastBytes: [UInt8] = []
    private var terms = [UInt64](repeating: 0, count: AuditBlock.Word.sum - AuditBlock.Word.terms)
    /// The digest of the line before; nil when it is not known.
    private var previous: String?

    init(from start: Int64) {
        self.start = start
        end = start
        previous = start == 0 ? AuditLine.beginning : nil
    }

    /// Makes the next block.
    init(following block: AuditBlockBuilder) {
        self.init(from: block.end)
        previous = block.previous
    }

    var isFull: Bool {
        lineCount >= AuditBlock.linesMax || end - start >= AuditBlock.bytesMax
    }

    /// - Parameter bytes: with the line end.
    mutating func add(_ bytes: [UInt8]) {
        lineCount += 1
        end += Int64(bytes.count)
        lastBytes = Array(
            (lastBytes + bytes.suffix(AuditBlock.endingBytesMax))
                .suffix(AuditBlock.endingBytesMax))
        guard let line = AuditLine(Array(bytes.dropLast())) else {
            hasProblem = true
            previous = nil
            return
        }
        // What follows on a malformed line shows when that one is read.
        if let previous, line.previous != previous { hasProblem = true }
        previous = line.hash
        latest = max(latest, line.entry.time)
        for beginning in AuditSearch.beginnings(of: line.entry) {
            for term in AuditSearch.terms(of: beginning) {
                for bit in AuditBlock.bits(of: term) { terms[bit.word] |= bit.mask }
            }
        }
    }

    var finished: [UInt64] {
        let words =
            [
                UInt64(bitPattern: start), UInt64(bitPattern: end),
                UInt64(bitPattern: latest), hasProblem ? 1 : 0,
                AuditBlock.ending(lastBytes[...]),
            ] + terms
        return words + [AuditBlock.sum(words[...])]
    }
}
