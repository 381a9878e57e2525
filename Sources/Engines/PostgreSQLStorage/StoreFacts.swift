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
            var revision: Revision
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
        ///
        /// Known by the present one: two of which a server lacked the first may have the same count.
        struct KnownLives: Sendable {
            let incarnation: Int64
            let previous: Int64?
            let earlier: [Int64: Position]
            let tokenKey: [UInt8]
        }

        /// Who follows, and which versions they want.
        struct KnownFollowing: Sendable {
            let revision: Revision
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

        func schema(_ revision: Revision, _ read: () throws -> KnownSchema) throws -> KnownSchema {
            if let known = schema.withLock({ $0 }), known.revision == revision { return known }
            let found = try read()
            keep(found)
            return found
        }

        /// Keeps a schema that was committed.
        func keep(_ made: KnownSchema) {
            schema.withLock { if made.revision.replaces($0?.revision) { $0 = made } }
        }

        func indexes(
            _ revision: Revision, _ read: () throws -> KnownIndexes
        ) throws -> KnownIndexes {
            if let known = indexes.withLock({ $0 }), known.revision == revision { return known }
            let found = try read()
            keep(found)
            return found
        }

        /// Keeps what was committed of the indexes.
        func keep(_ made: KnownIndexes) {
            indexes.withLock { if made.revision.replaces($0?.revision) { $0 = made } }
        }

        /// The revision of the indexes that are known; nil for none.
        var indexRevision: Revision? { indexes.withLock { $0?.revision } }

        func lives(of progress: Progress, _ read: () throws -> KnownLives) throws -> KnownLives {
            if let known = lives.withLock({ $0 }), known.incarnation == progress.incarnation {
                return known
            }
            let found = try read()
            lives.withLock { $0 = found }
            return found
        }
    }

    // Who follows.
    extension StoreFacts {
        func following(_ revision: Revision, _ read: () throws -> Following) throws -> Following {
            // Most stores nobody has ever followed.
            guard revision.number > 0 else { return Following(isOn: false) }
            if let known = following.withLock({ $0 }), known.revision == revision {
                return known.following
            }
            let found = KnownFollowing(revision: revision, following: try read())
            keep(found)
            return found.following
        }

        /// Keeps what was committed.
        func keep(_ made: KnownFollowing) {
            following.withLock { if made.revision.replaces($0?.revision) { $0 = made } }
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

        init(_ progress: Progress, _ rows: [Rows]) throws {
            guard rows.count == 2, rows[0].count == 1 else { throw InvalidRow(table: "stores") }
            var earlier: [Int64: Position] = [:]
            for row in 0..<rows[1].count {
                earlier[rows[1].number(row, 0)] = rows[1].number(row, 1)
            }
            self.init(
                incarnation: progress.incarnation,
                previous: rows[1].count > 0 ? rows[1].number(0, 0) : nil,
                earlier: earlier, tokenKey: Array(rows[0].bytes(0, 0)))
        }

        /// The lives before one that has just begun, and follows the present one.
        func followed(by begun: Progress) -> StoreFacts.KnownLives {
            var earlier = earlier
            earlier[incarnation] = begun.lastPosition
            return StoreFacts.KnownLives(
                incarnation: begun.incarnation, previous: incarnation, earlier: earlier,
                tokenKey: tokenKey)
        }

        func identity(_ progress: Progress) -> StoreIdentity {
            StoreIdentity(
                incarnation: progress.incarnation, previous: previous, earlier: earlier,
                last: progress.lastPosition, tokenKey: tokenKey)
        }
    }
#endif
