#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import RequestRecords
    import StoredRows
    import Synchronization

    /// Keeps the lines of requests of all processes in the database, in segments: those of a second of one process
    /// together.
    ///
    /// What a database that is away does not take waits in memory with its callers. A segment whose commit nobody
    /// answered is taken to be in the database, so that no line is there twice.
    package final class PostgreSQLRequests: RequestStorage {
        /// How long after the requests their lines may come, and the clocks of processes may differ.
        private static let delayMilliseconds: Milliseconds = 600_000
        /// How many segments are known at once, and read at once.
        private static let numbersMax = 10_000
        private static let bodiesMax = 16
        /// How many may be stored in one millisecond before numbers run ahead.
        private static let numberBits = 8

        package let storesAllOrNone = true
        private let limits: RequestLimits
        private let session: SchemaSession
        private let cleaning = Mutex(CleaningPace())

        /// Makes the tables the first time.
        ///
        /// - Throws: `MigrationError`, `PostgreSQLError`.
        package init(_ connection: ConnectionOptions, _ limits: RequestLimits) throws {
            self.limits = limits
            session = try SchemaSession(connection, LogsSchema.migrator)
        }

        package var byteCount: Int {
            // NB: a database that is away is asked again with the next figures.
            let rows = try? session.ask(
                Query("SELECT pg_total_relation_size('request_segments'::regclass)"))
            return rows.map { Int($0.number(0, 0)) } ?? 0
        }

        package func append(_ lines: WaitingLines, now: Milliseconds) throws {
            guard lines.count > 0 else { return }
            try removeOld(now)
            let (segment, keys) = SealedSegment.make(of: lines, base: now)
            let insert = Query(
                """
                INSERT INTO request_segments
                SELECT greatest($1, coalesce(max(number), 0) + 1), $2, $3 FROM request_segments
                """, .number(Self.number(at: now)), Self.value(keys), .bytes(segment.bytes))
            try session.write(Self.lock) { _ in [insert] }
        }

        /// Writers wait for one another's commit: who has read a number will not meet a smaller one later.
        private static var lock: Query {
            Query("SELECT pg_advisory_xact_lock($1)", .number(LogsSchema.requestsLock))
        }

        private static func value(_ keys: [UInt64]) -> Value {
            .numbers(keys.map { Int64(bitPattern: $0) })
        }

        /// Segments of earlier moments have smaller numbers.
        private static func number(at time: Milliseconds) -> Int64 {
            max(0, min(time, .max >> numberBits)) << numberBits
        }

        private func removeOld(_ now: Milliseconds) throws {
            guard cleaning.withLock({ $0.isDue(at: now) }) else { return }
            let tooOld = Query(
                "DELETE FROM request_segments WHERE number < $1",
                .number(Self.number(at: limits.oldest(at: now))))
            let tooMany = Query(
                """
                DELETE FROM request_segments WHERE number <= (
                    SELECT number FROM (
                        SELECT number, sum(pg_column_size(body) + pg_column_size(keys))
                            OVER (ORDER BY number DESC) AS bytes FROM request_segments) AS sums
                    WHERE bytes > $1 ORDER BY number DESC LIMIT 1)
                """, .number(Int64(limits.bytesMax)))
            do { try session.write(Self.lock) { _ in [tooOld, tooMany] } } catch {
                // The next lines try it again, and not only those of the next hour.
                cleaning.withLock { $0 = CleaningPace() }
                throw error
            }
        }

        // MARK: - Searching

        package func newest(
            _ filter: RequestFilter, _ body: (RequestLocation, RequestEntry) throws -> Bool
        ) throws {
            var end: Int64? = Self.end(of: filter)
            while let before = end {
                let numbers = try numbers(filter, before: before)
                for start in stride(from: 0, to: numbers.count, by: Self.bodiesMax) {
                    let part = Array(numbers[start..<min(start + Self.bodiesMax, numbers.count)])
                    for (number, segment) in try segments(part)
                    where try !segment.visit(filter, as: UInt64(number), body) { return }
                }
                end = numbers.count < Self.numbersMax ? nil : numbers.last
            }
        }

        /// Segments from this number on have no line that the filter takes.
        private static func end(of filter: RequestFilter) -> Int64 {
            let until = number(at: min(filter.until, .max - delayMilliseconds) + delayMilliseconds)
            guard let before = filter.before else { return until }
            return min(until, Int64(clamping: before.segment) &+ 1)
        }

        /// Segments that may have lines which the filter takes, the newest first; `numbersMax` at most.
        private func numbers(_ filter: RequestFilter, before end: Int64) throws -> [Int64] {
            let start = max(
                Self.number(at: filter.since), filter.after.map { Int64(clamping: $0.segment) } ?? 0
            )
            var values: [Value] = [
                .number(start), .number(end), .number(Int64(Self.numbersMax)),
            ]
            if let keys = filter.keys { values.append(Self.value(keys)) }
            // By itself, so that the index of keys is used whatever is guessed about them.
            let rows = try session.ask(
                Query(
                    """
                    WITH found AS MATERIALIZED (
                        SELECT number FROM request_segments
                        WHERE \(filter.keys == nil ? "" : "keys && $4 AND")
                            number >= $1 AND number < $2
                        \(filter.keys == nil ? "ORDER BY number DESC LIMIT $3" : ""))
                    SELECT number FROM found ORDER BY number DESC LIMIT $3
                    """, values))
            return (0..<rows.count).map { rows.number($0, 0) }
        }

        /// The newest first; those that are gone by now are left out.
        private func segments(_ numbers: [Int64]) throws -> [(Int64, SealedSegment)] {
            let rows = try session.ask(
                Query(
                    """
                    SELECT number, body FROM request_segments WHERE number = ANY ($1)
                    ORDER BY number DESC
                    """, .numbers(numbers)))
            return (0..<rows.count).map {
                (rows.number($0, 0), SealedSegment(Array(rows.bytes($0, 1))))
            }
        }

        // MARK: - Erasing

        package func erase(_ users: Set<String>) throws -> Int {
            let person = try person(users)
            let filter = RequestFilter(person: person)
            var erased = 0
            var end: Int64? = .max
            while let before = end {
                let numbers = try numbers(filter, before: before)
                for number in numbers { erased += try erase(person, from: number) }
                end = numbers.count < Self.numbersMax ? nil : numbers.last
            }
            if erased > 0 { try session.vacuum("request_segments") }
            return erased
        }

        /// Nobody else writes meanwhile: who erases somebody else would put back what this takes out.
        private func erase(_ person: RequestFilter.Person, from number: Int64) throws -> Int {
            var erased = 0
            try session.write(Self.lock) { session in
                erased = 0
                let rows = try session.run(
                    "SELECT body FROM request_segments WHERE number = $1", .number(number))
                guard rows.count == 1,
                    let found = SealedSegment(Array(rows.bytes(0, 0))).lines(without: person)
                else { return [] }
                erased = found.erased
                guard found.others.count > 0 else {
                    return [
                        Query("DELETE FROM request_segments WHERE number = $1", .number(number))
                    ]
                }
                let (fresh, keys) = SealedSegment.make(
                    of: found.others, base: number >> Self.numberBits)
                return [
                    Query(
                        "UPDATE request_segments SET keys = $2, body = $3 WHERE number = $1",
                        .number(number), Self.value(keys), .bytes(fresh.bytes))
                ]
            }
            return erased
        }
    }
#endif
