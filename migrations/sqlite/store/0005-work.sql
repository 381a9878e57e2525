-- The queue of work that writes leave to be done in steps after them.

CREATE TABLE work (
    -- The order in which it was asked for.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- 1 to cover the children of a record by the share that covers it, 2 to delete those that referred
    -- to a deleted record, 3 to fill and empty indexes, 4 to remove old rows, 5 to remove unused assets.
    kind INTEGER NOT NULL,
    -- What takes turns with others of the kind. Of 1 the zone, of 2 the position of the deletion, else 0.
    subject INTEGER NOT NULL,
    -- Of 1 the record, of 2 the zone, else 0.
    item INTEGER NOT NULL,
    -- Of 2 the name of the deleted record.
    name TEXT NOT NULL DEFAULT '',
    -- How far it has come: of 1 and 2 the last record that has been looked at.
    cursor INTEGER NOT NULL DEFAULT 0,
    enqueued_at INTEGER NOT NULL,
    -- Steps that failed, one after the other, and when the next may be tried.
    failures INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL DEFAULT 0,
    -- Who does a step outside of transactions, and until when nobody else may; NULL for nobody.
    holder INTEGER,
    held_until INTEGER
);
CREATE UNIQUE INDEX work_by_task ON work (kind, subject, item, name);
CREATE INDEX work_in_order ON work (kind, subject, id);
CREATE INDEX work_held ON work (kind, subject) WHERE holder IS NOT NULL;

-- The rows of `share_work_marks` stay: they say which shares work of kind 1 concerns.
INSERT INTO work (kind, subject, item, cursor, enqueued_at)
    SELECT 1, zone, record, cursor, unixepoch() * 1000 FROM share_work ORDER BY record;
DROP TABLE share_work;

INSERT INTO work (kind, subject, item, enqueued_at)
    SELECT 3, 0, 0, unixepoch() * 1000 WHERE EXISTS (SELECT 1 FROM indexes WHERE state <> 1);
