-- What happened on all processes: the lines of requests, and the audit log.
-- Times are milliseconds since 1970 in UTC; texts are their bytes in UTF-8.

-- Lines of requests, as processes store them: those of a second together.
CREATE TABLE request_segments (
    -- The time at which it was stored, times 256, or one more than that of the segment before.
    number bigint PRIMARY KEY,
    -- Hashes of the users and devices whose lines it has.
    keys bigint[] NOT NULL,
    -- The form of a segment in a data folder.
    body bytea NOT NULL
);
CREATE INDEX request_segments_by_key ON request_segments USING gin (keys);

-- The audit log: lines as in its file, without their ends, each with the digest of the one before.
CREATE TABLE audit_lines (
    -- From 1 on, without a gap.
    number bigint PRIMARY KEY,
    line bytea NOT NULL
);

-- By what a search finds a line: hashes of how its parts begin.
CREATE TABLE audit_terms (
    term bigint NOT NULL,
    number bigint NOT NULL,
    PRIMARY KEY (term, number)
);

-- Who was erased: lines as in the ledgers of data folders, which take over those that they lack.
CREATE TABLE erasures (
    line bytea PRIMARY KEY
);
