#if PostgreSQL
    import PostgreSQL
    import Storage

    /// Sessions of processes that do not live any more, and that still hold something.
    ///
    /// A process that is stopped while it sends a statement holds what its transaction has locked for as long as it
    /// sleeps: to the server the statement is under way, so no limit of an idle transaction ends it. Once its lease has
    /// ended, the eldest process that lives has the server end such sessions, which undoes their transactions. Sessions
    /// that hold nothing stay, for when the process wakes up.
    enum AbandonedSessions {
        /// For how long a process that does not live may hold something.
        ///
        /// One that has just woken up begins transactions a moment before it renews its lease.
        static let heldMillisecondsMax = 1_000

        /// Ends those that have held something for longer; none where the database's role may not.
        ///
        /// Then time-outs of the server and of TCP end them, later.
        ///
        /// - Parameters:
        ///   - own: the process that asks.
        ///   - connection: to the database of a `PostgreSQLCatalog`.
        static func end(but own: [UInt8], _ connection: Connection) throws {
            do {
                // One whose row is gone has ended in order, or has not begun.
                _ = try connection.run(
                    """
                    SELECT pg_terminate_backend(a.pid)
                    FROM catalog.processes p JOIN pg_stat_activity a
                        ON a.application_name = '\(SessionOwner.prefix)' || encode(p.process, 'hex')
                    WHERE p.process <> $1 AND p.lives_until <= \(LivingProcesses.now)
                        AND a.datname = current_database() AND a.usename = current_user
                        AND coalesce(a.xact_start, a.state_change)
                            < clock_timestamp() - interval '\(heldMillisecondsMax) milliseconds'
                        AND (a.xact_start IS NOT NULL OR a.pid IN (
                            SELECT l.pid FROM pg_locks l WHERE l.locktype = 'advisory' AND l.granted))
                    """, .bytes(own))
            } catch let error as PostgreSQLError where error.kind == .refused {
                // What a lease is needed for goes on.
            }
        }
    }
#endif
