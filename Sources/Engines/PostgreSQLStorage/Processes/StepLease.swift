#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage

    /// The right to do steps of something in one store, that one process has at a time.
    ///
    /// Each time that somebody takes it, it has a greater number. Every step checks the number in its own transaction,
    /// behind the lock of the store's counter: so a process that was stopped, and wakes up when another has taken over,
    /// is refused, whatever its clock says. How long a lease lasts the server's clock says.
    package struct StepLease: Equatable, Sendable {
        /// Another process has taken over, or nobody has the lease any more.
        package struct Lost: Error, Equatable {
            package init() {}
        }

        /// How long a process may be silent.
        package static let milliseconds: Int64 = 5_000

        /// What is done under it, such as `outbox`.
        package let name: String
        package let number: Int64

        /// Takes the lease, unless another holder's has not ended; also the holder's own, which then is another one.
        package static func take(
            _ name: String, by holder: [UInt8], for milliseconds: Int64 = milliseconds,
            in transaction: any StoreTransaction
        ) throws -> StepLease? {
            let transaction = try postgreSQL(transaction)
            let rows = try transaction.ask(
                """
                INSERT INTO leases AS l (store, name, number, holder, held_until)
                VALUES ($1, $2, 1, $3, \(LivingProcesses.now) + $4)
                ON CONFLICT (store, name) DO UPDATE SET number = l.number + 1,
                    holder = excluded.holder, held_until = excluded.held_until
                WHERE l.holder = excluded.holder OR l.held_until <= \(LivingProcesses.now)
                RETURNING number
                """, .number(transaction.store), .text(name), .bytes(holder),
                .number(milliseconds))
            guard rows.count == 1 else { return nil }
            return StepLease(name: name, number: rows.number(0, 0))
        }

        /// Fails a step unless the lease is still the last one that was taken; renews it.
        ///
        /// A lease whose time has passed and that nobody else has taken is good: nobody does these steps meanwhile.
        ///
        /// - Throws: `Lost`.
        package func check(
            for milliseconds: Int64 = milliseconds, in transaction: any StoreTransaction
        ) throws {
            let transaction = try Self.postgreSQL(transaction)
            let rows = try transaction.ask(
                """
                UPDATE leases SET held_until = \(LivingProcesses.now) + $4
                WHERE store = $1 AND name = $2 AND number = $3 RETURNING 1
                """, .number(transaction.store), .text(name), .number(number),
                .number(milliseconds))
            guard rows.count == 1 else { throw Lost() }
        }

        /// Lets go of the lease, so that another process need not wait for its end.
        package func end(in transaction: any StoreTransaction) throws {
            let transaction = try Self.postgreSQL(transaction)
            _ = try transaction.ask(
                "UPDATE leases SET held_until = 0 WHERE store = $1 AND name = $2 AND number = $3",
                .number(transaction.store), .text(name), .number(number))
        }

        private static func postgreSQL(
            _ transaction: any StoreTransaction
        ) throws -> PostgreSQLTransaction {
            guard let own = transaction as? PostgreSQLTransaction else {
                throw BrokenInvariant("leases of an engine are checked in its own transactions")
            }
            return own
        }
    }
#endif
