#if PostgreSQL
    import PostgreSQL
    import Storage
    import Synchronization

    /// The duties of one store that this process has, so that mostly nobody asks the database.
    final class HeldDuties: Sendable {
        private struct Held {
            let lease: StepLease
            /// As of `ProcessPresence.epoch`.
            let epoch: Int
        }

        private let presence: ProcessPresence
        private let held = Mutex<[StoreDuty: Held]>([:])

        init(_ presence: ProcessPresence) { self.presence = presence }

        /// - Parameter sessions: those in which a lease is taken.
        func hold(
            _ duty: StoreDuty, of store: Int64, _ sessions: ConnectionPool
        ) throws -> StoreLease? {
            let epoch = presence.epoch
            if let known = held.withLock({ $0[duty] }), known.epoch == epoch, presence.isCurrent {
                return lease(known.lease)
            }
            let taken = try sessions.with { connection, keep in
                let taken = try StepLease.take(
                    duty, of: store, by: presence.identity, connection)
                keep(connection)
                return taken
            }
            // What ends by itself is asked for each time.
            if StepLease.milliseconds(of: duty) != nil {
                return taken.map { taken in
                    StoreLease {
                        try taken.check(in: $0)
                    } endIn: {
                        try taken.end(in: $0)
                    }
                }
            }
            held.withLock { $0[duty] = taken.map { Held(lease: $0, epoch: epoch) } }
            return taken.map(lease)
        }

        private func lease(_ held: StepLease) -> StoreLease {
            StoreLease { [weak self] transaction in
                do { try held.check(in: transaction) } catch let lost as StoreLease.Lost {
                    self?.forget(held)
                    throw lost
                }
            }
        }

        private func forget(_ lost: StepLease) {
            held.withLock { held in
                held = held.filter { $0.value.lease != lost }
            }
        }

        /// Lets all go, with the store's end in this process.
        func end(of store: Int64, _ connection: Connection) throws {
            guard held.withLock({ !$0.isEmpty }) else { return }
            try StepLease.end(of: store, by: presence.identity, connection)
        }
    }
#endif
