-- What a write leaves of indexes for later: entries of records that have many. Queued work of kind 9 writes them in
-- steps, and what needs them waits.

-- One row for a record in an index. What the index has of the record are the entries of a former body, from
-- `former_from` up to `former_through` (-1 for all), or else the first `come` entries of the present one. Its former
-- entries go first, and then its own come.
CREATE TABLE late_entries (
    zone INTEGER NOT NULL,
    field INTEGER NOT NULL,
    record INTEGER NOT NULL,
    -- In `late_bodies`; null for none.
    former INTEGER,
    former_from INTEGER NOT NULL DEFAULT 0,
    former_through INTEGER NOT NULL DEFAULT -1,
    come INTEGER NOT NULL DEFAULT 0,
    -- Whether queries wait for it: not for what is left of a record that is gone.
    is_awaited INTEGER NOT NULL,
    PRIMARY KEY (zone, field, record)
) WITHOUT ROWID;

CREATE INDEX awaited_entries ON late_entries (zone, field) WHERE is_awaited;
CREATE INDEX late_entries_by_former ON late_entries (former) WHERE former IS NOT NULL;

-- Bodies of which indexes still have entries.
CREATE TABLE late_bodies (
    id INTEGER PRIMARY KEY,
    body BLOB NOT NULL
);

-- A zone that is made takes the place of a deleted one in its owner's feed, which is found by its name.
CREATE INDEX zones_gone ON zones (owner, name) WHERE deleted_at IS NOT NULL AND changed >= 0;
