#if PostgreSQL
    import Dispatch
    import PostgreSQL
    import Storage
    import Synchronization

    /// Has the processes on one database hear of each other's commits; a process has one for all of its stores.
    ///
    /// What another process has changed nobody says: all who wait for something of the store look again. Only what
    /// processes do for themselves is known not to have come (`CommitState.Queues`).
    package final class CommitExchange: Sendable {
        private struct Watched {
            var tally = CommitTally()
            let notices: CommitNotices
            let gone: @Sendable () -> Void
            /// When it was closed here; nil while it is open.
            var closedAt: DispatchTime?

            /// Whether nobody waits for it any more, nor can somebody be about to who has just read it.
            var isOver: Bool {
                guard let closedAt, notices.waitCount == 0 else { return false }
                return closedAt + .seconds(CommitExchange.waitingSeconds) < .now()
            }
        }

        private let announcements: CommitAnnouncements
        private let listener: CommitListener
        private let stores: Stores

        /// For how long a store is watched that was closed, and for which nobody waits.
        private static let waitingSeconds = 10

        /// The stores that this process has open, and those that it has closed while somebody waits for them.
        private final class Stores: Sendable {
            private let watched = Mutex<[Int64: Watched]>([:])

            var numbers: [Int64] {
                watched.withLock { watched in
                    watched = watched.filter { !$0.value.isOver }
                    return Array(watched.keys)
                }
            }

            func join(
                _ store: Int64, _ notices: CommitNotices, gone: @escaping @Sendable () -> Void
            ) {
                watched.withLock { $0[store] = Watched(notices: notices, gone: gone) }
            }

            func gone(_ store: Int64) {
                watched.withLock { $0.removeValue(forKey: store) }?.gone()
            }

            func closed(_ store: Int64) { watched.withLock { $0[store]?.closedAt = .now() } }

            /// Takes note of a commit; tells those who wait if it, or one before it, was another process's.
            ///
            /// - Parameter isOwn: whether this process made it.
            func committed(_ store: Int64, _ commit: CommitState, isOwn: Bool) {
                let told = watched.withLock { watched -> (CommitNotices, Set<StorePart>)? in
                    guard var known = watched[store] else { return nil }
                    let unmoved = known.tally.unmoved(by: commit)
                    let isNew =
                        isOwn ? known.tally.committed(commit) : known.tally.found(commit)
                    watched[store] = known
                    return isNew ? (known.notices, unmoved) : nil
                }
                guard let (notices, unmoved) = told else { return }
                notices.committedElsewhere(through: commit.position, but: unmoved)
            }
        }

        /// - Parameter options: lead straight to the server: a pooler between them hands no notifications on.
        package convenience init(_ options: ConnectionOptions) { self.init(options, nil) }

        /// - Parameters:
        ///   - presence: of the process; its rounds begin now.
        ///   - listening: how the session that listens is begun; nil where both are begun by the same options.
        init(
            _ options: ConnectionOptions, _ presence: ProcessPresence?,
            listening: ConnectionOptions? = nil
        ) {
            let stores = Stores()
            self.stores = stores
            announcements = CommitAnnouncements(options)
            listener = CommitListener(
                listening ?? options, presence, watched: { stores.numbers },
                gone: { stores.gone($0) }, found: { stores.committed($0, $1, isOwn: false) })
            DispatchQueue(label: "store.listener", qos: .userInitiated).async { [listener] in
                listener.run()
            }
        }

        /// - Parameter gone: called once when the store is no more; must not block.
        func join(
            _ store: Int64, _ notices: CommitNotices, gone: @escaping @Sendable () -> Void
        ) { stores.join(store, notices, gone: gone) }

        /// Takes note that a store was closed; who waits for it still hears of its commits.
        func closed(_ store: Int64) { stores.closed(store) }

        /// Tells the others of a commit of this process, and this one of what came before it.
        func committed(_ store: Int64, _ commit: CommitState) {
            stores.committed(store, commit, isOwn: true)
            announcements.announce(store, commit)
        }

        /// What it has sent, heard and asked.
        package var measurements: CommitListener.Measurements {
            var all = listener.measurements
            all.sent = announcements.sent
            return all
        }

        /// Ends both sessions; the stores are closed already.
        package func close() {
            listener.close()
            announcements.close()
        }

        deinit { listener.close() }
    }
#endif
