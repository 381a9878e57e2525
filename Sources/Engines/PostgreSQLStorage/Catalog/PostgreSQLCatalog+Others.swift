#if PostgreSQL
    import Background
    import CatalogSQL
    import Dispatch
    import Platform
    import PostgreSQL
    import Storage

    // What one process has changed, the others know before it is acknowledged.
    extension PostgreSQLCatalog {
        package func check(_ lease: LeaderLease, in catalog: CatalogConnection) throws {
            guard let presence = presence.withLock({ $0 }) else { return }
            let isLast = try catalog.first(
                """
                SELECT 1 FROM stores.leases WHERE store = ? AND name = ? AND number = ? FOR SHARE
                """, .integer(StepLease.allStores), .bytes(Array(StepLease.lead.utf8)),
                .integer(lease.number)
            ) { _ in true }
            guard isLast == true else {
                presence.loseLead(lease.number)
                throw StoreLease.Lost()
            }
        }

        /// The pauses between two looks whether the others have come up.
        private static let backoff = Backoff(first: 2, longest: 16)

        /// Waits until every other process has dropped what it kept before a version, or its lease has ended.
        ///
        /// After the time of a lease nobody can have one that was not renewed, and with each renewal goes a look at the
        /// version. So it ends by then, whether the server answers or not.
        func waitForOthers(_ version: Int64) {
            guard let identity = presence.withLock({ $0?.identity }) else { return }
            let end =
                DispatchTime.now() + .milliseconds(Int(LivingProcesses.leaseMilliseconds) + 100)
            var looks = 0
            while DispatchTime.now() < end {
                // NB: a server that does not answer is asked again until the time is over.
                if (try? isSeen(version, by: identity, tells: looks == 0)) == true { return }
                looks += 1
                usleep(UInt32(Self.backoff.milliseconds(after: looks)) * 1_000)
            }
        }

        /// - Parameter tells: whether those who are behind are told to look.
        private func isSeen(_ version: Int64, by identity: [UInt8], tells: Bool) throws -> Bool {
            try readers.with { connection, keep in
                let behind = try LivingProcesses(connection).behind(
                    catalogVersion: version, but: identity)
                if tells, !behind.isEmpty {
                    _ = try connection.run(
                        """
                        SELECT pg_notify('\(CommitAnnouncements.channel)',
                            '\(CommitAnnouncements.catalogMoved)')
                        """)
                }
                keep(connection)
                return behind.isEmpty
            }
        }
    }
#endif
