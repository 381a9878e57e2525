-- What was counted of requests and notices, for charts and alerts. It names no person.
-- Times are milliseconds since 1970 in UTC.

-- One row: under this key users are hashed before they are counted, so that counts of two servers tell nothing
-- about each other.
CREATE TABLE telemetry_key (
    id INTEGER PRIMARY KEY,
    key INTEGER NOT NULL
);
INSERT INTO telemetry_key VALUES (0, random());

-- What is counted apart; containers by their folded names, and 'other' for all that there was no room for.
CREATE TABLE series (
    id INTEGER PRIMARY KEY,
    -- 1 requests, 2 the same by version of the client, 3 notices by what carried them
    kind INTEGER NOT NULL,
    container TEXT NOT NULL,
    environment TEXT NOT NULL,
    database TEXT NOT NULL,
    operation TEXT NOT NULL,
    client TEXT NOT NULL,
    version TEXT NOT NULL
);
CREATE UNIQUE INDEX series_by_name
    ON series (container, environment, kind, operation, database, client, version);

-- What was counted of a series in some time: a histogram of latencies, bytes, errors by code, a sketch of how many
-- users had errors.
CREATE TABLE totals (
    -- How much time a row covers, in seconds: 60, 900 or 21600.
    step INTEGER NOT NULL,
    start INTEGER NOT NULL,
    series INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (step, start, series)
) WITHOUT ROWID;

-- How much a container environment held on a day, noted on days on which it was in use.
CREATE TABLE figures (
    container TEXT NOT NULL,
    environment TEXT NOT NULL,
    -- Days since 1970.
    day INTEGER NOT NULL,
    records INTEGER NOT NULL,
    record_bytes INTEGER NOT NULL,
    assets INTEGER NOT NULL,
    asset_bytes INTEGER NOT NULL,
    tombstones INTEGER NOT NULL,
    users INTEGER NOT NULL,
    PRIMARY KEY (container, environment, day)
) WITHOUT ROWID;

-- When somebody is to be told of what was counted.
CREATE TABLE alerts (
    name TEXT PRIMARY KEY,
    metric TEXT NOT NULL,
    -- Of series; empty for any.
    container TEXT NOT NULL,
    environment TEXT NOT NULL,
    database TEXT NOT NULL,
    operation TEXT NOT NULL,
    client TEXT NOT NULL,
    code TEXT NOT NULL,
    -- 1 above the threshold, 0 below.
    is_above INTEGER NOT NULL,
    threshold REAL NOT NULL,
    -- 1 where the threshold is a part of what the time before had.
    is_relative INTEGER NOT NULL,
    minutes INTEGER NOT NULL,
    -- Empty for none.
    mail TEXT NOT NULL,
    url TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    -- When it was last told of; 0 for never.
    told_at INTEGER NOT NULL,
    -- When its condition was met of which somebody is still to be told; 0 for none.
    due_at INTEGER NOT NULL,
    -- By what it has been told of that: 1 mail, 2 the URL, 3 both.
    reached INTEGER NOT NULL
) WITHOUT ROWID;

-- When the server began to serve, for charts to mark: of a minute once.
CREATE TABLE starts (
    -- Milliseconds since 1970, to the minute.
    minute INTEGER PRIMARY KEY
);
