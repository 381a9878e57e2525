import CloudModel
import Storage
import Synchronization

/// Which notices are on their way to a poll, and how many polls each user has waiting.
///
/// Two polls of one token never get the same notice while it may still arrive.
final class CourierClaims: Sendable {
    /// A notice of one store.
    private struct Claim: Hashable {
        let store: ObjectIdentifier
        let notice: NoticeNumber
    }

    private struct State {
        var claims: Set<Claim> = []
        var polls: [UserRecordName: Int] = [:]
        var counts = CourierCounts()
    }

    private let state = Mutex(State())

    deinit {
        assert(
            state.withLock { $0.polls.isEmpty },
            "each poll holds the claims until it ends: else its user would be refused for good")
    }

    var counts: CourierCounts { state.withLock { $0.counts } }

    /// Takes a notice for one poll; false when another has it.
    func take(_ notice: NoticeNumber, of notices: CommitNotices) -> Bool {
        state.withLock {
            $0.claims.insert(Claim(store: ObjectIdentifier(notices), notice: notice)).inserted
        }
    }

    func giveBack(_ numbers: [NoticeNumber], of notices: CommitNotices) {
        state.withLock { state in
            for number in numbers {
                state.claims.remove(Claim(store: ObjectIdentifier(notices), notice: number))
            }
        }
    }

    /// Counts one more poll of a user; false when they already have as many as they may.
    func begin(pollOf user: UserRecordName, max most: Int) -> Bool {
        state.withLock { state in
            guard state.polls[user, default: 0] < most else {
                state.counts.refused += 1
                return false
            }
            state.polls[user, default: 0] += 1
            return true
        }
    }

    func end(pollOf user: UserRecordName) {
        state.withLock { state in
            let left = state.polls[user, default: 0] - 1
            assert(left >= 0, "a poll that ends has begun")
            state.polls[user] = left > 0 ? left : nil
        }
    }

    func note(sent count: Int, cut: Int) {
        state.withLock { state in
            state.counts.sent += count
            state.counts.cut += cut
        }
    }
}

/// Counts of the courier since the start.
package struct CourierCounts: Sendable {
    /// Notices that polls and event streams have got.
    package var sent = 0
    /// Notices whose client was gone before they arrived; they wait again.
    package var cut = 0
    /// Polls refused because their user has too many.
    package var refused = 0
}
