#if PostgreSQL
    import CloudModel
    import Dispatch
    import GroupCommit
    import PostgreSQL
    import Storage

    /// One container environment's data among those of others in a database.
    package final class PostgreSQLStore: Store {
        /// The limits of a store and what is handed to it.
        package struct Options: Sendable {
            package var connection: ConnectionOptions
            package var groups = GroupOptions()
            /// How many reads go on at the same time.
            package var readersMax = 16
            /// How long a read waits for its turn.
            package var readerWaitSecondsMax = 30
            /// How long a snapshot may live.
            package var snapshotSecondsMax = 60
            /// How many changes are kept for a follower that does not come.
            package var followerChangesMax = 250_000
            /// A group that is silent for so long is undone: its process was stopped, and others wait for the store.
            package var silenceSecondsMax = 15
            /// Whose store it is in the catalog of the same database; nil for one that no catalog knows.
            var container: ContainerID?
            package var clock: Clock
            package var random: @Sendable (Int) -> [UInt8]
            /// Learns of each commit of this process; waits here go on when the store is closed.
            package var notices = CommitNotices()
            /// Tells of the commits of other processes; nil where there are none.
            package var exchange: CommitExchange?
            /// Called once when another process has removed or replaced the store; must not block.
            var gone: @Sendable () -> Void = {}
            /// Reads feeds in the server's place; nil for none.
            package var standby: StandbyReads?
            /// Of this process among others; nil for one that is alone.
            var presence: ProcessPresence?

            package init(
                connection: ConnectionOptions, clock: Clock,
                random: @escaping @Sendable (Int) -> [UInt8]
            ) {
                self.connection = connection
                self.clock = clock
                self.random = random
            }
        }

        package let notices: CommitNotices
        /// Its number among the stores of the database.
        let number: Int64
        private let facts = StoreFacts()
        private let exchange: CommitExchange?
        private let duties: HeldDuties?
        private let committer: GroupCommitter
        // Touched on the committer's queue only, and in `init` before anybody else can.
        private nonisolated(unsafe) let groups: StoreGroups
        private let readers: ConnectionPool
        private let gathered: GatheredReads
        private let standby: StandbyReads?
        private let server: ServerConnector
        private let snapshotSecondsMax: Int

        /// Opens the store of a name, in sessions of its own; makes it, and the tables of all stores, where there are
        /// none.
        ///
        /// - Throws: `MigrationError` for a database that is not this version's, `PostgreSQLError`.
        package convenience init(named name: [UInt8], _ options: Options) throws {
            let sessions = StoreSessions(
                options.connection, readersMax: options.readersMax, writersMax: 1,
                waitSecondsMax: options.readerWaitSecondsMax)
            let creation = StoreCreation(
                connection: try sessions.server.connect(), random: options.random,
                now: options.clock.now())
            let number = try creation.findOrMake(named: name)
            self.init(number, sessions, options)
        }

        /// Opens a store that is there.
        init(_ number: Int64, _ sessions: StoreSessions, _ options: Options) {
            self.number = number
            notices = options.notices
            snapshotSecondsMax = options.snapshotSecondsMax
            readers = sessions.readers
            standby = options.standby
            gathered = GatheredReads(
                number, facts, sessions.readers, secondsMax: options.snapshotSecondsMax)
            server = sessions.server
            groups = StoreGroups(
                store: number, facts: facts, clock: options.clock, notices: options.notices,
                container: options.container, exchange: options.exchange,
                isShared: options.presence != nil,
                followerChangesMax: options.followerChangesMax,
                silenceSecondsMax: options.silenceSecondsMax, random: options.random,
                sessions: sessions.writers)
            duties = options.presence.map(HeldDuties.init)
            exchange = options.exchange
            exchange?.join(number, notices, gone: options.gone)
            // The groups never leave a commit to a restart: they look what became of it.
            committer = GroupCommitter(groups, options: options.groups, onIndeterminate: { _ in })
        }

        /// Whether the server was there when somebody last connected.
        var isReachable: Bool { server.isReachable }

        /// Every read waits for the server.
        package var readsAtOnce: Bool { false }

        /// What the committer has done and how it stands, for metrics.
        package var measurements: GroupMeasurements { committer.measurements }

        /// What groups of short reads have done and how they stand, for metrics.
        package var readMeasurements: GroupMeasurements { gathered.measurements }

        /// How many times groups of writes have waited for the server.
        package var groupRoundTrips: Int { committer.waitBetweenGroups { groups.roundTrips } }

        package func read<Value>(
            _ load: ReadLoad, _ body: (any StoreSnapshot) throws -> Value
        ) throws -> Value {
            do {
                if load.isOfFeed, let standby, let value = try read(on: standby, load.stop, body) {
                    return value
                }
                return try read(on: readers, load.stop, body)
            } catch let error as PostgreSQLError {
                if error.kind == .cancelled { try load.stop?.check() }
                throw error.failure
            }
        }

        /// Where the store stands on the server now.
        func serverProgress(_ stop: StopSignal?) throws -> Progress {
            try read(on: readers, stop) { try $0.progress() }
        }

        func read<Value>(
            on sessions: ConnectionPool, _ stop: StopSignal?,
            _ body: (PostgreSQLSnapshot) throws -> Value
        ) throws -> Value {
            let limit = DispatchTime.now() + .seconds(snapshotSecondsMax)
            return try sessions.with { connection, keep in
                connection.deadline = limit
                let snapshot = PostgreSQLSnapshot(connection, number, facts, stop: stop) {
                    let connection = try sessions.connect()
                    connection.deadline = limit
                    return connection
                }
                let outcome = Result { try body(snapshot) }
                // One that met a failure of the engine is closed with it.
                if case .failure(let error) = outcome, error is PostgreSQLError { throw error }
                try snapshot.end()
                keep(snapshot.connection)
                return try outcome.get()
            }
        }

        package func readTogether<Value: Sendable>(
            _ needs: @autoclosure () -> StoreNeeds, by caller: StoreCaller,
            _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value,
            completion: @escaping @Sendable (Result<Value, any Error>) -> Void
        ) {
            gathered.read(needs(), by: caller, body) { completion($0.mapError(Self.failure)) }
        }

        package func write<Value: Sendable>(
            _ load: WriteLoad,
            _ body: @escaping @Sendable (any StoreTransaction) throws -> Value,
            completion: @escaping @Sendable (Result<Value, any Error>) -> Void
        ) {
            let author = load.author
            committer.submit(
                cost: load.cost, bytes: load.bytes, caller: load.caller.value, frees: load.frees,
                needs: load.needs()
            ) { [self] in
                let transaction = try groups.transaction(by: author)
                let value = try body(transaction)
                try groups.accept(transaction.job, told: transaction.told)
                return value
            } completion: { result in
                completion(result.mapError(Self.failure))
            }
        }

        package func hold(_ duty: StoreDuty) throws -> StoreLease? {
            guard let duties else { return .sole }
            do { return try duties.hold(duty, of: number, readers) } catch let error
                as PostgreSQLError
            {
                throw error.failure
            }
        }

        /// Lets other processes do what this one has done; the store is closed.
        func endDuties(_ connection: Connection) throws { try duties?.end(of: number, connection) }

        private static func failure(_ error: any Error) -> any Error {
            switch error {
            // Nobody has a time limit for writes: the server was too slow.
            case let error as PostgreSQLError where error.kind == .cancelled:
                StorageFailure.unavailable(.busy)
            case let error as PostgreSQLError: error.failure
            case WriterError.tooManyOfCaller: StorageFailure.unavailable(.callerBusy)
            case WriterError.tooManyWaiting: StorageFailure.unavailable(.busy)
            case is WriterError: StorageFailure.indeterminate
            default: error
            }
        }

        /// The server orders and cleans its tables by itself.
        package func maintain(while goesOn: () -> Bool) throws -> Bool { false }

        /// Finishes what waits; no write comes after it.
        package func close() {
            committer.close()
            gathered.close()
            exchange?.closed(number)
        }

        /// What is wrong with the store, one line for each problem; reads all of it.
        package func problems() throws -> [String] {
            try read { snapshot in
                guard let snapshot = snapshot as? PostgreSQLSnapshot else { return [] }
                return try StoreCheck(snapshot).problems()
            }
        }
    }
#endif
