import Synchronization

/// Waits for the first commit that changes one of some places of a store.
///
/// `CommitNotices.watch` makes it. It tells at most once; make another to go on waiting.
package final class CommitWatch: Sendable {
    package typealias Wake = @Sendable (CommitNotice) -> Void

    private enum Stage {
        /// Nothing has moved, and nobody has asked to be told yet.
        case looking
        /// A place moved before anybody asked to be told.
        case moved(CommitNotice)
        case waiting(Wake)
        case over
    }

    package let places: Set<StorePlace>
    private let notices: CommitNotices
    private let stage = Mutex(Stage.looking)

    init(_ places: Set<StorePlace>, of notices: CommitNotices) {
        self.places = places
        self.notices = notices
    }

    /// Calls a closure once a place has moved since the watch began; soon, if one has already.
    ///
    /// Call it at most once for a watch. The closure runs on the queue of the notices. It must not block,
    /// because it would hold up other waiters.
    package func whenMoved(_ wake: @escaping Wake) {
        let notice = stage.withLock { stage -> CommitNotice? in
            switch stage {
            case .looking:
                stage = .waiting(wake)
                return nil
            case .moved(let notice):
                stage = .over
                return notice
            case .waiting, .over: return nil
            }
        }
        if let notice { CommitNotices.queue.async { wake(notice) } }
    }

    /// Ends the wait: a closure that has not begun by now will never be called.
    package func end() {
        stage.withLock { $0 = .over }
        notices.forget(self)
    }

    /// Calls the closure, or remembers that there is something to tell.
    func move(_ notice: CommitNotice) {
        let wake = stage.withLock { stage -> Wake? in
            switch stage {
            case .looking:
                stage = .moved(notice)
                return nil
            case .waiting(let wake):
                stage = .over
                return wake
            case .moved, .over: return nil
            }
        }
        wake?(notice)
    }
}
