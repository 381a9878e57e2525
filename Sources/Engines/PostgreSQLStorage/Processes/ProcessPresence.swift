#if PostgreSQL
    import PostgreSQL
    import Storage
    import Synchronization

    /// This process among those on the database: it renews its lease, and learns who else lives and when any of them has
    /// changed the catalog.
    ///
    /// While its lease is valid, a change of the catalog is acknowledged to nobody before this process has dropped what it
    /// kept (`LivingProcesses.behind`). When it is not, as after the process was stopped for a while, nothing counts that
    /// it has kept.
    final class ProcessPresence: Sendable {
        private struct State {
            var isEnded = false
            /// Of the catalog, as far as this process has dropped what it kept.
            var catalogVersion: Int64 = -1
            /// When it renews its lease.
            var renewsAt: UInt64 = 0
            /// What it has while it does what one process does for all.
            var lead: StepLease?
        }

        /// How long the lease is left alone.
        private static let renewalNanoseconds: UInt64 = 1_000_000_000

        let identity: [UInt8]
        private let version: String
        private let assets: String
        // Held while the database is asked, so that no round comes after the end.
        private let turn = Mutex(State())
        private let known = Mutex(ServingProcesses.sole)
        /// Until when the lease is valid for certain.
        private let leasedUntil = Atomic<UInt64>(0)
        /// The same, as long as the session lasts that looks at the catalog.
        private let validUntil = Atomic<UInt64>(0)
        private let lapses = Atomic<Int>(0)
        private let catalogMoved: @Sendable (Int64) -> Void
        /// All moments here are by this clock.
        private let now: @Sendable () -> UInt64

        /// - Parameters:
        ///   - version: of the program.
        ///   - assets: names where its assets are.
        ///   - now: as `LeaseClock` has it.
        ///   - catalogMoved: drops what was kept of the catalog's versions before one.
        init(
            _ identity: [UInt8], version: String, assets: String,
            now: @escaping @Sendable () -> UInt64,
            catalogMoved: @escaping @Sendable (Int64) -> Void
        ) {
            self.assets = assets
            self.identity = identity
            self.version = version
            self.now = now
            self.catalogMoved = catalogMoved
        }

        /// Whether the others wait for this process; does not block.
        var isCurrent: Bool {
            now() < validUntil.load(ordering: .acquiring)
        }

        /// Moves with each lease that comes after one that had ended: what this process held may be another's by then.
        var epoch: Int { lapses.load(ordering: .acquiring) }

        /// Who lives, as of the last renewal; while the others do not wait for this process, it does nothing for them.
        var processes: ServingProcesses {
            let known = known.withLock { $0 }
            guard !isCurrent else { return known }
            let isLeased = now() < leasedUntil.load(ordering: .acquiring)
            return ServingProcesses(living: known.living, lead: nil, isLeased: isLeased)
        }

        /// Renews the lease when it is time, and looks whether the catalog has moved.
        func round(_ connection: Connection) throws {
            try turn.withLock { state in
                guard !state.isEnded else { return }
                // Before the look: who changes the catalog behind it waits for a lease, counted from then.
                let now = now()
                let hasMoved = try look(connection, &state)
                guard hasMoved || now >= state.renewsAt else { return }
                var own = LivingProcess(
                    identity: identity, version: version, catalogVersion: state.catalogVersion)
                own.assets = assets
                let living = try LivingProcesses(connection).renew(own)
                let hasLapsed = !isCurrent
                let isEldest = living.first?.identity == identity
                // Where its own lease had ended, a database that stood still may have ended all: the others first have
                // the time to renew theirs.
                let takes = isEldest && (!hasLapsed || epoch == 0)
                // Before it takes anything over that they may have locked.
                if takes { try AbandonedSessions.end(but: identity, connection) }
                // Another process may have taken over what this one did for all while it was taken for dead.
                if hasLapsed { state.lead = nil }
                try lead(&state, isEldest: isEldest, takes: takes, hasLapsed, connection)
                let processes = serving(living, state.lead)
                known.withLock { $0 = processes }
                // What was changed while nobody waited for this process; the next round tells of it.
                let movesAgain = try hasLapsed && look(connection, &state)
                if hasLapsed { lapses.add(1, ordering: .releasing) }
                state.renewsAt = movesAgain ? now : now &+ Self.renewalNanoseconds
                let lease = UInt64(LivingProcesses.leaseMilliseconds) * 1_000_000
                leasedUntil.store(now &+ lease, ordering: .releasing)
                validUntil.store(now &+ lease, ordering: .releasing)
            }
        }

        /// Takes what the eldest does for all, and lets it go once an elder process is back.
        private func lead(
            _ state: inout State, isEldest: Bool, takes: Bool, _ hasLapsed: Bool,
            _ connection: Connection
        ) throws {
            let (stores, has) = (StepLease.allStores, state.lead != nil)
            if takes, state.lead == nil {
                state.lead = try StepLease.take(
                    StepLease.lead, of: stores, by: identity, connection)
            } else if !isEldest, has || hasLapsed {
                // One that has lapsed may hold it still, as far as the others know.
                state.lead = nil
                try StepLease.end(of: stores, by: identity, connection)
            }
        }

        /// Takes note that the session has ended that looked at the catalog: nothing counts that this process has kept.
        ///
        /// The next one may be with a server that was promoted and lacks what this process knows, and whose versions say
        /// nothing of that.
        func loseSession() {
            turn.withLock { state in
                state.catalogVersion = -1
                validUntil.store(0, ordering: .releasing)
            }
        }

        /// Takes note that another process has taken over what this one did for all.
        func loseLead(_ number: Int64) {
            turn.withLock { state in
                if state.lead?.number == number { state.lead = nil }
            }
        }

        private func serving(_ living: [LivingProcess], _ lead: StepLease?) -> ServingProcesses {
            let processes = living.map {
                ServingProcess(
                    identity: $0.identity, version: $0.version,
                    begunAt: $0.begunAt, seenAt: $0.seenAt, isOwn: $0.identity == identity)
            }
            return ServingProcesses(
                living: processes, lead: lead.map { LeaderLease(number: $0.number) },
                isLeased: true)
        }

        /// - Returns: whether the catalog has moved since this process has looked last.
        private func look(_ connection: Connection, _ state: inout State) throws -> Bool {
            let rows = try connection.run(
                "SELECT version FROM catalog.catalog_version WHERE id = 0")
            guard rows.count == 1, rows.number(0, 0) != state.catalogVersion else { return false }
            state.catalogVersion = rows.number(0, 0)
            catalogMoved(state.catalogVersion)
            return true
        }

        /// Ends the lease, so that nobody waits for this process; no round comes after it.
        func end(_ connection: Connection) throws {
            try turn.withLock { state in
                state.isEnded = true
                validUntil.store(0, ordering: .releasing)
                try LivingProcesses(connection).end(identity)
            }
        }
    }
#endif
