#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage

    // What a write does with what waits to be told.
    extension PostgreSQLTransaction {
        /// Tells senders in any case: whether one waits for its turn already only the server knows.
        func enqueue(_ notice: NewNotice, countedMax: Int) throws -> Int {
            job.outbox.put(notice, NoticeNumber(try group.take(\.notice)), at: now)
            job.moved.formUnion([.destination(notice.destination), .senders])
            guard countedMax > 0 else { return 0 }
            let rows = try ask(
                """
                SELECT count(*) FROM (
                    SELECT 1 FROM outbox WHERE store = $1 AND destination = $2 LIMIT $3) AS counted
                """, .number(store), .number(notice.destination.value),
                .number(Int64(countedMax)))
            return Int(rows.number(0, 0))
        }

        func removeNotices(_ selection: NoticeSelection) throws {
            switch selection {
            case .waiting(let numbers): delete(numbers, from: "outbox")
            case .waitingFor(let destination, let number):
                job.outbox.run(
                    "DELETE FROM outbox WHERE store = $1 AND destination = $2 AND notice <= $3",
                    .number(store), .number(destination.value), .number(number.value))
            case .all(let numbers):
                delete(numbers, from: "outbox")
                delete(numbers, from: "dead_letters")
            }
        }

        private func delete(_ numbers: [NoticeNumber], from table: String) {
            job.outbox.run(
                "DELETE FROM \(table) WHERE store = $1 AND notice = ANY ($2)", .number(store),
                .numbers(numbers.map(\.value)))
        }

        func giveUp(_ number: NoticeNumber, reason: String, keptMax: Int) throws {
            let columns = Self.noticeColumns
            job.outbox.run(
                """
                INSERT INTO dead_letters (store, \(columns), reason, died_at)
                SELECT store, \(columns), $3, $4 FROM outbox WHERE store = $1 AND notice = $2
                ON CONFLICT (store, notice) DO NOTHING
                """, .number(store), .number(number.value), .text(reason), .number(now))
            job.outbox.run(
                """
                DELETE FROM dead_letters d USING dead_letters given
                WHERE given.store = $1 AND given.notice = $2 AND d.store = $1
                    AND d.destination = given.destination AND d.notice <= (
                        SELECT notice FROM dead_letters k
                        WHERE k.store = $1 AND k.destination = given.destination
                        ORDER BY notice DESC LIMIT 1 OFFSET $3)
                """, .number(store), .number(number.value), .number(Int64(keptMax)))
            delete([number], from: "outbox")
        }

        func replayDeadLetters(of destination: DestinationNumber, limit: Int) throws -> Int {
            let letters = try notices(.dead(destination), after: NoticeNumber(0), limit: limit)
            for letter in letters {
                _ = try enqueue(
                    NewNotice(
                        destination: destination, identifier: letter.identifier,
                        scope: letter.scope, condition: letter.condition,
                        collapseID: letter.collapseID, payload: letter.payload,
                        trace: letter.trace), countedMax: 0)
            }
            delete(letters.map(\.number), from: "dead_letters")
            return letters.count
        }
    }

    // What a write does with destinations.
    extension PostgreSQLTransaction {
        func register(_ destination: NewDestination) throws -> DestinationNumber {
            defer { group.moveSubscriptions() }
            let values: [Value] = [
                .text(destination.user?.text ?? ""), .text(destination.device ?? ""),
                .bytes(destination.address), .bytes(destination.session), .number(now),
            ]
            guard let known = try self.destination(destination.kind, key: destination.key) else {
                let number = DestinationNumber(try group.take(\.destination))
                job.outbox.insert(number, destination, values, store)
                return number
            }
            if known.user != destination.user {
                try removeNotices(.waitingFor(known.number, through: NoticeNumber(.max)))
            }
            job.outbox.renew(known.number, values, store)
            return known.number
        }

        func change(_ destination: DestinationNumber, by change: DestinationChange) throws {
            if change.wakesWaiting { job.moved.insert(.destination(destination)) }
            let number = Value.number(destination.value)
            if change.isUsed {
                job.outbox.run(
                    "UPDATE destinations SET used_at = $3 WHERE store = $1 AND destination = $2",
                    .number(store), number, .number(now))
            }
            if let badge = change.badge {
                job.outbox.run(
                    "UPDATE destinations SET badge = $3 WHERE store = $1 AND destination = $2",
                    .number(store), number, .number(badge))
            }
            if let attempt = change.attempt {
                job.outbox.run(
                    """
                    UPDATE destinations SET
                        failures = CASE WHEN $3 = 1 THEN failures + 1 ELSE 0 END,
                        due_at = CASE WHEN EXISTS (
                            SELECT 1 FROM outbox WHERE store = $1 AND destination = $2)
                            THEN $4 END
                    WHERE store = $1 AND destination = $2
                    """, .number(store), number, .number(attempt.isFailure ? 1 : 0),
                    .number(attempt.next))
            }
        }

        func removeDestinations(_ keys: DestinationKeys) throws -> Int {
            let found = try destinations(keys).map(\.number)
            guard !found.isEmpty else { return 0 }
            for table in ["outbox", "dead_letters", "destinations"] {
                job.outbox.run(
                    "DELETE FROM \(table) WHERE store = $1 AND destination = ANY ($2)",
                    .number(store), .numbers(found.map(\.value)))
            }
            for number in found { job.moved.insert(.destination(number)) }
            group.moveSubscriptions()
            return found.count
        }
    }

    extension OutboxChanges {
        /// - Parameter values: user, device, address, session and moment.
        fileprivate mutating func insert(
            _ number: DestinationNumber, _ destination: NewDestination, _ values: [Value],
            _ store: Int64
        ) {
            run(
                """
                INSERT INTO destinations (store, destination, kind, key, user_record_name, device,
                    address, session, made_at, used_at)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
                """,
                [
                    .number(store), .number(number.value), .number(destination.kind.rawValue),
                    .bytes(destination.key),
                ] + values)
        }

        fileprivate mutating func renew(
            _ number: DestinationNumber, _ values: [Value], _ store: Int64
        ) {
            run(
                """
                UPDATE destinations SET user_record_name = $3, device = $4, address = $5,
                    session = $6, used_at = $7, badge = 0, failures = 0,
                    due_at = CASE WHEN due_at IS NOT NULL THEN $7 END
                WHERE store = $1 AND destination = $2
                """, [.number(store), .number(number.value)] + values)
        }
    }
#endif
