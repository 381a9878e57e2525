#if PostgreSQL
    import CloudModel
    import Dispatch
    import GroupCommit
    import Platform
    import PostgreSQL
    import Storage
    import StoredRows

    /// The groups of a store's writes: what PostgreSQL gives the committer.
    ///
    /// A group is READ COMMITTED: it locks the store's counter, and fetches behind the lock what its writes have said
    /// they will read: one round trip. What they change is kept until the end, and goes there together with the commit:
    /// another one. What nobody foresaw is asked for in between. Confined to the committer's queue.
    final class StoreGroups: GroupEngine {
        /// The last position that there is.
        static let positionMax: Position = (1 << 40) - 1

        let store: Int64
        let facts: StoreFacts
        private let sessions: ConnectionPool
        let clock: Clock
        private let random: (Int) -> [UInt8]
        private let notices: CommitNotices
        /// Names this process's groups in `group_marks`.
        let process: [UInt8]
        /// Whether other processes may have the store open.
        let isShared: Bool
        var number: Int64 = 0
        /// Marks with numbers below it have been removed.
        private(set) var firstMark: Int64 = 1
        /// While a group goes on.
        private var session: Connection?
        private var foreseen = ForeseenRows([])
        private var sharedZones = SharedZones()

        /// Where the store stood when the group got its counter, and what it has taken since.
        var progress: Progress?
        var begunProgress: Progress?
        private(set) var begunAt: Milliseconds = 0
        /// No number below it is given out again by this process, whatever has failed.
        private var floor: Position = 1
        var next: Position = 1
        var groupFirst: Position = 1
        /// As the group's writes have left it, with what the server has been told of.
        var known = KnownRows()
        /// What the server has not been told of.
        private(set) var changes = StoreChanges()
        /// What of it moved parts of the store, told or not.
        private var moved: Set<StorePart> = []
        /// How many writes of the group have ended well.
        private var writes = 0
        private var transaction: PostgreSQLTransaction?
        /// What the server has been told of the schema that the group has made.
        private var madeSchema: StoreFacts.KnownSchema?
        /// What the server has been told of who follows, and of the indexes.
        private var madeFollowing: StoreFacts.KnownFollowing?
        private var madeIndexes: StoreFacts.KnownIndexes?
        /// Whether what was made of the schema, of who follows or of the indexes was undone by the server.
        private var hasLostFacts = false
        /// Whether the server has been told of something before the commit.
        private var hasTold = false
        private var begunLife: StoreFacts.KnownLives?
        /// Begun with the first commit; what has been saved since it was asked last.
        private var statistics: StatisticsPace?
        private var savedRows = 0
        private let followerChangesMax: Int
        private let silence: Query
        /// Has a row where the store's container has left.
        private let moving: Query
        /// Tells other processes; nil for one that is alone.
        private let exchange: CommitExchange?
        /// How many changes the server has been told of, for followers.
        private var notedCount = 0

        /// How many times groups have waited for the server, but for what sessions begin with.
        private(set) var roundTrips = 0
        /// How many times others have in the session that the group has.
        private var roundTripsBefore = 0

        init(
            store: Int64, facts: StoreFacts, clock: Clock, notices: CommitNotices,
            container: ContainerID?, exchange: CommitExchange?, isShared: Bool,
            followerChangesMax: Int, silenceSecondsMax: Int,
            random: @escaping (Int) -> [UInt8], sessions: ConnectionPool
        ) {
            self.store = store
            self.facts = facts
            self.clock = clock
            self.notices = notices
            self.exchange = exchange
            self.isShared = isShared
            self.followerChangesMax = followerChangesMax
            // A process that is stopped within a group must not hold the counter for ever.
            silence = Query(
                "SET LOCAL idle_in_transaction_session_timeout = '\(silenceSecondsMax)s'")
            moving = MovedStores.mark(of: container)
            self.random = random
            self.sessions = sessions
            process = random(16)
        }

        func open() throws -> Connection {
            guard let session else { throw WriterError.closed }
            return session
        }

        /// The one transaction of the group; each job begins it again.
        func transaction(by author: ChangeAuthor?) throws -> PostgreSQLTransaction {
            let made = try transaction ?? PostgreSQLTransaction(open(), self)
            transaction = made
            made.begin(at: clock.now(), by: author)
            return made
        }

        // MARK: - A group

        func foresee(_ jobs: ArraySlice<PendingJob>) {
            foreseen = ForeseenRows(jobs.compactMap { $0.needs as? StoreNeeds }, sharedZones)
        }

        func begin() throws {
            do { try begin(connected()) } catch let error as PostgreSQLError
                where error.endsSession
            {
                // The session may have ended since it was last used; a new one is tried once.
                drop()
                try begin(connected(isNew: true))
            }
        }

        private func connected(isNew: Bool = false) throws -> Connection {
            if let session { return session }
            let taken = try sessions.take()
            do {
                let connection = isNew ? try sessions.connect() : taken
                // A server that does not say who it is, such as a standby, is not asked again by this session.
                _ = try connection.node()
                session = connection
                roundTripsBefore = connection.roundTrips
                return connection
            } catch {
                sessions.give(nil)
                throw error
            }
        }

        private func begin(_ connection: Connection) throws {
            let node = try connection.node()
            let revision = facts.indexRevision
            let start = [
                Query("BEGIN ISOLATION LEVEL READ COMMITTED"),
                facts.progressQuery(store, locked: true), silence,
                IndexRows.query(store, page: facts.progressPage, changedSince: revision), moving,
            ]
            let answers = try connection.run(start + foreseen.queries(store))
            let found = try facts.progress(answers[1])
            // Behind the lock: this process may not have heard that the container has left.
            guard answers[4].count == 0 else { throw StorageFailure.moved }
            let indexes = found.revision(\.indexRevision)
            if indexes != revision { facts.keep(try IndexRows.read(indexes, answers[3])) }
            progress = found
            begunProgress = found
            begunAt = clock.now()
            known = try foreseen.rows(
                Array(answers.dropFirst(start.count)),
                firstRecord: RecordNumber(found.next.record), &sharedZones)
            changes = StoreChanges()
            (moved, writes, notedCount) = ([], 0, 0)
            (madeSchema, madeFollowing, madeIndexes) = (nil, nil, nil)
            (hasLostFacts, begunLife, hasTold) = (false, nil, false)
            next = max(found.lastPosition + 1, floor)
            groupFirst = next
            if found.node != node { try beginLife(on: node, connection) }
        }

        /// What another server of the cluster takes over may lack the last commits: what was given out beyond is not
        /// taken for what is given out from now on.
        private func beginLife(on node: Node, _ connection: Connection) throws {
            guard var progress else { return }
            changes.statements.append(
                Query(
                    """
                    INSERT INTO incarnations (store, number, last_position, ended_at)
                    VALUES ($1, $2, $3, $4)
                    """, .number(store), .number(progress.incarnation),
                    .number(progress.lastPosition), .number(clock.now())))
            let previous = try facts.lives(of: progress) {
                try StoreFacts.KnownLives(
                    progress, try connection.run(StoreFacts.KnownLives.queries(store)))
            }
            // Where a further server lacks this life, too, the one that begins there does not give out its positions.
            let further = randomNumber(bytes: 3, random) % Progress.lifeGap
            progress.beginLife(
                randomNumber(bytes: 7, random), on: node, further: further)
            begunLife = previous.followed(by: progress)
            self.progress = progress
            next += Progress.lifeGap + further
        }

        func run(_ job: PendingJob, isIsolated: Bool) throws -> JobEnd {
            let connection = try open()
            if isIsolated {
                try flush()
                _ = try connection.run([Query("SAVEPOINT job")])
            }
            do {
                try job.run()
                return .done
            } catch {
                if connection.isLost || connection.hasFailed || error is PostgreSQLError {
                    throw error
                }
                guard let transaction, transaction.hasFlushed else {
                    // What it has changed of shares is noted there already.
                    if transaction?.job.isEmpty == false { known.shares.forget() }
                    return .undone
                }
                guard isIsolated else { return .needsIsolation }
                _ = try connection.run([Query("ROLLBACK TO SAVEPOINT job")])
                known = KnownRows()
                (madeSchema, madeFollowing, madeIndexes) = (nil, nil, nil)
                hasLostFacts = true
                return .undone
            }
        }

        /// Takes over what a job did, once it has ended well.
        ///
        /// - Parameter told: what it has moved that the server has been told of.
        /// - Throws: `PostgreSQLError` of a session that has ended.
        func accept(_ job: StoreChanges, told: Set<StorePart>) throws {
            writes += 1
            moved.formUnion(told)
            moved.formUnion(job.movedParts)
            changes.add(job)
            // The server writes these rows while further writes are decided.
            guard changes.saved.count >= Self.rowsAhead else { return }
            try open().sendAhead(statements(telling: changes))
            noteTold()
        }

        /// After so many saved records the server is told of them before the group ends.
        private static let rowsAhead = 200

        /// Tells the server of what the group has changed, and then of a job's own changes, and asks behind them; one
        /// round trip.
        @discardableResult
        func flush(
            _ job: StoreChanges = StoreChanges(), asking queries: [Query] = []
        ) throws
            -> [Rows]
        {
            changes.add(job)
            let first = changes.isEmpty ? [] : statements(telling: changes)
            let rows = try open().run(first + queries)
            noteTold()
            return Array(rows.dropFirst(first.count))
        }

        /// Notes that the server has been told of all that has changed.
        private func noteTold() {
            known.add(changes, recentSums)
            madeSchema = changes.schema ?? madeSchema
            madeFollowing = changes.following ?? madeFollowing
            notedCount += changes.noted.count
            madeIndexes = changes.indexes ?? madeIndexes
            hasTold = hasTold || !changes.isEmpty
            changes = StoreChanges()
        }

        /// The schema as the group has it so far.
        func schema(
            _ read: (Revision) throws -> StoreFacts.KnownSchema
        ) throws
            -> StoreFacts.KnownSchema
        {
            if let made = changes.schema ?? madeSchema { return made }
            guard let begunProgress else { throw WriterError.closed }
            let revision = begunProgress.revision(\.schemaRevision)
            return try hasLostFacts
                ? read(revision) : facts.schema(revision) { try read(revision) }
        }

        /// Who follows, as the group has it so far.
        func following(_ read: () throws -> Following) throws -> Following {
            if let made = changes.following ?? madeFollowing { return made.following }
            guard let begunProgress else { throw WriterError.closed }
            let revision = begunProgress.revision(\.followerRevision)
            guard !hasLostFacts else { return try read() }
            return try facts.following(revision, read)
        }

        /// The indexes as the group has them so far.
        func indexes(
            _ read: (Revision) throws -> StoreFacts.KnownIndexes
        ) throws -> StoreFacts.KnownIndexes {
            if let made = changes.indexes ?? madeIndexes { return made }
            guard let begunProgress else { throw WriterError.closed }
            // Where a savepoint took back what was made of them, the server is asked, past what is kept of it.
            guard hasLostFacts else {
                return try read(begunProgress.revision(\.indexRevision))
            }
            let rows = try open().run([IndexRows.query(store)])
            let present = progress ?? begunProgress
            let found = try IndexRows.read(present.revision(\.indexRevision), rows[0])
            madeIndexes = found
            return found
        }

        func prepare() throws {}

        func commit() -> GroupEnd {
            guard let connection = session else { return .rolledBack(WriterError.closed) }
            number += 1
            limitFollowers()
            let moves = next > groupFirst
            let isIdle =
                !moves && !hasTold && changes.isEmpty && progress?.next == begunProgress?.next
            let queries =
                isIdle
                ? [] : statements(telling: changes) + [counterQuery(moves: moves)] + markQueries
            switch connection.commit(after: queries) {
            case .committed:
                release()
                return committed(moves: moves, isIdle: isIdle)
            case .undone(let error): return rollBack(error)
            case .indeterminate(let error):
                drop()
                return lookForMark(error, moves: moves)
            }
        }

        /// Lets followers go that are too far behind.
        private func limitFollowers() {
            let noted = notedCount + changes.noted.count
            guard noted > 0, let progress, progress.changesKept + noted > followerChangesMax else {
                return
            }
            changes.letsGoBehind = followerChangesMax
            self.progress?.followerRevision += 1
        }

        private func committed(moves: Bool, isIdle: Bool = false) -> GroupEnd {
            if let schema = changes.schema ?? madeSchema,
                schema.revision == progress?.revision(\.schemaRevision)
            {
                facts.keep(schema)
            }
            if let following = changes.following ?? madeFollowing,
                following.revision == progress?.revision(\.followerRevision)
            {
                facts.keep(following)
            }
            if let indexes = changes.indexes ?? madeIndexes,
                indexes.revision == progress?.revision(\.indexRevision)
            {
                facts.keep(indexes)
            }
            let last = moves ? next - 1 : begunProgress?.lastPosition ?? 0
            let enqueued = (progress?.next.notice ?? 0) - (begunProgress?.next.notice ?? 0)
            savedRows += Int(next - groupFirst + enqueued)
            floor = next
            let moved = moved
            notices.committed(through: last, writes: writes) { tell in
                for part in moved { tell(part) }
                if moves { tell(.anything) }
            }
            if !isIdle, let progress {
                if prunesMarks { firstMark = number - Self.marksKept }
                exchange?.committed(
                    store,
                    CommitState(
                        position: last, commits: progress.commitCount + 1,
                        life: progress.incarnation,
                        queues: CommitState.Queues(
                            work: progress.next.work, notice: progress.next.notice,
                            followers: progress.followerRevision)))
            }
            return .committed
        }

        /// Finds out what became of a commit whose answer did not come.
        ///
        /// Once the counter can be locked, the lost session has ended; its mark is there if it was committed.
        private func lookForMark(_ lost: PostgreSQLError, moves: Bool) -> GroupEnd {
            floor = next
            let end = DispatchTime.now() + .seconds(Self.lookSeconds)
            while true {
                do {
                    return try isMarked(until: end) ? committed(moves: moves) : .rolledBack(lost)
                } catch {
                    drop()
                    guard DispatchTime.now() < end else {
                        return .unknown(StorageFailure.indeterminate)
                    }
                    usleep(100_000)
                }
            }
        }

        /// For how long a server is looked for that has gone during a commit.
        private static let lookSeconds = 5

        /// Writes the mark once more: what a standby is waited for with, it has with all that was committed before it.
        private func isMarked(until end: DispatchTime) throws -> Bool {
            let connection = try connected()
            connection.deadline = max(end, .now() + .seconds(1))
            let answers = try connection.run([
                Query("BEGIN"), facts.progressQuery(store, locked: true),
                Query(
                    """
                    UPDATE group_marks SET number = number
                    WHERE store = $1 AND process = $2 AND number = $3 RETURNING number
                    """, .number(store), .bytes(process), .number(number)),
            ])
            let outcome = connection.commit(after: [])
            connection.deadline = nil
            switch outcome {
            case .committed:
                release()
                return answers[2].count == 1
            case .undone(let error), .indeterminate(let error): throw error
            }
        }

        func rollBack(_ error: any Error) -> GroupEnd {
            floor = next
            // NB: a session that cannot undo is ended, which undoes.
            if let session, (try? session.rollBack()) != nil { release() } else { drop() }
            return .rolledBack(error)
        }

        func told() {
            guard savedRows > 0 else { return }
            // NB: a server that was not asked to look answers slowly; a session that has ended the next group finds.
            try? sessions.with { connection, keep in
                try lookWhenDue(connection)
                keep(connection)
            }
        }

        private func lookWhenDue(_ connection: Connection) throws {
            var pace = try statistics ?? StatisticsPace(connection)
            let isDue = pace.isDue(after: savedRows)
            (statistics, savedRows) = (pace, 0)
            if isDue { _ = try connection.run([StatisticsPace.look]) }
        }

        /// Gives back the session, whose transaction has ended.
        private func release() { give(session) }

        /// Ends the session, and with it what it has begun.
        private func drop() { give(nil) }

        private func give(_ connection: Connection?) {
            guard let session else { return }
            roundTrips += session.roundTrips - roundTripsBefore
            self.session = nil
            transaction = nil
            sessions.give(connection)
        }

        /// The identity with which the group is committed, so far.
        func identity(_ lives: (Progress) throws -> StoreFacts.KnownLives) throws -> StoreIdentity {
            guard var progress else { throw WriterError.closed }
            progress.lastPosition = reached
            if let begunLife, begunLife.incarnation == progress.incarnation {
                return begunLife.identity(progress)
            }
            return try lives(progress).identity(progress)
        }

        // MARK: - Ending

        func failed() { drop() }

        func close() { drop() }
    }
#endif
