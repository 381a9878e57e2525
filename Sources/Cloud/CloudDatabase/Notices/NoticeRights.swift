import CloudModel
import Storage

/// Checks whether a user may still see what a notice tells of, just before it is sent (rulings.md 58).
package enum NoticeRights {
    /// - Returns: false when the notice must be thrown away.
    package static func allow(
        _ notice: StoredNotice, to user: UserRecordName, _ snapshot: any StoreSnapshot
    ) throws -> Bool {
        try allow(notice.scope, notice.condition, to: user, snapshot)
    }

    /// As for a notice that waits, of what one tells that was just made.
    static func allow(
        _ scope: DatabaseScope, _ condition: NoticeCondition, to user: UserRecordName,
        _ snapshot: any StoreSnapshot
    ) throws -> Bool {
        switch scope {
        case .private: return true
        case .shared:
            guard let zone = condition.zone else {
                return try !snapshot.views(of: user, .current).isEmpty
            }
            return try snapshot.view(of: user, in: zone).map { $0.ended == nil } ?? false
        case .public:
            guard let number = condition.type else { return true }
            guard let type = try snapshot.schema.types.first(where: { $0.value.number == number })
            else { return false }
            switch try RecordAccess(of: user, snapshot).reach(.read, on: type.key) {
            case .all: return true
            case .own: return condition.isOwn
            case .none: return false
            }
        }
    }
}
