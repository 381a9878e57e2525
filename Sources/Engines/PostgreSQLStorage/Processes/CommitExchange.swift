#if PostgreSQL
    import Dispatch
    import PostgreSQL
    import Storage
    import Synchronization

    /// Has the processes on one database hear of each other's commits; a process has one for all of its stores.
    ///
    /// What another process has changed nobody says: all who wait for something of the store look again.
    package final class CommitExchange: Sendable {
        private struct Watched {
            var tally = CommitTally()
            let notices: CommitNotices
            let gone: @Sendable () -> Void
        }

        private let announcements: CommitAnnouncements
        private let listener: CommitListener
        private let stores: Stores

        /// The stores that this process has open.
        private final class Stores: Sendable {
            private let watched = Mutex<[Int64: Watched]>([:])

            var numbers: [Int64] { watched.withLock { Array($0.keys) } }

            func join(
                _ store: Int64, _ notices: CommitNotices, gone: @escaping @Sendable () -> Void
            ) {
                watched.withLock { $0[store] = Watched(notices: notices, gone: gone) }
            }

            func gone(_ store: Int64) {
                watched.withLock { $0.removeValue(forKey: store) }?.gone()
            }

            func leave(_ store: Int64) { watched.withLock { $0[store] = nil } }

            /// Takes note of a commit; tells those who wait if it, or one before it, was another process's.
            ///
            /// - Parameter isOwn: whether this process made it.
            func committed(_ store: Int64, _ commit: CommitState, isOwn: Bool) {
                let notices = watched.withLock { watched -> CommitNotices? in
                    let isNew =
                        isOwn
                        ? watched[store]?.tally.committed(commit.commits)
                        : watched[store]?.tally.found(commit.commits)
                    return isNew == true ? watched[store]?.notices : nil
                }
                notices?.committedElsewhere(through: commit.position)
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

        func leave(_ store: Int64) { stores.leave(store) }

        /// Tells the others of a commit of this process, and this one of what came before it.
        func committed(_ store: Int64, _ commit: CommitState) {
            stores.committed(store, commit, isOwn: true)
            announcements.announce(store, commit)
        }

        /// What it has sent and asked, for metrics.
        package var measurements: CommitExchangeMeasurements {
            let heard = listener.measurements
            return CommitExchangeMeasurements(
                sent: announcements.sent, heard: heard.messages, questions: heard.questions,
                sessions: heard.sessions)
        }

        /// Ends both sessions; the stores are closed already.
        package func close() {
            listener.close()
            announcements.close()
        }

        deinit { listener.close() }
    }

    /// What an exchange has done.
    package struct CommitExchangeMeasurements: Equatable, Sendable {
        /// Messages to other processes, each of many commits.
        package let sent: Int
        /// Messages of processes, this one's own among them.
        package let heard: Int
        /// Statements that asked where stores stand.
        package let questions: Int
        /// How often the listener has connected.
        package let sessions: Int
    }
#endif
