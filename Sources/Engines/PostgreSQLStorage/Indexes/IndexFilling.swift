#if PostgreSQL
    import CloudModel
    import IndexedQueries
    import PostgreSQL
    import Storage
    import StoredRows

    extension Maintenance {
        /// Fills and empties indexes.
        ///
        /// Somebody waits for an index that is made, and each step costs them a commit: so the first one is large.
        static let index = Maintenance("index", isBeside: false, step: 64...4_096, firstStep: 512)
    }

    extension PostgreSQLSnapshot {
        static let workNumbers = WorkNumbers([(3, .index)])
    }

    /// Fills indexes and empties them, by bounded steps in transactions between other writes.
    ///
    /// An index is filled in the order of record numbers. Writes keep up what it holds of the records that the work has
    /// passed; the others are left to it.
    struct IndexFilling {
        let transaction: PostgreSQLTransaction
        let recordsMax: Int

        private var store: Value { .number(transaction.store) }
        private var rows: Value { .number(Int64(recordsMax)) }

        /// Does one step.
        ///
        /// - Returns: whether there is more.
        func step() throws -> Bool {
            let all = try transaction.indexes().all
            let filling = all.filter { $0.state == .filling }
            if let first = filling.map(\.filledThrough.value).min() {
                // Those that have come as far go on together; the others join them where they stand.
                let further = filling.map(\.filledThrough.value).filter { $0 > first }.min()
                try fill(filling.filter { $0.filledThrough.value == first }, through: further)
            } else if let leaving = all.first(where: { $0.state == .leaving }) {
                try empty(leaving)
            }
            return try transaction.indexes().hasWork
        }

        private static let endText = """
            SELECT count(*), max(record) FROM (
                SELECT record FROM records WHERE store = $1 AND record > $2 AND record <= $3
                ORDER BY record LIMIT $4) AS n
            """
        private static let versionsText = """
            SELECT * FROM (
                SELECT \(VersionColumns.text), sum(octet_length(r.body)) OVER (
                    ORDER BY r.record ROWS UNBOUNDED PRECEDING) - octet_length(r.body) AS before
                FROM records r JOIN zones z ON z.store = $1 AND z.zone = r.zone
                    AND z.deleted_at IS NULL
                WHERE r.store = $1 AND r.record > $2 AND r.record <= (
                        SELECT max(record) FROM (
                            SELECT record FROM records
                            WHERE store = $1 AND record > $2 AND record <= $3
                            ORDER BY record LIMIT $4) AS n)
                    AND r.type = ANY ($5) AND r.deleted_at IS NULL
                ORDER BY r.record) AS page
            WHERE before < $6
            """

        private func fill(_ indexes: [StoredIndex], through end: Int64?) throws {
            guard let from = indexes.first?.filledThrough else { return }
            let range: [Value] = [store, .number(from.value), .number(end ?? .max), rows]
            let types = Set(indexes.map(\.type))
            let answers = try transaction.ask([
                Query(Self.endText, range),
                Query(
                    Self.versionsText,
                    range + [.numbers(Array(types)), .number(VersionColumns.pageBytesMax)]),
            ])
            let (found, versions) = (answers[0], answers[1])
            var bytes: Int64 = 0
            for row in 0..<versions.count {
                bytes += Int64(versions.bytes(row, VersionColumns.count - 1).count)
                try VersionColumns.visit(versions, row) { zone, version in
                    // No query shows what is damaged.
                    guard !version.isDamaged else { return }
                    let fields = try version.storedFields()
                    for index in indexes where index.type == version.type {
                        for entry in EntryRow.all(of: fields, index, version.record, in: zone) {
                            transaction.job.entries.updateValue(true, forKey: entry)
                        }
                    }
                }
            }
            let isCut = bytes >= VersionColumns.pageBytesMax
            let last = isCut ? versions.number(versions.count - 1, 0) : found.number(0, 1)
            let isDone = !isCut && found.number(0, 0) < Int64(recordsMax)
            for var index in indexes {
                index.filledThrough = RecordNumber(isDone ? end ?? max(last, from.value) : last)
                if isDone, end == nil {
                    index.state = .whole
                    transaction.job.moved.insert(.indexes)
                }
                try transaction.set(index)
            }
        }

        /// Takes at most so many rows out of each table.
        ///
        /// - Parameter condition: of these rows, behind those of the first two values.
        private func clear(_ values: [Value], where condition: String = "true") throws -> Int {
            try transaction.ask(
                [("index_values", "value"), ("index_words", "word"), ("index_locations", "cell")]
                    .map { Query(Self.clear($0, $1, condition), values) }
            ).reduce(0) { $0 + $1.changeCount }
        }

        private static func clear(
            _ table: String, _ key: String, _ condition: String
        ) -> String {
            """
            DELETE FROM \(table) e USING (
                SELECT index, zone, \(key), record FROM \(table)
                WHERE store = $1 AND index = ANY ($2) AND \(condition) LIMIT $3) AS n
            WHERE e.store = $1 AND e.index = n.index AND e.zone = n.zone AND e.\(key) = n.\(key)
                AND e.record = n.record
            """
        }

        private func empty(_ index: StoredIndex) throws {
            let values: [Value] = [store, .numbers([index.number, -index.number]), rows]
            if try clear(values) == 0 { try transaction.remove(index) }
        }

        /// Takes some of a deleted zone's records out of all indexes.
        ///
        /// - Returns: how many rows that were.
        func clear(_ zone: ZoneNumber) throws -> Int {
            let numbers = try transaction.indexes().all.flatMap { [$0.number, -$0.number] }
            guard !numbers.isEmpty else { return 0 }
            let values: [Value] = [store, .numbers(numbers), rows, .number(zone.value)]
            return try clear(values, where: "zone = $4")
        }
    }
#endif
