-- Assets: the files, by their contents, and what refers to them.

-- One file of this store; `references_held` counts the rows of asset_uses.
CREATE TABLE asset_files (
    id INTEGER PRIMARY KEY,
    -- SHA-256 of the contents.
    digest BLOB NOT NULL UNIQUE,
    bytes INTEGER NOT NULL,
    references_held INTEGER NOT NULL DEFAULT 0,
    -- Since when nothing refers to it; NULL while something does.
    unused_since INTEGER
);
CREATE INDEX asset_files_unused ON asset_files (unused_since) WHERE unused_since IS NOT NULL;

-- Which record holds which file, a row for each, however many of its fields do.
CREATE TABLE asset_uses (
    record INTEGER NOT NULL,
    file INTEGER NOT NULL,
    PRIMARY KEY (record, file)
) WITHOUT ROWID;
CREATE INDEX asset_uses_by_file ON asset_uses (file);

-- Uploads whose receipt can still be used.
CREATE TABLE asset_receipts (
    id BLOB PRIMARY KEY,
    file INTEGER NOT NULL,
    -- Who may use it, in which database: a code that only the server can make.
    identity BLOB NOT NULL,
    expires INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX asset_receipts_by_expiry ON asset_receipts (expires);
CREATE INDEX asset_receipts_by_file ON asset_receipts (file);

-- Of the files that a zone's records hold, each counted for each record.
ALTER TABLE zones ADD COLUMN asset_bytes INTEGER NOT NULL DEFAULT 0;
