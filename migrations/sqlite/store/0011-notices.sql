-- Who is to be told of what, and what waits to be told.

-- Where notices go: devices and browsers of users, webhooks of the container.
CREATE TABLE destinations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- 1 the web courier, 2 APNs, 3 Web Push, 4 a webhook.
    kind INTEGER NOT NULL,
    -- What it is found by; of 1 the SHA-256 of the token.
    key BLOB NOT NULL,
    -- Whose it is; empty for a webhook.
    user_record_name TEXT NOT NULL,
    -- The device that it is; empty where none was named.
    device TEXT NOT NULL,
    -- What its sender needs to reach it, as JSON.
    address BLOB NOT NULL,
    -- The session that it ends with; NULL for none.
    session BLOB,
    made_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    badge INTEGER NOT NULL DEFAULT 0,
    -- Attempts that failed, one after the other.
    failures INTEGER NOT NULL DEFAULT 0,
    -- When a sender may try it next; NULL while nothing waits for it, and for 1.
    due_at INTEGER
);
CREATE UNIQUE INDEX destinations_by_key ON destinations (kind, key);
CREATE INDEX destinations_by_user ON destinations (user_record_name);
CREATE INDEX destinations_by_due ON destinations (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX destinations_by_use ON destinations (kind, used_at);

-- Notices that wait, in the order in which each destination gets its own.
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    destination INTEGER NOT NULL,
    -- What tells repeats from news.
    identifier TEXT NOT NULL,
    -- As of subscriptions.
    scope INTEGER NOT NULL,
    -- What is asked again before it is sent: the shared zone or the public record's type that it tells of,
    -- and whether the user made the record.
    zone INTEGER,
    record_type INTEGER,
    is_own INTEGER NOT NULL,
    -- A later notice of the same key takes this one's place.
    merge_key BLOB,
    collapse_id TEXT,
    payload BLOB NOT NULL,
    made_at INTEGER NOT NULL
);
CREATE INDEX outbox_by_destination ON outbox (destination, id);
CREATE UNIQUE INDEX outbox_by_merge ON outbox (destination, merge_key)
    WHERE merge_key IS NOT NULL;

-- Notices that were given up.
CREATE TABLE dead_letters (
    -- As in the outbox.
    id INTEGER PRIMARY KEY,
    destination INTEGER NOT NULL,
    identifier TEXT NOT NULL,
    scope INTEGER NOT NULL,
    zone INTEGER,
    record_type INTEGER,
    is_own INTEGER NOT NULL,
    collapse_id TEXT,
    payload BLOB NOT NULL,
    made_at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    died_at INTEGER NOT NULL
);
CREATE INDEX dead_letters_by_destination ON dead_letters (destination, id);

-- Changes up to here are none of a subscription's: it was made, or last changed, after them.
ALTER TABLE subscriptions ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
-- Of a query with an EQUALS filter: field and value that a record must have; empty for none.
ALTER TABLE subscriptions ADD COLUMN match_field TEXT NOT NULL DEFAULT '';
ALTER TABLE subscriptions ADD COLUMN match_value BLOB NOT NULL DEFAULT x'';
-- Those of the public database by what a record must have.
CREATE INDEX subscriptions_public ON subscriptions (record_type, match_field, match_value)
    WHERE scope = 0;
CREATE INDEX subscriptions_by_scope ON subscriptions (scope, user_record_name);
-- Moves with every change of a subscription or a destination.
ALTER TABLE progress ADD COLUMN subscription_revision INTEGER NOT NULL DEFAULT 0;

-- What a change did, known also once its version has gone.
ALTER TABLE changes ADD COLUMN record_type INTEGER;
-- 1 where the record was there before.
ALTER TABLE changes ADD COLUMN was_alive INTEGER NOT NULL DEFAULT 0;
-- Who made the change, and by which device; NULL for the server itself, and for an unknown device.
ALTER TABLE changes ADD COLUMN author TEXT;
ALTER TABLE changes ADD COLUMN device TEXT;

-- Subscriptions that were made before anything was told: from now on somebody follows.
INSERT INTO followers (name, position)
    SELECT 'notices', last_position FROM progress
    WHERE EXISTS (SELECT 1 FROM subscriptions);
UPDATE subscriptions SET since = coalesce((SELECT max(last_position) FROM progress), 0);
INSERT OR IGNORE INTO former_wanted (follower, place, number, record_type)
    SELECT 'notices', 1, CASE s.scope WHEN 0 THEN 0 ELSE o.id END, 0
    FROM subscriptions s LEFT JOIN owners o ON s.scope = 1 AND o.record_name = s.user_record_name
    WHERE s.kind = 1 AND (s.scope = 0 OR o.id IS NOT NULL);
