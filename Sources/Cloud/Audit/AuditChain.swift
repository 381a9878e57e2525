import Cryptography

/// Holds lines of a table against each other, each against the line before it, from the newest on.
struct AuditChain {
    private(set) var problems: [String] = []
    private(set) var lineCount = 0
    /// The digest of the first line that was taken.
    private(set) var lastHash: String?
    /// The line behind the one that comes next, and the digest that it names.
    private var behind: (number: Int64, previous: String)?
    /// Whether lines between those that are taken were left out.
    private let hasGaps: Bool

    /// No more are named: the first one says it all.
    private static let problemsMax = 20

    init(hasGaps: Bool) { self.hasGaps = hasGaps }

    /// Takes the next line towards the beginning; nil for one that is malformed.
    mutating func take(_ bytes: [UInt8], _ number: Int64) -> AuditLine? {
        let line = AuditLine(bytes)
        let hash = AuditLine.digest(ofAny: bytes)
        lineCount += 1
        lastHash = lastHash ?? hash
        if let behind, !hasGaps || behind.number == number + 1 { check(behind, follow: hash) }
        behind = line.map { (number, $0.previous) }
        if line == nil { note(number, "is not as it was written") }
        return line
    }

    /// Nothing is before the line that was taken last.
    mutating func end() {
        if let behind, !hasGaps { check(behind, follow: AuditLine.beginning) }
    }

    private mutating func check(_ line: (number: Int64, previous: String), follow hash: String) {
        guard line.previous != hash else { return }
        note(line.number, "does not follow on the line before it")
    }

    private mutating func note(_ number: Int64, _ what: String) {
        guard problems.count < Self.problemsMax else { return }
        problems.append("line \(number) of the audit log \(what)")
    }
}
