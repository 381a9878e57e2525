import CSQLite

/// A region that an R*Tree is searched for though it is no box: `id MATCH name(numbers…)`.
///
/// Confined, as its connection, to one thread at a time.
package final class Region {
    private let mayMeet:
        (_ numbers: UnsafeBufferPointer<Double>, _ box: UnsafeBufferPointer<Double>) -> Bool

    private init(
        _ mayMeet:
            @escaping (
                _ numbers: UnsafeBufferPointer<Double>, _ box: UnsafeBufferPointer<Double>
            ) -> Bool
    ) {
        self.mayMeet = mayMeet
    }

    /// Makes a name for regions known to a connection, for as long as it is open.
    ///
    /// - Parameter mayMeet: called for each box on the way down and for each entry. It gets the
    ///   numbers of the search, and the box's coordinates in the order of its columns.
    /// - Throws: `SQLiteError` when this SQLite has no R*Trees, or no memory.
    package static func name(
        _ name: String, on connection: Connection,
        mayMeet:
            @escaping (
                _ numbers: UnsafeBufferPointer<Double>, _ box: UnsafeBufferPointer<Double>
            ) -> Bool
    ) throws {
        let context = Unmanaged.passRetained(Region(mayMeet)).toOpaque()
        let code = sqlite3_rtree_query_callback(
            connection.handle, name,
            { search in
                guard let search, let context = search.pointee.pContext else {
                    return SQLITE_ERROR
                }
                let region = Unmanaged<Region>.fromOpaque(context).takeUnretainedValue()
                let meets = region.mayMeet(
                    UnsafeBufferPointer(
                        start: search.pointee.aParam, count: Int(search.pointee.nParam)),
                    UnsafeBufferPointer(
                        start: search.pointee.aCoord, count: Int(search.pointee.nCoord)))
                search.pointee.eWithin = meets ? PARTLY_WITHIN : NOT_WITHIN
                return SQLITE_OK
            }, context,
            { context in
                guard let context else { return }
                Unmanaged<Region>.fromOpaque(context).release()
            })
        // SQLite lets the region go itself, when it fails too.
        guard code == SQLITE_OK else { throw connection.lastError() }
    }
}
