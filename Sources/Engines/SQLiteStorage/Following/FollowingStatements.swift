import SQLite

/// The writer's statements for changes that somebody follows, prepared when the first is noted.
final class FollowingStatements: LazyStatements {
    lazy var note = connection.statement(
        """
        INSERT INTO changes (position, kind, zone, record, person,
            previous_position, previous_type, previous_flags, previous_body,
            record_type, was_alive, author, device, trace)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
        """)
}
