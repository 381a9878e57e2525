-- Names in the order of a keyed hash. In the order of their text each new name dirtied a page of its own.

-- Leads from the hash of a zone and a name to the record; its head says whether it is of that name.
CREATE TABLE names (
    hash INTEGER NOT NULL,
    record INTEGER NOT NULL,
    PRIMARY KEY (hash, record)
) WITHOUT ROWID;

-- The latest of them, few enough to stay in memory. Queued work moves them in order of the hash.
CREATE TABLE new_names (
    hash INTEGER NOT NULL,
    record INTEGER NOT NULL,
    PRIMARY KEY (hash, record)
) WITHOUT ROWID;

-- The records up to this one are in them, in a store that still finds its heads by `heads_by_name`. NULL
-- once all of them are, and that index is gone.
ALTER TABLE progress ADD COLUMN names_through INTEGER DEFAULT 0;

INSERT INTO work (kind, subject, item, enqueued_at)
    SELECT 7, 0, 0, unixepoch() * 1000 WHERE EXISTS (SELECT 1 FROM heads);
