-- One container environment: its public database and every private one.
-- A position is a number that the writer takes for each change, in commit order, and never again.

-- What the store knows of itself: incarnation, token key, the block of positions reserved so far.
CREATE TABLE properties (
    name TEXT PRIMARY KEY,
    value NOT NULL
) WITHOUT ROWID;

-- Earlier lives of this store: tokens made in one are good up to its last position.
CREATE TABLE incarnations (
    number INTEGER PRIMARY KEY,
    last_position INTEGER NOT NULL
);

-- Owners of zones. Owner 0 is the public database.
CREATE TABLE owners (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    record_name TEXT NOT NULL UNIQUE,
    account TEXT NOT NULL,
    used_bytes INTEGER NOT NULL DEFAULT 0,
    -- Database tokens below this position are too old: zone tombstones after it were collected.
    whole_after INTEGER NOT NULL DEFAULT 0
);

-- Zone numbers are never used again, so a zone made anew under an old name is another zone.
CREATE TABLE zones (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner INTEGER NOT NULL,
    name TEXT NOT NULL,
    created INTEGER NOT NULL,
    -- The position of its last change; 0 keeps it out of the database feed.
    changed INTEGER NOT NULL,
    -- Zone tokens below this position are too old: tombstones after it were collected.
    whole_after INTEGER NOT NULL,
    record_count INTEGER NOT NULL DEFAULT 0,
    body_bytes INTEGER NOT NULL DEFAULT 0,
    -- When it was deleted, in milliseconds; NULL while it lives.
    deleted_at INTEGER,
    -- 1 once a deleted zone's records are gone.
    is_purged INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX zones_by_name ON zones (owner, name) WHERE deleted_at IS NULL;
CREATE INDEX zones_by_change ON zones (owner, changed);
CREATE INDEX zones_deleted ON zones (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE record_types (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

CREATE TABLE fields (
    record_type INTEGER NOT NULL,
    name TEXT NOT NULL,
    value_type INTEGER NOT NULL,
    PRIMARY KEY (record_type, name)
) WITHOUT ROWID;

-- The record id stays when the record is saved again, deleted and made anew.
CREATE TABLE heads (
    id INTEGER PRIMARY KEY,
    zone INTEGER NOT NULL,
    name TEXT NOT NULL,
    position INTEGER NOT NULL
);
CREATE UNIQUE INDEX heads_by_name ON heads (zone, name);

-- The current version of each record, or its tombstone, clustered as the zone's feed reads it.
CREATE TABLE versions (
    -- zone << 40 | position
    key INTEGER PRIMARY KEY,
    record INTEGER NOT NULL,
    record_type INTEGER NOT NULL,
    flags INTEGER NOT NULL,
    body BLOB NOT NULL
);

CREATE TABLE tombstones (
    deleted_at INTEGER NOT NULL,
    key INTEGER NOT NULL,
    PRIMARY KEY (deleted_at, key)
) WITHOUT ROWID;

-- References that act when their target is deleted, and parents.
CREATE TABLE links (
    target_zone INTEGER NOT NULL,
    target_name TEXT NOT NULL,
    kind INTEGER NOT NULL,
    source INTEGER NOT NULL,
    PRIMARY KEY (target_zone, target_name, kind, source)
) WITHOUT ROWID;
CREATE INDEX links_by_source ON links (source);
