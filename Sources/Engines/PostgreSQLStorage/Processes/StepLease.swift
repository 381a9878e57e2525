#if PostgreSQL
    import PostgreSQL
    import Storage

    /// The right to a duty in one store, as the database has it.
    ///
    /// It lasts as long as its holder lives (`LivingProcesses`), so nothing renews it by itself. Each time that another
    /// process takes it over, it has a greater number. Every step checks the number in its own transaction: so a
    /// process that was stopped, and wakes up when another has taken over, is refused, whatever its clock says.
    package struct StepLease: Equatable, Sendable {
        package let duty: StoreDuty
        package let number: Int64

        package init(_ duty: StoreDuty, number: Int64) {
            self.duty = duty
            self.number = number
        }

        /// Takes a lease, unless another holder lives; the holder's own stays as it is.
        ///
        /// - Parameter connection: to the tables of stores; in no transaction.
        package static func take(
            _ duty: StoreDuty, of store: Int64, by holder: [UInt8], _ connection: Connection
        ) throws -> StepLease? {
            let rows = try connection.run(
                """
                INSERT INTO leases AS l (store, name, number, holder) VALUES ($1, $2, 1, $3)
                ON CONFLICT (store, name) DO UPDATE SET holder = excluded.holder,
                    number = l.number + (l.holder <> excluded.holder)::int
                WHERE l.holder = excluded.holder OR NOT \(LivingProcesses.lives("l.holder"))
                RETURNING number
                """, .number(store), .text(duty.rawValue), .bytes(holder))
            return rows.count == 1 ? StepLease(duty, number: rows.number(0, 0)) : nil
        }

        /// Fails a step unless the lease is still the last one that was taken; nobody takes it before the step's end.
        ///
        /// One whose holder is taken for dead and that nobody else has taken is good: nobody does these steps meanwhile.
        ///
        /// - Throws: `StoreLease.Lost`.
        package func check(in transaction: any StoreTransaction) throws {
            guard let transaction = transaction as? PostgreSQLTransaction else {
                throw BrokenInvariant("leases of an engine are checked in its own transactions")
            }
            let rows = try transaction.ask(
                "SELECT 1 FROM leases WHERE store = $1 AND name = $2 AND number = $3 FOR SHARE",
                .number(transaction.store), .text(duty.rawValue), .number(number))
            guard rows.count == 1 else { throw StoreLease.Lost() }
        }

        /// Lets go of all that a holder has in a store, so that another process need not wait.
        package static func end(
            of store: Int64, by holder: [UInt8], _ connection: Connection
        ) throws {
            _ = try connection.run(
                "UPDATE leases SET holder = '' WHERE store = $1 AND holder = $2",
                .number(store), .bytes(holder))
        }
    }
#endif
