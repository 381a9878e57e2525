#if PostgreSQL
    import Background
    import CloudModel
    import GroupCommit
    import PostgreSQL
    import Storage
    import StoredRows
    import Synchronization

    /// The engine that keeps all data in one database: the catalog in a schema of its own, and all stores in another.
    package final class PostgreSQLEngine: StorageEngine {
        /// How the database is reached, and what is taken of it.
        package struct Settings: Sendable {
            package var connection: ConnectionOptions
            package var groups = GroupOptions()
            /// How many sessions this process has at most, but for a few that copy, check or remove.
            package var sessionsMax = 32
            /// How a standby is reached that reads feeds; nil for none.
            package var standby: ConnectionOptions?
            /// How the one session that listens is begun, straight to the server where a pooler is between the others and
            /// it; nil for as they are.
            package var listening: ConnectionOptions?
            /// How long anybody waits for one.
            package var sessionWaitSecondsMax = 30
            /// How long a snapshot may live.
            package var snapshotSecondsMax = 60
            /// As of `PostgreSQLStore.Options`; a write of the catalog that is silent for so long is undone, too.
            package var silenceSecondsMax = 15
            /// Of the process's lease: nanoseconds that have passed, while the machine was suspended, too.
            package var leaseClock: @Sendable () -> UInt64 = LeaseClock.now

            package init(_ connection: ConnectionOptions) { self.connection = connection }

            /// Of so many, how many are for what; each has two at least.
            var catalogReaders: Int { max(2, sessionsMax / 8) }
            var writers: Int { max(2, sessionsMax / 4) }
            var readers: Int { max(2, sessionsMax - 1 - catalogReaders - writers) }
        }

        /// What stays of stores between their openings.
        private struct State {
            var open: [StoreKey: PostgreSQLStore] = [:]
            /// The numbers of those that are about to be.
            var opening: Set<Int64> = []
            /// What committers have done whose stores are closed.
            var closed = GroupMeasurements()
            /// The same of groups of reads.
            var closedReads = GroupMeasurements()
        }

        package let catalog: any CatalogStorage
        let tables: PostgreSQLCatalog
        let sessions: StoreSessions
        let settings: Settings
        let options: EngineOptions
        /// Names this process among those on the database.
        package let process: [UInt8]
        private let presence: ProcessPresence
        private let standby: StandbyReads?
        private let exchange: CommitExchange
        /// Looks for containers that are out of use, one look at a time however often the catalog moves.
        private let movedLooks = Runner("store.moved")
        private let state = Mutex(State())

        /// Opens the catalog, making it or bringing it to this version, and the tables of all stores with it.
        ///
        /// - Throws: `MigrationError`, `OutdatedServer`, `PooledByTransaction`, `PostgreSQLError`.
        init(_ settings: Settings, _ options: EngineOptions) throws {
            var settings = settings
            settings.connection = settings.connection.owned(by: options.process)
            sessions = StoreSessions(
                settings.connection, readersMax: settings.readers, writersMax: settings.writers,
                waitSecondsMax: settings.sessionWaitSecondsMax)
            try PooledByTransaction.refuse(sessions.server.connect)
            try StoreCreation.migrator.migrate(sessions.server.connect())
            tables = try PostgreSQLCatalog(
                settings.connection, readersMax: settings.catalogReaders,
                waitSecondsMax: settings.sessionWaitSecondsMax,
                silenceSecondsMax: settings.silenceSecondsMax)
            catalog = tables
            self.settings = settings
            standby = settings.standby.map { StandbyReads($0, max: settings.readers) }
            self.options = options
            process = options.process
            presence = tables.join(
                identity: process, version: options.programVersion, assets: options.assets,
                now: settings.leaseClock)
            // Before anything is kept of the catalog, and before anything is opened.
            let listening = settings.listening.map {
                StoreSessions.options($0.owned(by: options.process))
            }
            try Self.begin(presence, options.assets, sessions.server.connect(), listening)
            exchange = CommitExchange(sessions.server.options, presence, listening: listening)
            movedLooks.use { [weak self] in
                try self?.closeMoved()
                return .whenWoken
            }
            tables.onMove.withLock { $0 = { [movedLooks] in movedLooks.wake() } }
        }

        /// Joins the processes that live, unless their assets are elsewhere or the database is of a newer form by now.
        private static func begin(
            _ presence: ProcessPresence, _ assets: String, _ connection: Connection,
            _ listening: ConnectionOptions?
        ) throws {
            let renewing = try listening.map { try Connection($0) } ?? connection
            try presence.round(renewing)
            do { try KnownMigrations.requireUsable(connection) } catch {
                try presence.end(connection)
                throw error
            }
            let living = try LivingProcesses(connection).living()
            guard living.contains(where: { $0.identity == presence.identity }) else {
                try presence.end(renewing)
                throw ListensElsewhere()
            }
            guard let other = living.first(where: { $0.assets != assets }) else { return }
            try presence.end(connection)
            throw AssetsElsewhere(own: assets, others: other.assets)
        }

        package func open(_ key: StoreKey, notices: CommitNotices) throws -> any EngineStore {
            let number = try storeNumber(key)
            state.withLock { _ = $0.opening.insert(number) }
            defer { state.withLock { _ = $0.opening.remove(number) } }
            try session { connection in
                let creation = StoreCreation(
                    connection: connection, random: options.random, now: options.clock.now())
                try creation.transaction {
                    try creation.noteOpening(of: number, in: key.container, by: process)
                }
            }
            var storeOptions = storeOptions(notices)
            storeOptions.container = key.container
            storeOptions.gone = { [gone = options.onGone] in gone(key) }
            let store = PostgreSQLStore(number, sessions, storeOptions)
            state.withLock { $0.open[key] = store }
            return store
        }

        func storeOptions(_ notices: CommitNotices) -> PostgreSQLStore.Options {
            var made = PostgreSQLStore.Options(
                connection: settings.connection, clock: options.clock, random: options.random)
            made.groups = settings.groups
            made.snapshotSecondsMax = settings.snapshotSecondsMax
            made.silenceSecondsMax = settings.silenceSecondsMax
            made.notices = notices
            (made.exchange, made.presence, made.standby) = (exchange, presence, standby)
            return made
        }

        /// The stores that this process has open.
        var openKeys: [StoreKey] { state.withLock { Array($0.open.keys) } }

        func openStore(_ key: StoreKey) -> PostgreSQLStore? { state.withLock { $0.open[key] } }

        /// The numbers of those, and of those that are about to be.
        var openNumbers: [Int64] {
            state.withLock { $0.open.values.map(\.number) + $0.opening }
        }

        package func close(_ key: StoreKey, isUnused: Bool) -> Milliseconds? {
            guard let store = openStore(key) else { return nil }
            var due: Milliseconds?
            // NB: where it cannot be asked, it stays noted as open, and the next start looks.
            let isKnown = (try? due = store.nextMoment()) != nil
            store.close()
            // NB: as above; a duty that is not let go ends with this process.
            try? session { connection in
                try store.endDuties(connection)
                guard isKnown else { return }
                try StoreCreation.forgetOpening(of: store.number, by: process, connection)
            }
            state.withLock { state in
                state.open[key] = nil
                state.closed.add(store.measurements)
                state.closedReads.add(store.readMeasurements)
            }
            return due
        }

        package var processes: ServingProcesses { presence.processes }

        package var figures: [EngineFigure] {
            let (open, closed, closedReads) = state.withLock {
                (Array($0.open.values), $0.closed, $0.closedReads)
            }
            return CommitterFigures(open.map(\.measurements) + [closed]).all
                + CommitterFigures(open.map(\.readMeasurements) + [closedReads]).ofReads
                + standbyFigures
        }

        private var standbyFigures: [EngineFigure] {
            guard let counts = standby?.counts else { return [] }
            return [
                EngineFigure(
                    "lenticular_standby_reads_total", "Feeds that the standby has read.",
                    .counter(Double(counts.answered))),
                EngineFigure(
                    "lenticular_standby_reads_passed_on_total",
                    "Feeds that the server has read, since the standby was behind or away.",
                    .counter(Double(counts.passedOn))),
            ]
        }

        package func setDue(_ stores: [KnownStore]) throws { try tables.setDue(stores) }

        package func close() {
            movedLooks.goOn(.never)
            exchange.close()
            // NB: a lease that cannot be ended ends by itself.
            try? session { try presence.end($0) }
        }

        /// Runs a body on a session of its own; each of its steps is given up where the server does not answer in time.
        func session<Value>(_ body: (Connection) throws -> Value) throws -> Value {
            try telling { try body(sessions.server.connect()) }
        }

        /// As `session`, for steps of which each may take long.
        func longSession<Value>(_ body: (Connection) throws -> Value) throws -> Value {
            try session { connection in
                connection.deadline = .distantFuture
                return try body(connection)
            }
        }

        /// Tells of the server's errors as callers know them.
        func telling<Value>(_ body: () throws -> Value) throws -> Value {
            do { return try body() } catch let error as PostgreSQLError { throw error.failure }
        }
    }

    extension PostgreSQLStore: EngineStore {
        package var condition: StoreCondition {
            guard isReachable else { return .unreachable }
            return measurements.isFull ? .full : .well
        }

        /// When the next work that waits is due; nil for none.
        func nextMoment() throws -> Milliseconds? {
            try read { try $0.nextWorkMoment(nil, for: WorkHolder(1)) }
        }
    }
#endif
