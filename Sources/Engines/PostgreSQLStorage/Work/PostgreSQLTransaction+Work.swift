#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    // The queue of work.
    extension PostgreSQLTransaction {
        /// The longest that work may be postponed or held.
        private static let delayMillisecondsMax: Milliseconds = 3_600_000

        func enqueue(_ task: WorkTask, concerning children: MovedChildren?) throws {
            let kind = try Self.workNumbers.number(of: task)
            if case .cover(let record, _) = task, let children { mark(children, of: record) }
            let row = WorkRow(task)
            if case .cover(_, let zone) = task {
                job.trees.insert(zone)
                group.known.shares.forgetWork()
            }
            job.statements.append(
                Query(
                    """
                    INSERT INTO work (store, work, kind, subject, item, name)
                    VALUES ($1, $2, $3, $4, $5, $6)
                    ON CONFLICT (store, kind, subject, item, name) DO UPDATE SET cursor = 0
                    """, .number(store), .number(try group.take(\.work)), .number(kind),
                    .number(row.subject), .number(row.item), .text(row.name)))
            job.moved.insert(.work)
        }

        func takeWork(
            _ turn: inout WorkTurn, heldUntil moment: Milliseconds?
        ) throws -> StoredWork? {
            let holder = turn.holder
            // All that it may ask at once: others wait for the counter meanwhile.
            var (look, questions) = (turn, [Query]())
            Self.workNumbers.next(&look) {
                questions.append(question($0, afterSubject: $1, holder))
                return nil
            }
            var answers = try ask(questions).makeIterator()
            let work = try Self.workNumbers.next(&turn) { number, _ in
                try answers.next().flatMap { try Self.found(number, $0) }
            }
            if let moment, let work { hold(work, by: holder, until: moment) }
            return work
        }

        // Nothing is due later, or held longer, than what follows from now: a clock that was set back must not hold
        // work up.
        private static let takeText = """
            SELECT work, subject, item, name, cursor, failures FROM work w
            WHERE store = $1 AND kind = $2 AND subject > $3
                AND (due_at <= $4 OR due_at > $4 + \(delayMillisecondsMax))
                AND NOT EXISTS (
                    SELECT 1 FROM work h WHERE h.store = $1 AND h.kind = w.kind
                        AND h.subject = w.subject AND h.holder <> $5 AND h.held_until > $4
                        AND h.held_until <= $4 + \(delayMillisecondsMax))
            ORDER BY subject, work LIMIT 1
            """

        private func question(
            _ number: Int64, afterSubject last: Int64, _ holder: WorkHolder
        ) -> Query {
            Query(
                Self.takeText, .number(store), .number(number), .number(last), .number(now),
                .number(holder.value))
        }

        private static func found(
            _ number: Int64, _ rows: Rows
        ) throws -> (subject: Int64, StoredWork)? {
            guard rows.count == 1 else { return nil }
            let row = WorkRow(
                subject: rows.number(0, 1), item: rows.number(0, 2), name: rows.text(0, 3))
            return (
                row.subject,
                StoredWork(
                    number: WorkNumber(rows.number(0, 0)),
                    task: try workNumbers.task(number, row), cursor: rows.number(0, 4),
                    failures: Int(rows.number(0, 5)))
            )
        }

        private func hold(
            _ work: StoredWork, by holder: WorkHolder, until moment: Milliseconds
        ) {
            // Else two would do the same work at once.
            job.statements.append(
                .requiring(
                    1,
                    """
                    UPDATE work SET holder = $3, held_until = $5
                    WHERE store = $1 AND work = $2
                        AND (holder IS NULL OR holder = $3
                            OR NOT (held_until > $4
                                AND held_until <= $4 + \(Self.delayMillisecondsMax)))
                    """, .number(store), .number(work.number.value), .number(holder.value),
                    .number(now), .number(min(moment, now + Self.delayMillisecondsMax))))
        }

        func leave(_ work: StoredWork, _ rest: WorkRemainder?) throws {
            if case .cover(_, in: let zone) = work.task, rest == nil || rest?.cursor != nil {
                // A step that covers records by shares moves what their viewers are shown.
                job.moved.insert(.zone(zone))
            }
            guard let rest else {
                if case .cover(let record, _) = work.task { endCoverageWork(record) }
                job.statements.append(
                    Query(
                        "DELETE FROM work WHERE store = $1 AND work = $2", .number(store),
                        .number(work.number.value)))
                return
            }
            job.statements.append(
                Query(
                    """
                    UPDATE work SET cursor = coalesce($3, cursor), due_at = coalesce($4, due_at),
                        failures = CASE WHEN $5 = 1 THEN failures + 1 ELSE 0 END, holder = NULL,
                        held_until = NULL
                    WHERE store = $1 AND work = $2
                    """, .number(store), .number(work.number.value), .number(rest.cursor),
                    .number(rest.due.map { min($0, now + Self.delayMillisecondsMax) }),
                    .number(rest.isFailure ? 1 : 0)))
        }

        func maintain(_ maintenance: Maintenance, step: Int) throws -> Bool {
            guard maintenance == .index else {
                throw BrokenInvariant("the engine leaves itself no work: \(maintenance.name)")
            }
            return try IndexFilling(transaction: self, recordsMax: step).step()
        }
    }
#endif
