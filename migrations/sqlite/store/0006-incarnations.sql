-- Where the store stands, so that what a lost part of it gave out is told from what it gave out itself.

-- One row: the last position, written by each group that takes one, in its own transaction.
CREATE TABLE progress (
    id INTEGER PRIMARY KEY,
    last_position INTEGER NOT NULL
);

-- Stores made before this file have it only in what they hold.
INSERT INTO progress SELECT 0, max(
    coalesce((SELECT max(max(created, changed, whole_after)) FROM zones), 0),
    coalesce((SELECT max((
        SELECT key & 0xFFFFFFFFFF FROM versions
        WHERE key > z.id << 40 AND key < (z.id + 1) << 40 ORDER BY key DESC LIMIT 1))
        FROM zones z), 0),
    coalesce((SELECT max(whole_after) FROM owners), 0),
    coalesce((SELECT max(max(created, coalesce(ended, 0))) FROM shares), 0),
    coalesce((SELECT max((
        SELECT position FROM stays WHERE share = s.id ORDER BY position DESC LIMIT 1))
        FROM shares s), 0),
    coalesce((SELECT max(max(granted, changed, coalesce(revoked, 0))) FROM grants), 0),
    coalesce((SELECT max(max(since, changed, whole_after, coalesce(ended, 0))) FROM views), 0),
    coalesce((SELECT max(whole_after) FROM viewers), 0));

-- It reserved numbers in blocks, since it did not know the last.
DELETE FROM properties WHERE name = 'reserved_through';

-- When the life ended, in milliseconds: when the next one wrote for the first time.
ALTER TABLE incarnations ADD COLUMN ended_at INTEGER;
-- The last position that this life had acknowledged, where the file had fallen behind that; else NULL.
ALTER TABLE incarnations ADD COLUMN lost_through INTEGER;
