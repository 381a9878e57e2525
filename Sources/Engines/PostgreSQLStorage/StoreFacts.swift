#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows
    import Synchronization

    /// What reads ask for again and again and what seldom changes, as any connection of a store has read it last.
    ///
    /// Each is kept under a number of the row `progress`, at which every snapshot looks: so what another process has
    /// changed is seen.
    final class StoreFacts: Sendable {
        /// The schema, and until when something is held of it.
        struct KnownSchema: Sendable {
            var revision: Int64
            var schema: Schema
            var heldUntil: Milliseconds

            /// As it counts at a moment.
            func at(_ moment: Milliseconds) -> Schema {
                guard !schema.leaving.isEmpty, heldUntil <= moment else { return schema }
                var free = schema
                free.leaving = Schema.Parts()
                return free
            }
        }

        /// The store's lives before the present one, and its key.
        struct KnownLives: Sendable {
            let count: Int64
            let previous: Int64?
            let earlier: [Int64: Position]
            let tokenKey: [UInt8]
        }

        /// Who follows, and which versions they want.
        struct KnownFollowing: Sendable {
            let revision: Int64
            let following: Following
        }

        fileprivate let following = Mutex<KnownFollowing?>(nil)
        private let page = Atomic<Int64>(0)
        private let schema = Mutex<KnownSchema?>(nil)
        private let lives = Mutex<KnownLives?>(nil)
        private let indexes = Mutex<KnownIndexes?>(nil)

        /// Asks where the store stands.
        ///
        /// - Parameter locked: as of `Progress.query`.
        func progressQuery(_ store: Int64, locked: Bool) -> Query {
            Progress.query(store, page: progressPage, locked: locked)
        }

        /// Reads the answer, and keeps where the row is.
        func progress(_ rows: Rows) throws -> Progress {
            let progress = try Progress(rows)
            page.store(progress.page, ordering: .relaxed)
            return progress
        }

        /// Where the store's row in `progress` was last.
        var progressPage: Int64 { page.load(ordering: .relaxed) }

        func schema(_ revision: Int64, _ read: () throws -> KnownSchema) throws -> KnownSchema {
            if let known = schema.withLock({ $0 }), known.revision == revision { return known }
            let found = try read()
            schema.withLock { if found.revision >= $0?.revision ?? 0 { $0 = found } }
            return found
        }

        /// Keeps a schema that was committed.
        func keep(_ made: KnownSchema) {
            schema.withLock { if made.revision >= $0?.revision ?? 0 { $0 = made } }
        }

        func indexes(
            _ revision: Int64, _ read: () throws -> KnownIndexes
        ) throws -> KnownIndexes {
            if let known = indexes.withLock({ $0 }), known.revision == revision { return known }
            let found = try read()
            keep(found)
            return found
        }

        /// Keeps what was committed of the indexes.
        func keep(_ made: KnownIndexes) {
            indexes.withLock { if made.revision >= $0?.revision ?? 0 { $0 = made } }
        }

        /// The revision of the indexes that are known; -1 for none.
        var indexRevision: Int64 { indexes.withLock { $0?.revision ?? -1 } }

        func lives(_ count: Int64, _ read: () throws -> KnownLives) throws -> KnownLives {
            if let known = lives.withLock({ $0 }), known.count == count { return known }
            let found = try read()
            lives.withLock { if found.count >= $0?.count ?? 0 { $0 = found } }
            return found
        }
    }

    // Who follows.
    extension StoreFacts {
        func following(_ revision: Int64, _ read: () throws -> Following) throws -> Following {
            // Most stores nobody has ever followed.
            guard revision > 0 else { return Following(isOn: false) }
            if let known = following.withLock({ $0 }), known.revision == revision {
                return known.following
            }
            let found = KnownFollowing(revision: revision, following: try read())
            keep(found)
            return found.following
        }

        /// Keeps what was committed.
        func keep(_ made: KnownFollowing) {
            following.withLock { if made.revision >= $0?.revision ?? 0 { $0 = made } }
        }
    }

    extension StoreFacts.KnownLives {
        /// The queries that `init` reads.
        static func queries(_ store: Int64) -> [Query] {
            [
                Query("SELECT token_key FROM stores WHERE store = $1", .number(store)),
                Query(
                    """
                    SELECT number, last_position FROM incarnations WHERE store = $1
                    ORDER BY last_position DESC
                    """, .number(store)),
            ]
        }

        init(_ count: Int64, _ rows: [Rows]) throws {
            guard rows.count == 2, rows[0].count == 1 else { throw InvalidRow(table: "stores") }
            var earlier: [Int64: Position] = [:]
            for row in 0..<rows[1].count {
                earlier[rows[1].number(row, 0)] = rows[1].number(row, 1)
            }
            self.init(
                count: count, previous: rows[1].count > 0 ? rows[1].number(0, 0) : nil,
                earlier: earlier, tokenKey: Array(rows[0].bytes(0, 0)))
        }

        /// The lives before the one that follows the present one.
        func followed(by count: Int64, _ progress: Progress) -> StoreFacts.KnownLives {
            var earlier = earlier
            earlier[progress.incarnation] = progress.lastPosition
            return StoreFacts.KnownLives(
                count: count, previous: progress.incarnation, earlier: earlier, tokenKey: tokenKey)
        }

        func identity(_ progress: Progress) -> StoreIdentity {
            StoreIdentity(
                incarnation: progress.incarnation, previous: previous, earlier: earlier,
                last: progress.lastPosition, tokenKey: tokenKey)
        }
    }
#endif
