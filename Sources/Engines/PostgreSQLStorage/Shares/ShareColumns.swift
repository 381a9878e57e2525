#if PostgreSQL
    /// What is asked for of shares, and of those who have them.
    enum ShareColumns {
        static let share = """
            s.share, s.zone, s.record, s.root, s.public_permission, s.created, s.ended,
            s.allows_requests, s.requests_told_at
            """
        static let participant = """
            p.share, p.id, p.user_record_name, p.address, p.role, p.permission, p.status,
            p.is_approved_requester
            """
        static let grant = "g.share, g.zone, g.permission, g.granted, g.revoked, g.changed"
        static let view = "v.zone, v.since, v.ended, v.changed, v.whole_after"
    }
#endif
