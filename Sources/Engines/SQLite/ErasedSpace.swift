/// Overwrites the pages of a file that hold nothing any more, in steps that each are part of a transaction.
///
/// SQLite leaves in a page that it gives up what the page has held. So rows of zeros take all such pages. Once the
/// rows are committed, the zeros are on the pages; then the rows go again, which writes nothing to them.
package struct ErasedSpace {
    private let connection: Connection
    /// What a page has room for when it continues a row.
    private static let pageBytes = 4_092
    /// The beginning of a row that goes on in other pages.
    ///
    /// With it the rest fills the last of them: what a page has held before stays behind the end of a row.
    private static let beginningBytes = 500
    /// Fills more than half of a page and stays on it.
    private static let lonelyBytes = 3_000

    /// - Parameter connection: of a file with a table `erased_space`.
    package init(_ connection: Connection) { self.connection = connection }

    /// Takes some of the free pages.
    ///
    /// - Returns: whether none is left, as the transaction sees it.
    package func fill(pagesMax: Int) throws -> Bool {
        var left = max(1, pagesMax)
        while left > 0 {
            let free = try connection.freePageCount()
            guard free > 0 else { return true }
            // The tree of the rows takes a page now and then.
            let pages = min(left, free - 2)
            let insert = try connection.prepare(
                "INSERT INTO erased_space (zeros) VALUES (zeroblob(?1))")
            try insert.run(
                Int64(
                    pages > 0
                        ? Self.beginningBytes + pages * Self.pageBytes : Self.lonelyBytes))
            left -= max(1, pages)
        }
        return try connection.freePageCount() == 0
    }

    /// Gives some of the pages back.
    ///
    /// - Returns: whether all are given back.
    package func clear(rowsMax: Int) throws -> Bool {
        let delete = try connection.prepare(
            "DELETE FROM erased_space WHERE id IN (SELECT id FROM erased_space LIMIT ?1)")
        try delete.run(Int64(max(1, rowsMax)))
        return connection.changeCount < max(1, rowsMax)
    }
}
