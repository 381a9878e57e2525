import SQLite

/// The writer's statements about the queue of work, prepared when the first is needed.
final class WorkStatements: LazyStatements {
    // Nothing is due later, or held longer, than what follows from now: a clock that was set back
    // must not hold work up.
    private let isDue =
        "(due_at <= ?3 OR due_at > ?3 + \(SQLiteTransaction.workDelayMillisecondsMax))"
    private let isHeld =
        "(held_until > ?3 AND held_until <= ?3 + \(SQLiteTransaction.workDelayMillisecondsMax))"
    lazy var enqueue = connection.statement(
        """
        INSERT INTO work (kind, subject, item, name) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT (kind, subject, item, name) DO UPDATE SET cursor = 0
        """)
    lazy var take = connection.statement(
        """
        SELECT id, subject, item, name, cursor, failures FROM work w
        WHERE kind = ?1 AND subject > ?2 AND \(isDue) AND NOT EXISTS (
            SELECT 1 FROM work h WHERE h.kind = w.kind AND h.subject = w.subject
            AND h.holder IS NOT NULL AND h.holder <> ?4 AND \(isHeld))
        ORDER BY subject, id LIMIT 1
        """)
    lazy var hold = connection.statement(
        """
        UPDATE work SET holder = ?2, held_until = ?4
        WHERE id = ?1 AND (holder IS NULL OR holder = ?2 OR NOT \(isHeld))
        """)
    lazy var leave = connection.statement(
        """
        UPDATE work SET cursor = coalesce(?2, cursor), due_at = coalesce(?3, due_at),
            failures = iif(?4, failures + 1, 0), holder = NULL, held_until = NULL
        WHERE id = ?1
        """)
    lazy var finish = connection.statement("DELETE FROM work WHERE id = ?1")
}
