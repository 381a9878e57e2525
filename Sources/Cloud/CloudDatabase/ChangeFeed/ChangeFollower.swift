import Storage

/// Reads all changes of a store in commit order, page by page, from the position that it noted last.
///
/// Its user calls `takePage` until that returns a mark. Then they wait for any change of the store since the
/// mark, and call `takePage` again. A page that an error or a crash interrupted comes again.
package struct ChangeFollower: Sendable {
    private let storage: any Store
    private let name: FollowerName
    private let changesPerPage: Int
    private let lease: StoreLease

    /// - Parameters:
    ///   - changesPerPage: how many changes are read in one snapshot.
    ///   - lease: checked with all that is written; `takePage` throws `StoreLease.Lost` when another process has it.
    package init(
        _ storage: any Store, as name: FollowerName, changesPerPage: Int = 256,
        by lease: StoreLease = .sole
    ) {
        self.storage = storage
        self.name = name
        self.lease = lease
        self.changesPerPage = max(1, changesPerPage)
    }

    /// Where a follower began.
    package enum Beginning: Sendable, Equatable {
        /// At the store's last change.
        case new
        /// At the position that it noted last.
        case previous
        /// At the store's last change, though it followed before: the store let it go, and it missed changes.
        case anew
    }

    /// Begins to follow, or goes on; asks for the previous versions of these records and no others.
    ///
    /// Blocks.
    ///
    /// - Returns: where it began. After `anew`, a reader that derives something from changes must look at the
    ///   whole store.
    /// - Throws: `StorageFailure`.
    @discardableResult
    package func begin(wanting wanted: Set<PreviousVersionNeed> = []) throws -> Beginning {
        let name = name
        return try storage.writeAndWait(caller: .background) { transaction in
            let beginning: Beginning
            do {
                beginning = try transaction.position(of: name) == nil ? .new : .previous
            } catch is FollowerFellBehind {
                try transaction.unfollow(name)
                beginning = .anew
            }
            try transaction.follow(as: name, wanting: wanted, alone: true)
            return beginning
        }
    }

    /// Hands the next changes to a closure, and then notes that they were dealt with.
    ///
    /// Blocks.
    ///
    /// - Returns: nil when there may be more; else a mark from before the look that found nothing.
    /// - Throws: what the closure throws, and `StorageFailure`; then nothing of the page is noted.
    ///   `FollowerFellBehind` when the store has let the follower go meanwhile: call `begin` again.
    package func takePage(
        _ visit: (FollowedChange, any StoreSnapshot) throws -> Void
    ) throws -> CommitNotices.Mark? {
        try takePage(
            reading: { page in
                try page.forEach {
                    try visit($0, page.snapshot)
                    return true
                }
                return [()]
            }, preparing: { $0 }, writing: { _, _ in })
    }

    /// The next changes of a follower, as one snapshot has them.
    package final class Page {
        package let snapshot: any StoreSnapshot
        private let position: Position
        private let limit: Int
        /// The position of the last change that was visited.
        fileprivate var last: Position?

        fileprivate init(_ snapshot: any StoreSnapshot, after position: Position, limit: Int) {
            self.snapshot = snapshot
            self.position = position
            self.limit = limit
        }

        /// Visits the changes in order; the page ends with the change for which the closure returns false.
        package func forEach(_ visit: (FollowedChange) throws -> Bool) throws {
            last = try snapshot.changes(after: position, limit: limit, visit)
        }
    }

    /// Makes something of the next changes, and writes it piece by piece.
    ///
    /// The last piece is written in the transaction that notes that the page was dealt with. Others may write
    /// between pieces. After a crash the whole page comes again, including what was written of it. Blocks.
    ///
    /// - Parameters:
    ///   - read: goes through the page, on its snapshot.
    ///   - prepare: makes the pieces of what was read, after the snapshot.
    ///   - write: gets one piece; not called for a page without changes. May run more than once for a piece.
    /// - Returns: nil when there may be more; else a mark from before the look that found nothing.
    /// - Throws: what the closures throw, and `StorageFailure`; then nothing of the page is noted.
    package func takePage<Read, Made: Sendable>(
        reading read: (Page) throws -> Read,
        preparing prepare: (Read) throws -> [Made],
        writing write: @escaping @Sendable (Made, any StoreTransaction) throws -> Void
    ) throws -> CommitNotices.Mark? {
        let (name, lease, mark) = (name, lease, storage.notices.mark)
        let taken = try storage.read { snapshot -> (last: Position, found: Read)? in
            guard let position = try snapshot.position(of: name) else { return nil }
            let page = Page(snapshot, after: position, limit: changesPerPage)
            let found = try read(page)
            return page.last.map { ($0, found) }
        }
        guard let (last, found) = taken else { return mark }
        let pieces = try prepare(found)
        for piece in pieces.dropLast() {
            try storage.writeAndWait(caller: .background) { transaction in
                try lease.check(in: transaction)
                try write(piece, transaction)
            }
        }
        let piece = pieces.last
        try storage.writeAndWait(caller: .background) { transaction in
            try lease.check(in: transaction)
            if let piece { try write(piece, transaction) }
            try transaction.advance(name, through: last)
        }
        return nil
    }

    /// Stops to follow: the store keeps nothing for this reader any more.
    ///
    /// Blocks.
    ///
    /// - Throws: `StorageFailure`.
    package func end() throws {
        let name = name
        try storage.writeAndWait(caller: .background) { try $0.unfollow(name) }
    }
}
