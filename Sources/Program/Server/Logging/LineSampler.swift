import CloudModel

/// Chooses among lines that anybody can cause, by requests without credentials.
///
/// So many of a second are written, and of the others each hundredth: a caller that floods the server can
/// neither fill the disk nor hide.
struct LineSampler: Sendable {
    /// Lines of a second that are all written.
    static let writtenPerSecond = 50
    private static let oneOf = 100

    private var second: Milliseconds = 0
    private var count = 0
    private var leftOut = 0

    /// Whether the next line is written, and how many were left out since that was last told.
    mutating func takeNext(now: Milliseconds) -> (isWritten: Bool, leftOut: Int) {
        var told = 0
        if now / 1_000 != second {
            (second, count, told, leftOut) = (now / 1_000, 0, leftOut, 0)
        }
        count += 1
        guard count > Self.writtenPerSecond, count % Self.oneOf != 0 else { return (true, told) }
        leftOut += 1
        return (false, told)
    }
}
