-- Shares, who takes part in them, which records each covers, and what viewers have been granted.

-- Numbers are never used again: what an ended share has left behind is told by its number.
CREATE TABLE shares (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    zone INTEGER NOT NULL,
    -- The share record.
    record INTEGER NOT NULL,
    -- The root of the tree; NULL for a share of the whole zone.
    root INTEGER,
    public_permission INTEGER NOT NULL,
    created INTEGER NOT NULL,
    -- The position at which it ended, and when; NULL while it stands.
    ended INTEGER,
    ended_at INTEGER
);
CREATE INDEX shares_by_zone ON shares (zone) WHERE ended IS NULL;
CREATE UNIQUE INDEX shares_whole ON shares (zone) WHERE ended IS NULL AND root IS NULL;
CREATE UNIQUE INDEX shares_by_root ON shares (root) WHERE ended IS NULL AND root IS NOT NULL;
CREATE UNIQUE INDEX shares_by_record ON shares (record) WHERE ended IS NULL;
CREATE INDEX shares_ended ON shares (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX shares_of_zone ON shares (zone);

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
    -- NULL until the invitation has been matched to a user.
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
CREATE INDEX participants_by_address ON participants (address) WHERE address IS NOT NULL;

-- A stay of a record in a share: from `entered`, to `left` once it has gone. Clustered as a
-- participant's feed reads it: by the position of the last change that he is to see. Those of an
-- ended share stay as they were when it ended.
CREATE TABLE stays (
    share INTEGER NOT NULL,
    position INTEGER NOT NULL,
    record INTEGER NOT NULL,
    -- The position of the record's version, so that the feed needs no look at the head.
    version INTEGER NOT NULL,
    record_type INTEGER NOT NULL,
    entered INTEGER NOT NULL,
    -- The position at which it left the tree: before `position` when the move was large.
    left INTEGER,
    left_at INTEGER,
    PRIMARY KEY (share, position)
) WITHOUT ROWID;
CREATE INDEX stays_left ON stays (left_at) WHERE left_at IS NOT NULL;

-- Which share covers a record now, and where its stay lies. Rows of ended shares mean nothing.
CREATE TABLE covered (
    record INTEGER PRIMARY KEY,
    share INTEGER NOT NULL,
    position INTEGER NOT NULL
);
CREATE INDEX covered_by_share ON covered (share);

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
    revoked_at INTEGER,
    changed INTEGER NOT NULL
);
-- A viewer of a thousand shares finds here what changed and all that is needed of it.
CREATE INDEX grants_by_change ON grants (
    viewer, zone, changed, share, permission, granted, revoked);
CREATE UNIQUE INDEX grants_by_share ON grants (share, viewer) WHERE revoked IS NULL;
CREATE INDEX grants_of_zone ON grants (zone);
CREATE INDEX grants_revoked ON grants (revoked_at) WHERE revoked_at IS NOT NULL;

-- A zone as a viewer has it in his shared database: while any share of it is granted to him.
CREATE TABLE views (
    viewer TEXT NOT NULL,
    zone INTEGER NOT NULL,
    -- The position from which he has seen something of it without a gap: tokens of an earlier time
    -- are of another view.
    since INTEGER NOT NULL,
    -- The position at which nothing was left to see, and when; NULL while something is.
    ended INTEGER,
    ended_at INTEGER,
    -- Shares that are granted to him now.
    shares_granted INTEGER NOT NULL,
    -- The last change that concerns him; -1 keeps it out of the database feed.
    changed INTEGER NOT NULL,
    -- Zone tokens below this position are too old: departures after it were collected.
    whole_after INTEGER NOT NULL,
    PRIMARY KEY (viewer, zone)
) WITHOUT ROWID;
CREATE INDEX views_by_change ON views (viewer, changed);
CREATE INDEX views_of_zone ON views (zone);
CREATE INDEX views_ended ON views (ended_at) WHERE ended_at IS NOT NULL;

-- Viewers who had views that are forgotten: database tokens below the position are too old.
CREATE TABLE viewers (
    name TEXT PRIMARY KEY,
    whole_after INTEGER NOT NULL
) WITHOUT ROWID;

-- Work on the trees of shares that is still to be done: the children of a record are to be covered
-- by what covers it.
CREATE TABLE share_work (
    record INTEGER PRIMARY KEY,
    zone INTEGER NOT NULL,
    -- The last child that has been looked at.
    cursor INTEGER NOT NULL
);
CREATE INDEX share_work_by_zone ON share_work (zone);

-- Which shares that work concerns: a share is whole when it has none. `since` is the position at
-- which its records were taken out of it or put into it.
CREATE TABLE share_work_marks (
    share INTEGER NOT NULL,
    record INTEGER NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (share, record)
) WITHOUT ROWID;
CREATE INDEX share_work_marks_by_record ON share_work_marks (record);
