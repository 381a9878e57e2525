-- Versions of records without what every record of a zone repeats, each with a sum over all of it.

-- What `versions` holds, in the form of docs/design/version-rows.md: new versions go here, and queued work
-- moves the others, in the order of their keys. A version is in one of the two tables.
CREATE TABLE version_rows (
    -- zone << 40 | position
    key INTEGER PRIMARY KEY,
    content BLOB NOT NULL
);

-- Users by the numbers that version rows know them by. Names of users who are gone stay.
CREATE TABLE version_users (
    id INTEGER PRIMARY KEY,
    record_name TEXT NOT NULL UNIQUE,
    -- Over number and name, as rows of version_rows have one.
    checksum INTEGER NOT NULL
);

INSERT INTO work (kind, subject, item, enqueued_at)
    SELECT 8, 0, 0, unixepoch() * 1000 WHERE EXISTS (SELECT 1 FROM versions);
