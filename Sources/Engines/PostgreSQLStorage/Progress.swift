#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage

    /// Where a store stands: its row in `progress`.
    struct Progress {
        var lastPosition: Position
        var schemaRevision: Int64
        var indexRevision: Int64
        var lifeCount: Int64
        var incarnation: Int64
        var node: Node
        var next: NextNumbers
        /// Of subscriptions and destinations.
        var subscriptionRevision: Int64
        /// Of who follows and which versions they want; 0 only where nobody ever has.
        var followerRevision: Int64
        /// Counts commits; a life begins far beyond the last one before it.
        var commitCount: Int64
        /// How many changes are kept for followers; writes move it in the row alone.
        let changesKept: Int
        /// Where the row was, for `ProgressRow`.
        let page: Int64

        private static let columns = """
            last_position, schema_revision, life_count, incarnation, cluster, timeline,
                next_owner, next_zone, next_record, next_type, next_role, next_work, next_share,
                next_request, subscription_revision, follower_revision, changes_kept,
                next_destination, next_notice, index_revision, next_index, commit_count,
                \(ProgressRow.page)
            """
        private static let reading =
            "SELECT \(columns) FROM progress WHERE \(ProgressRow.condition(2))"
        private static let locking = ProgressRow.locking(columns, 2)

        /// - Parameters:
        ///   - page: where the row was last; any number finds it.
        ///   - locked: whether nobody else writes to the store until the transaction ends.
        static func query(_ store: Int64, page: Int64, locked: Bool) -> Query {
            Query(locked ? locking : reading, .number(store), .number(page))
        }

        init(_ rows: Rows) throws {
            guard rows.count == 1 else { throw StorageFailure.missing }
            lastPosition = rows.number(0, 0)
            schemaRevision = rows.number(0, 1)
            indexRevision = rows.number(0, 19)
            lifeCount = rows.number(0, 2)
            incarnation = rows.number(0, 3)
            node = Node(cluster: rows.number(0, 4), timeline: rows.number(0, 5))
            next = NextNumbers(
                owner: rows.number(0, 6), zone: rows.number(0, 7), record: rows.number(0, 8),
                type: rows.number(0, 9), role: rows.number(0, 10), work: rows.number(0, 11),
                share: rows.number(0, 12), request: rows.number(0, 13),
                destination: rows.number(0, 17), notice: rows.number(0, 18),
                index: rows.number(0, 20))
            subscriptionRevision = rows.number(0, 14)
            followerRevision = rows.number(0, 15)
            changesKept = Int(rows.number(0, 16))
            commitCount = rows.number(0, 21)
            page = rows.number(0, 22)
        }

        /// Under which something of the store is known.
        ///
        /// - Parameter number: the one that moves with it.
        func revision(_ number: KeyPath<Progress, Int64>) -> Revision {
            Revision(life: incarnation, number: self[keyPath: number])
        }

        /// How far numbers move when a life begins on another server: further than what that one may lack.
        static let lifeGap: Int64 = 1 << 20

        /// Begins another life, on a server that may lack the last commits.
        ///
        /// What processes keep in memory under a number of these commits is not taken for what is there from now on.
        ///
        /// - Parameter further: how much further than `lifeGap`, so that a life which a further server lacks has other
        ///   numbers than the one that begins there.
        mutating func beginLife(_ incarnation: Int64, on node: Node, further: Int64) {
            self.incarnation = incarnation
            self.node = node
            lifeCount += 1
            for number in [
                \Progress.schemaRevision, \.indexRevision, \.followerRevision,
                \.subscriptionRevision, \.commitCount,
            ] { self[keyPath: number] += Self.lifeGap + further }
        }
    }

    /// The next numbers that a store gives out of each kind but positions.
    struct NextNumbers: Equatable {
        var owner: Int64
        var zone: Int64
        var record: Int64
        var type: Int64
        var role: Int64
        var work: Int64
        var share: Int64
        var request: Int64
        var destination: Int64
        var notice: Int64
        var index: Int64

        /// Of a store that has the owner of the public database and the built-in types.
        static let first = NextNumbers(
            owner: 1, zone: 1, record: 1, type: 3, role: 1, work: 1, share: 1, request: 1,
            destination: 1, notice: 1, index: 1)

        /// Takes one.
        mutating func take(_ kind: WritableKeyPath<NextNumbers, Int64>) -> Int64 {
            defer { self[keyPath: kind] += 1 }
            return self[keyPath: kind]
        }
    }
#endif
