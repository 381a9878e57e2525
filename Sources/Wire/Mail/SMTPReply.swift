/// One answer of a mail server (RFC 5321 §4.2), perhaps of several lines.
struct SMTPReply: Equatable {
    let code: Int
    /// Without codes and line ends.
    let lines: [String]

    /// 2xx.
    var isPositive: Bool { 200..<300 ~= code }

    /// The code, with the more precise one where the server gave one (RFC 3463).
    ///
    /// Its words are left out: they may say whose address it was.
    var status: String {
        let first = lines.first?.split(separator: " ").first.map(String.init) ?? ""
        let parts = first.split(separator: ".", omittingEmptySubsequences: false)
        let isEnhanced =
            parts.count == 3
            && parts.allSatisfy {
                (1...3).contains($0.count) && $0.utf8.allSatisfy { 0x30...0x39 ~= $0 }
            }
        return isEnhanced ? "\(code) \(first)" : "\(code)"
    }
}

/// Takes answers apart as their bytes arrive.
struct SMTPReplyReader {
    /// With its code and line end; RFC 5321 §4.5.3.1.5 has 512.
    static let lineBytesMax = 2_048
    static let lineCountMax = 128

    enum Outcome: Equatable {
        case needsMore
        case reply(SMTPReply)
        case malformed
    }

    private var waiting: [UInt8] = []
    private var code: Int?
    private var lines: [String] = []

    /// Whether bytes have come behind the last answer.
    var hasMore: Bool { !waiting.isEmpty || code != nil }

    mutating func append(_ bytes: [UInt8]) { waiting += bytes }

    mutating func next() -> Outcome {
        while let end = waiting.firstIndex(of: 0x0A) {
            guard end < Self.lineBytesMax, end > 0, waiting[end - 1] == 0x0D else {
                return .malformed
            }
            let line = Array(waiting[..<(end - 1)])
            waiting.removeFirst(end + 1)
            guard let isLast = take(line) else { return .malformed }
            if isLast, let code {
                defer {
                    self.code = nil
                    lines = []
                }
                return .reply(SMTPReply(code: code, lines: lines))
            }
        }
        return waiting.count < Self.lineBytesMax ? .needsMore : .malformed
    }

    /// Whether the line is an answer's last; nil for what is no line of this answer.
    private mutating func take(_ line: [UInt8]) -> Bool? {
        let digits = line.prefix(3)
        guard digits.count == 3, digits.allSatisfy({ 0x30...0x39 ~= $0 }), digits[0] >= 0x32,
            digits[0] <= 0x35, line.count == 3 || line[3] == 0x20 || line[3] == 0x2D,
            lines.count < Self.lineCountMax, line.allSatisfy({ $0 >= 0x20 || $0 == 0x09 })
        else { return nil }
        let number = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        guard code == nil || code == number else { return nil }
        code = number
        lines.append(String(decoding: line.dropFirst(4), as: UTF8.self))
        return line.count == 3 || line[3] == 0x20
    }
}
