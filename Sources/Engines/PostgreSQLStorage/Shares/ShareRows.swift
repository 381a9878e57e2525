#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    /// Rows of shares, and of those who have them.
    enum ShareRows {
        static let shareColumns = """
            s.share, s.zone, s.record, s.root, s.public_permission, s.created, s.ended,
            s.allows_requests, s.requests_told_at
            """
        static let participantColumns = """
            p.share, p.id, p.user_record_name, p.address, p.role, p.permission, p.status,
            p.is_approved_requester
            """
        static let grantColumns = "g.share, g.zone, g.permission, g.granted, g.revoked, g.changed"
        static let viewColumns = "v.zone, v.since, v.ended, v.changed, v.whole_after"

        static func share(_ rows: Rows, _ row: Int, from column: Int = 0) throws -> StoredShare {
            guard let permission = SharePermission(rawValue: rows.number(row, column + 4)) else {
                throw InvalidRow(table: "shares")
            }
            let toldAt = rows.number(row, column + 8)
            return StoredShare(
                number: ShareNumber(rows.number(row, column)),
                zone: ZoneNumber(rows.number(row, column + 1)),
                record: RecordNumber(rows.number(row, column + 2)),
                root: rows.optionalNumber(row, column + 3).map { RecordNumber($0) },
                publicPermission: permission, allowsRequests: rows.number(row, column + 7) != 0,
                created: rows.number(row, column + 5), ended: rows.optionalNumber(row, column + 6),
                requestsToldAt: toldAt == 0 ? nil : toldAt)
        }

        static func participants(_ rows: Rows) throws -> [(ShareNumber, StoredParticipant)] {
            try (0..<rows.count).map { row in
                guard let role = ParticipantRole(rawValue: rows.number(row, 4)),
                    let permission = SharePermission(rawValue: rows.number(row, 5)),
                    let status = AcceptanceStatus(rawValue: rows.number(row, 6))
                else { throw InvalidRow(table: "participants") }
                return (
                    ShareNumber(rows.number(row, 0)),
                    StoredParticipant(
                        id: rows.text(row, 1),
                        user: rows.isNull(row, 2) ? nil : UserRecordName(rows.text(row, 2)),
                        address: rows.isNull(row, 3) ? nil : rows.text(row, 3), role: role,
                        permission: permission, status: status,
                        isApprovedRequester: rows.number(row, 7) != 0)
                )
            }
        }

        static func requests(_ rows: Rows) throws -> [StoredAccessRequest] {
            try (0..<rows.count).map { row in
                guard let user = UserRecordName(rows.text(row, 0)),
                    let state = RequestState(rawValue: rows.number(row, 2))
                else { throw InvalidRow(table: "access_requests") }
                return StoredAccessRequest(
                    user: user, madeAt: rows.number(row, 1).unlessUnset,
                    isBlocked: state == .blocked)
            }
        }

        static func grants(_ rows: Rows) throws -> [StoredGrant] {
            try (0..<rows.count).map { row in
                guard let permission = SharePermission(rawValue: rows.number(row, 2)) else {
                    throw InvalidRow(table: "grants")
                }
                return StoredGrant(
                    share: ShareNumber(rows.number(row, 0)), zone: ZoneNumber(rows.number(row, 1)),
                    permission: permission, granted: rows.number(row, 3),
                    revoked: rows.optionalNumber(row, 4), changed: rows.number(row, 5))
            }
        }

        static func views(_ rows: Rows) -> [StoredView] {
            (0..<rows.count).map { row in
                StoredView(
                    zone: ZoneNumber(rows.number(row, 0)), since: rows.number(row, 1),
                    ended: rows.optionalNumber(row, 2), changed: rows.number(row, 3),
                    oldestValidPosition: rows.number(row, 4))
            }
        }
    }

    /// What a stored request has come to; the numbers are stored.
    enum RequestState: Int64 {
        /// Only counts, for it led nowhere or has been decided.
        case counted = 0
        case waiting = 1
        case blocked = 2
    }
#endif
