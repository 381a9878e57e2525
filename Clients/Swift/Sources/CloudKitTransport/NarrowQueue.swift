import Foundation

#if canImport(FoundationNetworking)
    /// The queue of a session's delegate, in which little waits: who adds more waits until there is room.
    ///
    /// Foundation on Linux puts every piece of an answer into this queue as soon as it has come, however many are there.
    /// A file that is written more slowly than it comes, as on a busy machine, would stand in memory. The pieces are
    /// added by what reads from the network; while that waits, so does the server.
    ///
    /// NB: nothing in the queue may wait for the session, as cancelling a task does.
    final class NarrowQueue: OperationQueue, @unchecked Sendable {
        // Unchecked: as its parent; nothing in it changes.

        /// How much waits; a piece has up to 16 KB.
        static let waitingMax = 64
        private let room = DispatchSemaphore(value: waitingMax)

        override init() {
            super.init()
            maxConcurrentOperationCount = 1
        }

        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            room.wait()
            super.addOperation { [room] in
                block()
                room.signal()
            }
        }
    }
#endif
