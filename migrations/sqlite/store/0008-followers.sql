-- Readers of all changes, such as what sends notifications, and what is kept for them.

-- Who follows, and through which position they have come.
CREATE TABLE followers (
    name TEXT PRIMARY KEY,
    position INTEGER NOT NULL
) WITHOUT ROWID;

-- Of which records a follower wants the version before a change.
CREATE TABLE former_wanted (
    follower TEXT NOT NULL,
    -- 1 for all zones of an owner, 2 for one zone.
    place INTEGER NOT NULL,
    -- The owner or the zone.
    number INTEGER NOT NULL,
    -- 0 for all types.
    record_type INTEGER NOT NULL,
    PRIMARY KEY (follower, place, number, record_type)
) WITHOUT ROWID;

-- The changes of the whole store in commit order; written only while somebody follows.
CREATE TABLE changes (
    position INTEGER PRIMARY KEY,
    -- 1 a record saved, 2 a record deleted, 3 a zone made, 4 a zone deleted, 5 the sight of one person
    -- changed, 6 a share ended.
    kind INTEGER NOT NULL,
    zone INTEGER NOT NULL,
    -- Of 1 and 2.
    record INTEGER,
    -- Of 5: whose.
    person TEXT,
    -- The version before, where somebody wanted it.
    former_position INTEGER,
    former_type INTEGER,
    former_flags INTEGER,
    former_body BLOB
);
CREATE UNIQUE INDEX changes_by_former ON changes (former_position)
    WHERE former_position IS NOT NULL;
