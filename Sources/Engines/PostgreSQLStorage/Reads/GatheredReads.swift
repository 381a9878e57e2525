#if PostgreSQL
    import CloudModel
    import Dispatch
    import GroupCommit
    import PostgreSQL
    import Storage

    /// Has short reads of a store that have said what they will ask for see one moment together.
    ///
    /// A group of them is one transaction, whose questions take one round trip. What comes while a group is read waits
    /// for the next one, so nobody sees a moment from before they came. A read that comes alone waits for nobody.
    final class GatheredReads: Sendable {
        private let groups: GroupCommitter
        // Touched on the committer's queue only, and in `init` before anybody else can.
        private nonisolated(unsafe) let engine: ReadGroups

        /// - Parameter secondsMax: how long a group may take.
        init(_ store: Int64, _ facts: StoreFacts, _ readers: ConnectionPool, secondsMax: Int) {
            var options = GroupOptions()
            // What a group has waited for, all of it gets.
            options.millisecondsMax = secondsMax * 1_000
            options.operationsMax = ReadGroups.recordsMax
            engine = ReadGroups(store, facts, readers, secondsMax: secondsMax)
            groups = GroupCommitter(engine, options: options, onIndeterminate: { _ in })
        }

        /// How many groups have been read, and how many reads they were.
        var measurements: GroupMeasurements { groups.measurements }

        /// - Parameters: as of `Store.readTogether`.
        func read<Value: Sendable>(
            _ needs: StoreNeeds, by caller: StoreCaller,
            _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value,
            completion: @escaping @Sendable (Result<Value, any Error>) -> Void
        ) {
            let need = ForeseenRead(needs)
            groups.submit(
                cost: max(1, needs.records.count), caller: caller.value, needs: need
            ) { [self] in
                try body(engine.snapshot(need))
            } completion: {
                completion($0)
            }
        }

        /// Ends what waits; no read comes after it.
        func close() { groups.close() }
    }

    /// One group of reads after the other; used on its committer's queue alone.
    private final class ReadGroups: GroupEngine {
        /// How many records one group asks for; who asks for many takes the turn of as many.
        static let recordsMax = 256

        private let store: Int64
        private let facts: StoreFacts
        private let readers: ConnectionPool
        private let secondsMax: Int
        private var foreseen = ForeseenReads([])
        private var current: (connection: Connection, progress: Progress)?

        init(_ store: Int64, _ facts: StoreFacts, _ readers: ConnectionPool, secondsMax: Int) {
            self.store = store
            self.facts = facts
            self.readers = readers
            self.secondsMax = secondsMax
        }

        func snapshot(_ read: ForeseenRead) throws -> GatheredSnapshot {
            guard let current, let rows = read.rows else {
                throw BrokenInvariant("a read runs in the group that has fetched what it needs")
            }
            return GatheredSnapshot(
                within: current.connection, store, facts, current.progress, rows)
        }

        func foresee(_ jobs: ArraySlice<PendingJob>) {
            foreseen = ForeseenReads(jobs.compactMap { $0.needs as? ForeseenRead })
        }

        func begin() throws {
            let taken = try readers.take()
            do { try begin(taken) } catch let error as PostgreSQLError where error.endsSession {
                // The session may have ended since it was last used; a new one is tried once.
                do { try begin(readers.connect()) } catch {
                    readers.give(nil)
                    throw error
                }
            } catch {
                readers.give(nil)
                throw error
            }
        }

        private func begin(_ connection: Connection) throws {
            connection.deadline = .now() + .seconds(secondsMax)
            let start = [PostgreSQLSnapshot.begin, facts.progressQuery(store, locked: false)]
            let answers = try connection.run(start + foreseen.queries(store))
            let progress = try facts.progress(answers[1])
            try foreseen.take(answers[2], answers[3])
            current = (connection, progress)
        }

        func run(_ job: PendingJob, isIsolated: Bool) throws -> JobEnd {
            do { try job.run() } catch let error as PostgreSQLError {
                // The transaction answers nothing any more.
                throw error
            } catch { return .undone }
            return .done
        }

        func prepare() {}

        func commit() -> GroupEnd {
            guard let connection = current?.connection else { return .committed }
            current = nil
            // NB: nobody waits for the end of a read; a session that has ended is not used again.
            try? connection.runLater([Query("COMMIT")])
            readers.give(connection)
            return .committed
        }

        func rollBack(_ error: any Error) -> GroupEnd {
            if current != nil { readers.give(nil) }
            current = nil
            return .rolledBack(error)
        }

        func told() {}

        // MARK: Reads need no room

        var refusalWhileFull: any Error { StorageFailure.full }
        func saysFull(_ error: any Error) -> Bool { false }
        func becameFull() {}
        func makeRoom() {}
        func hasRoomAgain() -> Bool { true }
        func failed() {}
        func close() {}
    }
#endif
