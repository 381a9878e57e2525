import Synchronization

/// Waits for the first commit that moves one of some places of a store.
///
/// Made by `CommitNotices.watch`. Tells once, or never; whoever goes on waiting makes another.
package final class CommitWatch: Sendable {
    package typealias Wake = @Sendable (CommitNotice) -> Void

    private enum Stage {
        /// Nobody has asked to be told yet.
        case looking
        /// A place has moved before anybody asked.
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

    /// Has a closure called once a place has moved since the watch began; soon, if one has already.
    ///
    /// Called at most once for a watch. The closure runs on the queue of the notices, where it holds
    /// others up, and must not block.
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

    /// Ends the wait: a closure that has not begun by now is never called.
    package func end() {
        stage.withLock { $0 = .over }
        notices.forget(self)
    }

    /// Tells, or keeps in mind that there is something to tell.
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
