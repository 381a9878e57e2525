#if PostgreSQL
    import CPostgreSQL
    import Dispatch
    import Platform

    /// One session with a server; used by one thread at a time.
    ///
    /// It is always in pipeline mode: queries go out together, and their answers are read together. Outside of a
    /// transaction, the queries of one call are one. What fails ends the call; what comes behind it is not done.
    package final class Connection {
        let handle: OpaquePointer
        private let cancellation: Cancellation
        let warnings: Warnings
        /// How long an answer may take, and as long again once the server was asked to stop.
        package var answerMillisecondsMax: Int
        /// What each prepared text is called.
        private var prepared: [String: String] = [:]
        private var preparedCount = 0
        /// Calls whose answers nobody has read yet.
        private var unread: [Call] = []
        /// How many times this side has waited for the server.
        package private(set) var roundTrips = 0
        /// When queries are stopped, by the monotonic clock; nil for `answerMillisecondsMax` after each began.
        package var deadline: DispatchTime?
        /// Which server it is, once that was asked.
        var knownNode: Node?

        /// What was sent together, up to a synchronization.
        private struct Call {
            var steps: [Step] = []
            /// Whether the next call fails with what this one failed with.
            var isAhead = false
        }

        private enum Step {
            case prepare(String)
            case run
        }

        /// Counts what the server warns of.
        final class Warnings {
            var count = 0
            var last = ""
        }

        /// Connects and begins the session; blocks.
        ///
        /// - Throws: `PostgreSQLError`, mostly of the kind `lost` or `unavailable`.
        package init(_ options: ConnectionOptions) throws {
            let made = Self.connect(options)
            guard let made, PQstatus(made) == CONNECTION_OK else {
                let error = PostgreSQLError(lost: made)
                PQfinish(made)
                throw error
            }
            handle = made
            cancellation = Cancellation(made)
            warnings = Warnings()
            answerMillisecondsMax = options.answerMillisecondsMax
            PQsetNoticeReceiver(
                made,
                { context, result in
                    guard let context, let result else { return }
                    let warnings = Unmanaged<Warnings>.fromOpaque(context).takeUnretainedValue()
                    let error = PostgreSQLError(of: result)
                    guard !error.state.hasPrefix("00") else { return }
                    warnings.count += 1
                    warnings.last = error.description
                }, Unmanaged.passUnretained(warnings).toOpaque())
            guard PQsetnonblocking(made, 1) == 0, PQenterPipelineMode(made) == 1 else {
                throw PostgreSQLError(lost: made)
            }
            let limits = NetworkLimits(answerMillisecondsMax: options.answerMillisecondsMax)
            let rows = try run(
                [limits.setting, Query("SELECT pg_is_in_recovery()::int")]
                    + options.settings.map { Query($0) })
            // An address that follows the primary may lead to the one before.
            guard options.takesStandby || rows[1].number(0, 0) == 0 else {
                throw PostgreSQLError(
                    kind: .readOnly, state: "", message: "the server is a standby",
                    endsSession: true)
            }
        }

        private static func connect(_ options: ConnectionOptions) -> OpaquePointer? {
            // The later counts.
            let limits = NetworkLimits(answerMillisecondsMax: options.answerMillisecondsMax)
            var pairs = limits.words.merging(options.defaults) { $1 }
                .map { ($0.key, $0.value) }
            pairs += [
                ("dbname", options.address), ("application_name", options.name),
                ("connect_timeout", "\(options.connectSecondsMax)"), ("client_encoding", "UTF8"),
            ]
            if !options.password.isEmpty { pairs.append(("password", options.password)) }
            let keys = pairs.map { strdup($0.0) }
            let values = pairs.map { strdup($0.1) }
            defer { for text in keys + values { free(text) } }
            return PQconnectdbParams(
                keys.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil],
                1)
        }

        deinit {
            PQfinish(handle)
        }

        /// Whether the connection is gone.
        package var isLost: Bool { PQstatus(handle) != CONNECTION_OK }

        /// The version of its server, as `server_version_num` has it; 0 where the connection is gone.
        package var serverNumber: Int { Int(PQserverVersion(handle)) }

        /// Whether a transaction is open, be it in order or not.
        package var isInTransaction: Bool {
            let status = PQtransactionStatus(handle)
            return status == PQTRANS_INTRANS || status == PQTRANS_INERROR
        }

        /// Whether a transaction is open in which something has failed: only its end can follow.
        package var hasFailed: Bool { PQtransactionStatus(handle) == PQTRANS_INERROR }

        // MARK: - Queries

        /// Sends queries together and reads their answers: one round trip.
        ///
        /// - Throws: `PostgreSQLError` of the first that failed.
        package func run(_ queries: [Query]) throws -> [Rows] {
            guard !queries.isEmpty else { return [] }
            try send(queries)
            return try receive()
        }

        /// As above, for one query.
        package func run(_ text: String, _ values: Value...) throws -> Rows {
            guard let rows = try run([Query(text, values)]).last else {
                throw PostgreSQLError(lost: handle)
            }
            return rows
        }

        /// Sends queries whose answers nobody waits for; the next call reads them first.
        ///
        /// For what cannot fail in a way that anybody would act on, such as the end of a read.
        package func runLater(_ queries: [Query]) throws {
            try send(queries)
            // Mostly the socket takes it at once; else the next call sends the rest.
            guard PQflush(handle) >= 0 else { throw PostgreSQLError(lost: handle) }
        }

        /// Sends queries of a transaction that goes on; the next call reads their answers first, and fails with what
        /// they failed with.
        ///
        /// So the server works on them while this side does something else.
        package func sendAhead(_ queries: [Query]) throws {
            try send(queries)
            unread[unread.count - 1].isAhead = true
            // What the socket does not take the next call sends.
            guard PQflush(handle) >= 0 else { throw PostgreSQLError(lost: handle) }
        }

        /// Sends queries, and a commit of the transaction right behind them; one round trip.
        package func commit(after queries: [Query]) -> CommitEnd {
            guard !isLost else { return .undone(PostgreSQLError(lost: handle)) }
            let warned = warnings.count
            do {
                try send(queries + [Query("COMMIT")])
                let rows = try receive()
                guard rows.last?.command == "COMMIT" else {
                    return .undone(
                        PostgreSQLError(
                            kind: .other, state: "25P02", message: "the transaction had failed",
                            endsSession: false))
                }
                guard warnings.count == warned else {
                    // Such as of a standby that was not waited for any longer: it may not have it.
                    return .indeterminate(
                        PostgreSQLError(
                            kind: .cancelled, state: "", message: warnings.last,
                            endsSession: false))
                }
                return .committed(Array(rows.dropLast()))
            } catch let error as PostgreSQLError {
                return error.endsSession || isLost ? .indeterminate(error) : .undone(error)
            } catch {
                return .indeterminate(PostgreSQLError(lost: handle))
            }
        }

        /// Runs statements that make tables, separated by semicolons; blocks however long they take.
        ///
        /// - Throws: `PostgreSQLError`.
        package func run(script: String) throws {
            // Several statements in one text go beside the pipeline only.
            try leavePipeline()
            let result = PQexec(handle, script)
            defer { PQclear(result) }
            guard let result, !isLost else { throw PostgreSQLError(lost: handle) }
            try enterPipeline()
            guard PQresultStatus(result) != PGRES_FATAL_ERROR else {
                throw PostgreSQLError(of: result)
            }
        }

        /// For what goes beside the pipeline.
        func leavePipeline() throws {
            if !unread.isEmpty { _ = try receive() }
            guard PQexitPipelineMode(handle) == 1 else { throw PostgreSQLError(lost: handle) }
            roundTrips += 1
        }

        func enterPipeline() throws {
            guard PQenterPipelineMode(handle) == 1 else { throw PostgreSQLError(lost: handle) }
        }

        /// Undoes the transaction, if one is open.
        package func rollBack() throws {
            guard isInTransaction else { return }
            _ = try run([Query("ROLLBACK")])
        }

        /// Waits for what other sessions notify this one of, at most until a moment; empty when nothing has come by then.
        package func notifications(until limit: DispatchTime) throws -> [String] {
            guard unread.isEmpty else { throw PostgreSQLError(lost: handle) }
            while true {
                guard PQconsumeInput(handle) == 1, !isLost else {
                    throw PostgreSQLError(lost: handle)
                }
                var payloads: [String] = []
                while let found = PQnotifies(handle) {
                    payloads.append(String(cString: found.pointee.extra))
                    PQfreemem(found)
                }
                let now = DispatchTime.now()
                guard payloads.isEmpty, now < limit else { return payloads }
                var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
                let left = (limit.uptimeNanoseconds &- now.uptimeNanoseconds) / 1_000_000 + 1
                _ = poll(&descriptor, 1, Int32(clamping: left))
            }
        }

        // MARK: - Sending

        private func send(_ queries: [Query]) throws {
            guard !isLost else { throw PostgreSQLError(lost: handle) }
            var call = Call()
            for query in queries { try send(query, &call) }
            guard PQpipelineSync(handle) == 1 else { throw PostgreSQLError(lost: handle) }
            unread.append(call)
        }

        private func send(_ query: Query, _ call: inout Call) throws {
            let name: String
            if let known = prepared[query.text] {
                name = known
            } else {
                preparedCount += 1
                name = "s\(preparedCount)"
                let types = query.values.map { Oid($0.type) }
                guard PQsendPrepare(handle, name, query.text, Int32(types.count), types) == 1
                else { throw PostgreSQLError(lost: handle) }
                prepared[query.text] = name
                call.steps.append(.prepare(query.text))
            }
            guard sendRun(name, query.values) else { throw PostgreSQLError(lost: handle) }
            call.steps.append(.run)
        }

        private func sendRun(_ name: String, _ values: [Value]) -> Bool {
            var buffer: [UInt8] = []
            var ends: [Int] = []
            for value in values {
                value.append(to: &buffer)
                ends.append(buffer.count)
            }
            // Something to point to, also for a value without bytes.
            buffer.append(0)
            return buffer.withUnsafeBytes { bytes in
                var pointers: [UnsafePointer<CChar>?] = []
                var lengths: [Int32] = []
                var start = 0
                for (value, end) in zip(values, ends) {
                    let pointer = bytes.baseAddress.map {
                        ($0 + start).assumingMemoryBound(to: CChar.self)
                    }
                    pointers.append(value.isNull ? nil : pointer)
                    lengths.append(Int32(clamping: end - start))
                    start = end
                }
                let formats = [Int32](repeating: 1, count: values.count)
                return PQsendQueryPrepared(
                    handle, name, Int32(values.count), pointers, lengths, formats, 1) == 1
            }
        }

        // MARK: - Receiving

        /// Reads the answers of all that was sent; those of the last call are returned.
        private func receive() throws -> [Rows] {
            roundTrips += 1
            let limit =
                deadline ?? .now() + .milliseconds(answerMillisecondsMax)
            var wait = AnswerWait(
                handle, until: limit, grace: .milliseconds(answerMillisecondsMax),
                cancellation)
            defer { wait.settle() }
            do {
                try wait.flush()
                var rows: [Rows] = []
                var ahead: (any Error)?
                while let call = unread.first {
                    unread.removeFirst()
                    let isLast = unread.isEmpty
                    let outcome = Result { try read(call, &wait) }
                    if case .failure(let error) = outcome, call.isAhead { ahead = ahead ?? error }
                    // What any other earlier call failed with, nobody waited for.
                    if isLast, ahead == nil {
                        rows = try outcome.get()
                    } else if isLost {
                        _ = try outcome.get()
                    }
                }
                if let ahead { throw ahead }
                return rows
            } catch {
                if isLost { unread = [] }
                throw error
            }
        }

        /// Reads one call's answers up to its synchronization.
        private func read(_ call: Call, _ wait: inout AnswerWait) throws -> [Rows] {
            var rows: [Rows] = []
            var failure: PostgreSQLError?
            for step in call.steps {
                guard let result = try wait.next() else { throw PostgreSQLError(lost: handle) }
                switch PQresultStatus(result) {
                case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
                    let answer = Rows(result)
                    if case .run = step { rows.append(answer) }
                case PGRES_PIPELINE_ABORTED:
                    PQclear(result)
                    forget(step)
                default:
                    let error = PostgreSQLError(of: result)
                    failure = failure ?? error
                    PQclear(result)
                    forget(step)
                    if isLost { throw error }
                }
                // Behind each answer there is a gap.
                if let more = try wait.next() { PQclear(more) }
            }
            while let result = try wait.next() {
                let status = PQresultStatus(result)
                PQclear(result)
                if status == PGRES_PIPELINE_SYNC { break }
                if isLost { throw failure ?? PostgreSQLError(lost: handle) }
            }
            if let failure { throw failure }
            return rows
        }

        /// What was not prepared is prepared when it is wanted again.
        private func forget(_ step: Step) {
            if case .prepare(let text) = step { prepared[text] = nil }
        }
    }

    /// How a transaction ended whose commit was sent.
    package enum CommitEnd {
        case committed([Rows])
        /// Nothing of it is in the database, nor will be.
        case undone(PostgreSQLError)
        /// Nobody knows: only the database can tell, once it can be asked.
        case indeterminate(PostgreSQLError)
    }
#endif
