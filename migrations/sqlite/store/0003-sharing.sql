-- Shares, who takes part in them, and which records each covers.

CREATE TABLE shares (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    zone INTEGER NOT NULL,
    -- The share record.
    record INTEGER NOT NULL,
    -- The root of the tree; NULL for a share of the whole zone.
    root INTEGER,
    public_permission INTEGER NOT NULL,
    created INTEGER NOT NULL,
    -- The position at which it ended; NULL while it stands.
    ended INTEGER
);
CREATE INDEX shares_by_zone ON shares (zone) WHERE ended IS NULL;
CREATE INDEX shares_by_root ON shares (root) WHERE ended IS NULL;
CREATE UNIQUE INDEX shares_by_record ON shares (record) WHERE ended IS NULL;

-- The short identifier of a root or a zone's share: it stays when sharing ends and begins again.
CREATE TABLE short_guids (
    value TEXT PRIMARY KEY,
    record INTEGER NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX short_guids_by_record ON short_guids (record);

CREATE TABLE participants (
    share INTEGER NOT NULL,
    -- A UUID that clients know the participant by.
    id TEXT NOT NULL,
    -- Nil until the invitation has been matched to a user.
    user_record_name TEXT,
    -- What he was invited by: an e-mail address or a phone number, as compared; NULL for a name.
    address TEXT,
    role INTEGER NOT NULL,
    permission INTEGER NOT NULL,
    status INTEGER NOT NULL,
    PRIMARY KEY (share, id)
) WITHOUT ROWID;
CREATE INDEX participants_by_user ON participants (user_record_name)
    WHERE user_record_name IS NOT NULL;

-- A stay of a record in a share: from `entered`, to `left` once it has gone. Clustered as a
-- participant's feed reads it: by the position of the last change that he is to see.
CREATE TABLE stays (
    share INTEGER NOT NULL,
    position INTEGER NOT NULL,
    record INTEGER NOT NULL,
    -- The position of the record's version, so that the feed needs no look at the head.
    version INTEGER NOT NULL,
    entered INTEGER NOT NULL,
    left INTEGER,
    PRIMARY KEY (share, position)
) WITHOUT ROWID;

-- Which share covers a record now, and where its stay lies.
CREATE TABLE covered (
    record INTEGER PRIMARY KEY,
    share INTEGER NOT NULL,
    position INTEGER NOT NULL
);

-- What a viewer may see: a share from the position at which he accepted it, to the one at which he
-- lost it. `changed` is the last change of the share that concerns him.
CREATE TABLE grants (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    viewer TEXT NOT NULL,
    zone INTEGER NOT NULL,
    share INTEGER NOT NULL,
    permission INTEGER NOT NULL,
    granted INTEGER NOT NULL,
    revoked INTEGER,
    changed INTEGER NOT NULL
);
CREATE INDEX grants_by_change ON grants (viewer, zone, changed);
CREATE INDEX grants_by_share ON grants (share) WHERE revoked IS NULL;

-- Work on the trees of shares that is still to be done: the children of a record are to be covered
-- by what covers it. A share is whole when none of its work is left.
CREATE TABLE share_work (
    record INTEGER PRIMARY KEY,
    from_share INTEGER NOT NULL,
    to_share INTEGER NOT NULL,
    -- The last child that has been looked at.
    cursor INTEGER NOT NULL
);
CREATE INDEX share_work_from ON share_work (from_share);
CREATE INDEX share_work_to ON share_work (to_share);
