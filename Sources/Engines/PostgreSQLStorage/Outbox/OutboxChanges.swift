#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    /// What becomes of notices and destinations that the server has not been told, in its order.
    struct OutboxChanges {
        private enum Step {
            case put(NewNotices)
            case run(Query)
        }

        private var steps: [Step] = []

        var isEmpty: Bool { steps.isEmpty }

        /// Puts a notice behind all that wait for its destination.
        mutating func put(_ notice: NewNotice, _ number: NoticeNumber, at moment: Milliseconds) {
            var notices = NewNotices()
            notices.add(NewNotices.Row(number: number, notice: notice, madeAt: moment))
            append(.put(notices))
        }

        mutating func run(_ text: String, _ values: Value...) { run(text, values) }

        mutating func run(_ text: String, _ values: [Value]) {
            steps.append(.run(Query(text, values)))
        }

        mutating func add(_ other: OutboxChanges) { for step in other.steps { append(step) } }

        /// Those that are put one after the other go together.
        private mutating func append(_ step: Step) {
            guard case .put(let more) = step, case .put(var last)? = steps.last else {
                steps.append(step)
                return
            }
            steps.removeLast()
            last.add(more)
            steps.append(.put(last))
        }

        func queries(_ store: Int64) -> [Query] {
            steps.flatMap { step in
                switch step {
                case .put(let notices): notices.queries(store)
                case .run(let query): [query]
                }
            }
        }
    }

    /// Notices that are put into the outbox together.
    private struct NewNotices {
        struct Row {
            let number: NoticeNumber
            let notice: NewNotice
            let madeAt: Milliseconds
        }

        private struct MergeKey: Hashable {
            let destination: DestinationNumber
            let key: [UInt8]
        }

        private var rows: [Row?] = []
        /// Where those are that a later one with the same key replaces.
        private var merged: [MergeKey: Int] = [:]

        mutating func add(_ row: Row) {
            if let key = row.notice.mergeKey {
                let key = MergeKey(destination: row.notice.destination, key: key)
                if let former = merged.updateValue(rows.count, forKey: key) { rows[former] = nil }
            }
            rows.append(row)
        }

        mutating func add(_ others: NewNotices) { for row in others.rows { row.map { add($0) } } }

        func queries(_ store: Int64) -> [Query] {
            let rows = rows.compactMap { $0 }
            let removal = merged.isEmpty ? [] : [removalQuery(store)]
            return removal + [insertQuery(rows, store), dueQuery(rows, store)]
        }

        private func removalQuery(_ store: Int64) -> Query {
            let keys = Array(merged.keys)
            return Query(
                """
                DELETE FROM outbox o USING unnest($2::bigint[], $3::bytea[]) AS n (destination, key)
                WHERE o.store = $1 AND o.destination = n.destination
                    AND sha256(o.merge_key) = sha256(n.key) AND o.merge_key IS NOT NULL
                """, .number(store), .numbers(keys.map(\.destination.value)),
                .byteStrings(keys.map(\.key)))
        }

        private func insertQuery(_ rows: [Row], _ store: Int64) -> Query {
            let notices = rows.map(\.notice)
            return Query(
                """
                INSERT INTO outbox (store, notice, destination, identifier, scope, zone,
                    record_type, is_own, merge_key, collapse_id, payload, made_at, trace)
                SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[],
                    $6::bigint[], $7::bigint[], $8::bigint[], $9::bytea[], $10::bytea[],
                    $11::bytea[], $12::bigint[], $13::bytea[])
                """, .number(store), .numbers(rows.map(\.number.value)),
                .numbers(notices.map(\.destination.value)), .texts(notices.map(\.identifier)),
                .numbers(notices.map(\.scope.stored)),
                .numbers(notices.map(\.condition.zone?.value)),
                .numbers(notices.map(\.condition.type)),
                .numbers(notices.map { $0.condition.isOwn ? 1 : 0 }),
                .byteStrings(notices.map(\.mergeKey)),
                .byteStrings(notices.map { $0.collapseID.map { Array($0.utf8) } }),
                .byteStrings(notices.map(\.payload)), .numbers(rows.map(\.madeAt)),
                .byteStrings(notices.map { $0.trace.map { Array($0.utf8) } }))
        }

        /// Has a sender try the destinations that do not wait for their turn already; a courier fetches for itself.
        private func dueQuery(_ rows: [Row], _ store: Int64) -> Query {
            let moments = Dictionary(
                rows.map { ($0.notice.destination.value, $0.madeAt) }, uniquingKeysWith: min)
            return Query(
                """
                UPDATE destinations d SET due_at = n.moment
                FROM unnest($2::bigint[], $3::bigint[]) AS n (destination, moment)
                WHERE d.store = $1 AND d.destination = n.destination AND d.due_at IS NULL
                    AND d.kind <> \(DestinationKind.courier.rawValue)
                """, .number(store), .numbers(Array(moments.keys)),
                .numbers(Array(moments.values)))
        }
    }
#endif
