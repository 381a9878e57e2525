import CloudModel
import Synchronization

/// The place of one poll or event stream among its user's, from its first wait to its end.
final class PollSlot: Sendable {
    private let claims: CourierClaims
    private let user = Mutex<UserRecordName?>(nil)

    init(_ claims: CourierClaims) { self.claims = claims }

    /// - Returns: false when the user has as many as they may.
    func begin(for user: UserRecordName, max most: Int) -> Bool {
        self.user.withLock { known in
            guard known == nil else { return true }
            guard claims.begin(pollOf: user, max: most) else { return false }
            known = user
            return true
        }
    }

    deinit {
        if let user = user.withLock({ $0 }) { claims.end(pollOf: user) }
    }
}
