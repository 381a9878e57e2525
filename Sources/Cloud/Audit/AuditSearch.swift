import CloudModel

/// What somebody looks for in a log.
struct AuditSearch {
    /// Entries before it are left out.
    let since: Milliseconds
    /// How the operator, the action, the account or a word of the detail begins; empty for all.
    let prefix: [UInt8]
    /// The bits of a block's set that an entry which is looked for must have set there.
    let bits: [AuditBlock.Bit]

    init(since: Milliseconds, prefix: String) {
        self.since = since
        self.prefix = Array(prefix.utf8)
        bits = Self.terms(of: self.prefix[...]).flatMap { AuditBlock.bits(of: $0) }
        // As long as nothing of it is escaped in a line.
        let isPlain = self.prefix.allSatisfy {
            (0x20..<0x7f).contains($0) && ![0x22, 0x2f, 0x5c].contains($0)
        }
        sought = since == .min && isPlain ? self.prefix : []
    }

    /// Bytes that every line has which is looked for; empty for none.
    private let sought: [UInt8]

    /// Whether a line, as it is in the log, may be looked for.
    func mayMatch(_ line: [UInt8]) -> Bool {
        guard let first = sought.first else { return true }
        return line.withUnsafeBytes { line in
            sought.withUnsafeBytes { sought in
                var at = 0
                while at + sought.count <= line.count {
                    guard let next = line[at...].firstIndex(of: first),
                        next + sought.count <= line.count
                    else { return false }
                    if line[next..<next + sought.count].elementsEqual(sought) { return true }
                    at = next + 1
                }
                return false
            }
        }
    }

    /// What every row of a table has that can be looked for, and as few others as can be; nil where all may be.
    var term: Int64? { Self.terms(of: prefix[...]).last.map { Int64(bitPattern: $0) } }

    /// Whether everything is looked for.
    var isForAll: Bool { since == .min && prefix.isEmpty }

    func matches(_ entry: AuditEntry) -> Bool {
        guard !prefix.isEmpty else { return true }
        return Self.beginnings(of: entry).contains { $0.starts(with: prefix) }
    }

    /// Everything of an entry that a search may name the beginning of.
    static func beginnings(of entry: AuditEntry) -> [ArraySlice<UInt8>] {
        let whole = [entry.who, entry.what, entry.account ?? ""].map { Array($0.utf8)[...] }
        let detail = Array((entry.detail ?? "").utf8)
        let words = detail.indices.filter {
            detail[$0] != UInt8(ascii: " ") && ($0 == 0 || detail[$0 - 1] == UInt8(ascii: " "))
        }
        return whole + words.map { detail[$0...] }
    }

    /// How many bytes of a beginning make terms: few, so that a block's set has room, and such that a whole name
    /// has several, which are met by chance together only once in a thousand times; many containers begin the same.
    private static let lengths = [2, 6, 12, 20, 24, 32]

    /// Numbers for the beginnings of a text; those of a beginning of it are among them.
    static func terms(of text: ArraySlice<UInt8>) -> [UInt64] {
        var terms: [UInt64] = []
        var (hash, count): (UInt64, Int) = (0xcbf2_9ce4_8422_2325, 0)
        for length in lengths where length <= text.count {
            for byte in text.dropFirst(count).prefix(length - count) {
                hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
            }
            count = length
            terms.append((hash ^ (hash >> 29)) &* 0xbf58_476d_1ce4_e5b9)
        }
        return terms
    }
}
