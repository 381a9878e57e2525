-- What was counted of requests and notices by all processes, for charts and alerts. It names no person.
-- Times are milliseconds since 1970 in UTC; texts are their bytes in UTF-8.

-- One row: under this key users are hashed before they are counted, so that counts of two databases tell nothing
-- about each other. Who adds a minute locks it: two processes add to the same rows.
CREATE TABLE telemetry_key (
    id integer PRIMARY KEY,
    key bigint NOT NULL
);
INSERT INTO telemetry_key
    VALUES (0, ('x' || right(replace(gen_random_uuid()::text, '-', ''), 16))::bit(64)::bigint);

-- What is counted apart; containers by their folded names, and 'other' for all that there was no room for.
CREATE TABLE series (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- 1 requests, 2 the same by version of the client, 3 notices by what carried them
    kind bigint NOT NULL,
    container bytea NOT NULL,
    environment bytea NOT NULL,
    database bytea NOT NULL,
    operation bytea NOT NULL,
    client bytea NOT NULL,
    version bytea NOT NULL,
    UNIQUE (container, environment, kind, operation, database, client, version)
);

-- What was counted of a series in some time: a histogram of latencies, bytes, errors by code, a sketch of how many
-- users had errors.
CREATE TABLE totals (
    series bigint NOT NULL,
    -- How much time a row covers, in seconds: 60, 900 or 21600.
    step bigint NOT NULL,
    start bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (series, step, start)
);
CREATE INDEX totals_by_start ON totals (step, start);

-- How much a container environment held on a day, noted on days on which it was in use.
CREATE TABLE figures (
    container bytea NOT NULL,
    environment bytea NOT NULL,
    -- Days since 1970.
    day bigint NOT NULL,
    records bigint NOT NULL,
    record_bytes bigint NOT NULL,
    assets bigint NOT NULL,
    asset_bytes bigint NOT NULL,
    tombstones bigint NOT NULL,
    users bigint NOT NULL,
    PRIMARY KEY (container, environment, day)
);

-- When somebody is to be told of what was counted.
CREATE TABLE alerts (
    name bytea PRIMARY KEY,
    metric bytea NOT NULL,
    -- Of series; empty for any.
    container bytea NOT NULL,
    environment bytea NOT NULL,
    database bytea NOT NULL,
    operation bytea NOT NULL,
    client bytea NOT NULL,
    code bytea NOT NULL,
    -- 1 above the threshold, 0 below.
    is_above bigint NOT NULL,
    threshold float8 NOT NULL,
    -- 1 where the threshold is a part of what the time before had.
    is_relative bigint NOT NULL,
    minutes bigint NOT NULL,
    -- Empty for none.
    mail bytea NOT NULL,
    url bytea NOT NULL,
    made_at bigint NOT NULL,
    -- When it was last told of; 0 for never.
    told_at bigint NOT NULL,
    -- When its condition was met of which somebody is still to be told; 0 for none.
    due_at bigint NOT NULL,
    -- By what it has been told of that: 1 mail, 2 the URL, 3 both.
    reached bigint NOT NULL
);

-- When a process began to serve, for charts to mark: of a minute once.
CREATE TABLE starts (
    -- Milliseconds since 1970, to the minute.
    minute bigint PRIMARY KEY
);
