-- People who ask to take part in a share.

-- Whether others may ask, and when the share's record last changed because somebody had.
ALTER TABLE shares ADD COLUMN allows_requests INTEGER NOT NULL DEFAULT 0;
ALTER TABLE shares ADD COLUMN requests_told_at INTEGER NOT NULL DEFAULT 0;

-- Whether he takes part because he asked to. A participant without a user and without an address will be
-- whoever comes first by his link.
ALTER TABLE participants ADD COLUMN is_approved_requester INTEGER NOT NULL DEFAULT 0;

-- One row for each request, whether it led to a share or not, and for each user who may not ask.
CREATE TABLE access_requests (
    id INTEGER PRIMARY KEY,
    -- 0 where nobody is to see it.
    share INTEGER NOT NULL,
    user_record_name TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    -- 0 only counts to the user's requests of the day, 1 waits for an answer, 2 the user may not ask.
    state INTEGER NOT NULL
);
CREATE UNIQUE INDEX access_requests_open ON access_requests (share, user_record_name)
    WHERE state <> 0;
CREATE INDEX access_requests_by_share ON access_requests (share);
CREATE INDEX access_requests_by_user ON access_requests (user_record_name, made_at);
CREATE INDEX access_requests_counted ON access_requests (made_at) WHERE state = 0;
