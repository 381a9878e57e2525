#if PostgreSQL
    import PostgreSQL
    import Storage

    /// The right to a duty in one store, or in all of them, as the database has it.
    ///
    /// It lasts as long as its holder lives (`LivingProcesses`), so nothing renews it by itself. Each time that another
    /// process takes it over, it has a greater number. By how much is random, so a number that a promoted standby has not
    /// heard of is not given out again. Every step checks the number in its own transaction: so a process that was
    /// stopped, and wakes up when another has taken over, is refused, whatever its clock says.
    package struct StepLease: Equatable, Sendable {
        /// Stands for all stores, where a number of one is asked for.
        static let allStores: Int64 = 0
        /// What the eldest process does for all stores.
        static let lead = "lead"

        package let name: String
        package let number: Int64

        package init(_ name: String, number: Int64) {
            self.name = name
            self.number = number
        }

        package static func take(
            _ duty: StoreDuty, of store: Int64, by holder: [UInt8], _ connection: Connection
        ) throws -> StepLease? {
            try take(name(of: duty), of: store, by: holder, for: milliseconds(of: duty), connection)
        }

        private static func name(of duty: StoreDuty) -> String {
            switch duty {
            case .work: "work"
            case .notices: "notices"
            case .outbox: "outbox"
            case .courier(let notice): "courier \(notice.value)"
            }
        }

        /// How long a duty lasts at most; nil for as long as its holder lives.
        static func milliseconds(of duty: StoreDuty) -> Int64? {
            if case .courier = duty { 60_000 } else { nil }
        }

        /// Takes a lease, unless another holder lives and its time is not over; the holder's own stays as it is.
        ///
        /// - Parameter connection: to the tables of stores; in no transaction.
        static func take(
            _ name: String, of store: Int64, by holder: [UInt8], for milliseconds: Int64? = nil,
            _ connection: Connection
        ) throws -> StepLease? {
            let end = milliseconds.map { "\(LivingProcesses.now) + \($0)" } ?? "\(Int64.max)"
            let rows = try connection.run(
                """
                INSERT INTO leases AS l (store, name, number, holder, ends_at)
                VALUES ($1, $2, 1, $3, \(end))
                ON CONFLICT (store, name) DO UPDATE SET holder = excluded.holder,
                    number = l.number
                        + (l.holder <> excluded.holder)::int * (1 + (random() * 1000000)::bigint),
                    ends_at = excluded.ends_at
                WHERE l.holder = excluded.holder OR l.ends_at <= \(LivingProcesses.now)
                    OR NOT \(LivingProcesses.lives("l.holder"))
                RETURNING number
                """, .number(store), .text(name), .bytes(holder))
            return rows.count == 1 ? StepLease(name, number: rows.number(0, 0)) : nil
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
                .number(transaction.store), .text(name), .number(number))
            guard rows.count == 1 else { throw StoreLease.Lost() }
        }

        /// Lets go with the transaction's commit of what is never taken over with a greater number.
        func end(in transaction: any StoreTransaction) throws {
            guard let transaction = transaction as? PostgreSQLTransaction else {
                throw BrokenInvariant("leases of an engine are ended in its own transactions")
            }
            transaction.job.statements.append(
                Query(
                    "DELETE FROM leases WHERE store = $1 AND name = $2 AND number = $3",
                    .number(transaction.store), .text(name), .number(number)))
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
