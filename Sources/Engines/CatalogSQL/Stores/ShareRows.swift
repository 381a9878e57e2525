import CloudModel
import Storage
import StoredRows

// What rows of shares say, and of those who have them; columns as both engines ask for them.

extension StoredShare {
    /// Number, zone, record, root, public permission, creation, end, whether it allows requests, when these were told.
    package init(row: any CatalogRow, from column: Int32 = 0) throws {
        guard let permission = SharePermission(rawValue: row.int64(column + 4)) else {
            throw InvalidRow(table: "shares")
        }
        let toldAt = row.int64(column + 8)
        self.init(
            number: ShareNumber(row.int64(column)), zone: ZoneNumber(row.int64(column + 1)),
            record: RecordNumber(row.int64(column + 2)),
            root: row.optionalInt64(column + 3).map { RecordNumber($0) },
            publicPermission: permission, allowsRequests: row.int64(column + 7) != 0,
            created: row.int64(column + 5), ended: row.optionalInt64(column + 6),
            requestsToldAt: toldAt == 0 ? nil : toldAt)
    }
}

/// A participant with their share.
package enum ParticipantRow {
    /// Share, ID, user, address, role, permission, status, whether they were approved.
    package static func participant(
        _ row: any CatalogRow
    ) throws -> (ShareNumber, StoredParticipant) {
        guard let role = ParticipantRole(rawValue: row.int64(4)),
            let permission = SharePermission(rawValue: row.int64(5)),
            let status = AcceptanceStatus(rawValue: row.int64(6))
        else { throw InvalidRow(table: "participants") }
        return (
            ShareNumber(row.int64(0)),
            StoredParticipant(
                id: row.string(1), user: row.optionalString(2).flatMap { UserRecordName($0) },
                address: row.optionalString(3), role: role, permission: permission,
                status: status, isApprovedRequester: row.int64(7) != 0)
        )
    }
}

/// What a stored request has come to; the numbers are stored.
package enum RequestState: Int64 {
    /// Only counts, for it led nowhere or has been decided.
    case counted = 0
    case waiting = 1
    case blocked = 2
}

extension StoredAccessRequest {
    /// User, time, state.
    package init(row: any CatalogRow) throws {
        guard let user = UserRecordName(row.string(0)),
            let state = RequestState(rawValue: row.int64(2))
        else { throw InvalidRow(table: "access_requests") }
        self.init(user: user, madeAt: row.int64(1).unlessUnset, isBlocked: state == .blocked)
    }
}

extension StoredGrant {
    /// Share, zone, permission, when it was granted, revoked and changed.
    package init(row: any CatalogRow) throws {
        guard let permission = SharePermission(rawValue: row.int64(2)) else {
            throw InvalidRow(table: "grants")
        }
        self.init(
            share: ShareNumber(row.int64(0)), zone: ZoneNumber(row.int64(1)),
            permission: permission, granted: row.int64(3), revoked: row.optionalInt64(4),
            changed: row.int64(5))
    }
}

extension StoredView {
    /// Zone, beginning, end, last change, the oldest position that tokens may have.
    package init(row: any CatalogRow) {
        self.init(
            zone: ZoneNumber(row.int64(0)), since: row.int64(1), ended: row.optionalInt64(2),
            changed: row.int64(3), oldestValidPosition: row.int64(4))
    }
}
