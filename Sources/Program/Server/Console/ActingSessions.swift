import Administration
import CloudModel
import Cryptography
import Storage
import Synchronization

/// On whose behalf the operators act who are signed in, each browser's session for itself.
///
/// It is kept in memory alone: what nobody remembers has ended, and so has all of it when the server starts again.
final class ActingSessions: Sendable {
    /// How long it goes on after the last command.
    ///
    /// As long as a proof counts: after so long an operator would have to show who they are to begin.
    static let idleMilliseconds: Milliseconds = 600_000

    /// One operator's acting in one session.
    struct Entry: Sendable {
        /// Another one each time, by which a page knows that it is still what it shows.
        let id: String
        let acting: Acting
        let beganAt: Milliseconds
        fileprivate(set) var usedAt: Milliseconds

        var endsAt: Milliseconds { usedAt + idleMilliseconds }
    }

    private let entries = Mutex<[[UInt8]: Entry]>([:])
    private let random: RandomSource

    init(random: RandomSource) { self.random = random }

    /// Begins, in place of what the session has been doing before.
    func begin(_ acting: Acting, in session: BrowserSession, now: Milliseconds) {
        let entry = Entry(
            id: UniqueID.random(random), acting: acting, beganAt: now, usedAt: now)
        entries.withLock { entries in
            entries = entries.filter { now < $0.value.endsAt }
            entries[session.hash] = entry
        }
    }

    /// What a session does now; nil for nothing.
    ///
    /// - Parameter isUse: whether a command asks, after which it goes on.
    func entry(
        of session: BrowserSession, now: Milliseconds, isUse: Bool = false
    ) -> Entry? {
        entries.withLock { entries in
            guard let entry = entries[session.hash], now < entry.endsAt else {
                entries[session.hash] = nil
                return nil
            }
            if isUse { entries[session.hash]?.usedAt = now }
            return entries[session.hash]
        }
    }

    func end(in session: BrowserSession) { entries.withLock { $0[session.hash] = nil } }

    /// Goes on in a session that takes another one's place, as the same operator has signed in again.
    func move(from former: BrowserSession, to session: BrowserSession) {
        entries.withLock { $0[session.hash] = $0.removeValue(forKey: former.hash) }
    }
}
