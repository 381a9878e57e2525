import Synchronization

/// Waits for the first commit that changes one of some places of a store.
///
/// `CommitNotices.watch` makes it. It tells at most once; make another to go on waiting.
package final class CommitWatch: Sendable {
    package typealias Wake = @Sendable (CommitNotice) -> Void
    /// Takes something for the waiter in place of waking it; false where it has gone.
    package typealias Take = @Sendable (HandedNotice) -> Bool

    private enum Stage {
        /// Nothing has moved, and nobody has asked to be told yet.
        case looking
        /// A place moved before anybody asked to be told.
        case moved(CommitNotice)
        case waiting(Wake, take: Take?)
        case over
    }

    package let parts: Set<StorePart>
    private let notices: CommitNotices
    private let stage = Mutex(Stage.looking)

    init(_ parts: Set<StorePart>, of notices: CommitNotices) {
        self.parts = parts
        self.notices = notices
    }

    /// Calls a closure once a place has moved since the watch began; soon, if one has already.
    ///
    /// Call it at most once for a watch. The closure runs on the queue of the notices. It must not block,
    /// because it would hold up other waiters.
    ///
    /// - Parameter take: called instead when somebody has what the waiter waits for at hand
    ///   (`CommitNotices.hand`); nil for a waiter that only looks for itself.
    package func whenMoved(_ wake: @escaping Wake, orTake take: Take? = nil) {
        let notice = stage.withLock { stage -> CommitNotice? in
            switch stage {
            case .looking:
                stage = .waiting(wake, take: take)
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
            case .waiting(let wake, _):
                stage = .over
                return wake
            case .moved, .over: return nil
            }
        }
        wake?(notice)
    }

    /// Hands the waiter what it waits for; false when it does not take it.
    func hand(_ handed: HandedNotice) -> Bool {
        let take = stage.withLock { stage -> Take? in
            guard case .waiting(_, let take?) = stage else { return nil }
            stage = .over
            return take
        }
        return take?(handed) ?? false
    }

    /// Whether somebody waits who would take it from hand to hand.
    var takes: Bool {
        stage.withLock { stage in
            if case .waiting(_, .some) = stage { true } else { false }
        }
    }
}
