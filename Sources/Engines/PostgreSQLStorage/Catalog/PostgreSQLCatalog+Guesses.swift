#if PostgreSQL
    import CatalogSQL
    import Storage

    // All processes on a database count guesses together. One that has to wait is only read, so that a flood of them holds
    // up no write of the catalog.
    extension PostgreSQLCatalog: GuessCounts {
        package func change<Value: Sendable>(
            _ slots: [Int], _ body: (inout [GuessCount]) -> Value
        ) throws -> Value {
            guard !slots.isEmpty else {
                var none: [GuessCount] = []
                return body(&none)
            }
            let (value, isSettled) = try read { connection in
                let counts = try Self.counts(of: slots, connection)
                var changed = counts
                let value = body(&changed)
                return (value, changed == counts)
            }
            if isSettled { return value }
            return try write(endsWhatWasTrue: false) { connection in
                let counts = try Self.counts(of: slots, connection)
                var changed = counts
                let value = body(&changed)
                for (index, slot) in slots.enumerated() where changed[index] != counts[index] {
                    try Self.set(slot, to: changed[index], connection)
                }
                return value
            }
        }

        private static func set(
            _ slot: Int, to count: GuessCount, _ connection: CatalogConnection
        ) throws {
            try connection.run(
                """
                INSERT INTO guess_counts (slot, count, last_at) VALUES (?, ?, ?)
                ON CONFLICT (slot) DO UPDATE
                SET count = excluded.count, last_at = excluded.last_at
                """, .integer(Int64(slot)), .integer(Int64(count.count)), .integer(count.lastAt))
        }

        private static func counts(
            of slots: [Int], _ connection: CatalogConnection
        ) throws -> [GuessCount] {
            let marks = slots.map { _ in "?" }.joined(separator: ", ")
            var counts = [GuessCount](repeating: GuessCount(), count: slots.count)
            let rows = try connection.all(
                "SELECT slot, count, last_at FROM guess_counts WHERE slot IN (\(marks))",
                slots.map { .integer(Int64($0)) }
            ) { row in
                (
                    Int(row.int64(0)),
                    GuessCount(
                        count: UInt32(clamping: row.int64(1)), lastAt: row.int64(2))
                )
            }
            for (slot, count) in rows {
                if let index = slots.firstIndex(of: slot) { counts[index] = count }
            }
            return counts
        }
    }
#endif
