import SQLite

/// Merges all segments of the word index into one, step by step, so that no word is left of entries that have gone.
///
/// A segment is never changed: what goes is noted in a later one, and both words stay until the two are merged into
/// the oldest there is.
struct WordMerge {
    /// The segments that there were at the start and that may be there still.
    private var previous: Set<Int64>
    private var isBegun = false

    /// Begins, with all segments there are.
    init(_ connection: Connection) throws {
        previous = try Self.segments(connection)
        // One alone has nothing to be merged with, and notes nothing that has gone.
        if previous.count < 2 { previous = [] }
    }

    var isDone: Bool { previous.isEmpty }

    /// Writes about so many pages.
    ///
    /// - Returns: how far that has come.
    func stepped(_ connection: Connection, pagesMax: Int) throws -> WordMerge {
        var next = self
        let pages = max(1, pagesMax)
        // A negative number puts all segments in one level first, into which the next ones do not come.
        try Self.merge(isBegun ? pages : -pages, connection)
        next.isBegun = true
        let left = try Self.segments(connection)
        // Where nothing was to be merged one is left, which is the oldest.
        next.previous = left.count < 2 ? [] : previous.intersection(left)
        return next
    }

    private static func merge(_ pages: Int, _ connection: Connection) throws {
        try connection.prepare(
            "INSERT INTO index_words (index_words, rank) VALUES ('merge', ?1)"
        ).run(pages)
    }

    private static func segments(_ connection: Connection) throws -> Set<Int64> {
        let next = try connection.prepare(
            "SELECT segid FROM index_words_idx WHERE segid > ?1 ORDER BY segid LIMIT 1")
        defer { next.reset() }
        var found: Set<Int64> = []
        var last: Int64 = -1
        while true {
            next.bind(last, at: 1)
            guard try next.step() else { return found }
            last = next.int64(0)
            found.insert(last)
            next.reset()
        }
    }
}
