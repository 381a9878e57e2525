-- One container environment: its public database and every private one.
-- A position is a number that the writer takes for each change, in commit order, and never again.
-- Times are milliseconds since 1970 in UTC.

-- ---------------------------------------------------------------------------------------------------------------
-- The store itself

-- What the store knows of itself: its incarnation, its token key, its name in the catalog, the key of its name hashes.
CREATE TABLE properties (
    name TEXT PRIMARY KEY,
    value NOT NULL
) WITHOUT ROWID;

-- Earlier lives of this store: tokens made in one are good up to its last position.
CREATE TABLE incarnations (
    number INTEGER PRIMARY KEY,
    last_position INTEGER NOT NULL,
    -- When the next life wrote for the first time; NULL for a life that a restore has ended.
    ended_at INTEGER,
    -- The last position that this life had acknowledged, where the file had fallen behind that; else NULL.
    lost_through INTEGER
);

-- One row: where the store stands. Each number moves when what it stands for does, so that readers can keep what
-- they have read.
CREATE TABLE progress (
    id INTEGER PRIMARY KEY,
    -- Written by each group that takes a position, in its own transaction. So what a lost part of the store gave out
    -- is told from what it gave out itself.
    last_position INTEGER NOT NULL,
    -- Of the schema, and of what is held of it.
    schema_revision INTEGER NOT NULL,
    -- Of the store's lives.
    life_count INTEGER NOT NULL,
    -- Of all subscriptions and destinations.
    subscription_revision INTEGER NOT NULL,
    -- The names of the records up to this one are in `names`; those of later ones wait.
    names_through INTEGER NOT NULL
);
INSERT INTO progress VALUES (0, 0, 0, 0, 0, 0);

-- The queue of work that writes leave to be done in steps after them.
CREATE TABLE work (
    -- The order in which it was asked for.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- 1 to cover the children of a record by the share that covers it, 2 to delete those that referred to a deleted
    -- record, 3 to fill, empty and order indexes, 4 to remove old rows, 5 to remove unused assets, 6 to tell of
    -- requests for access, 7 to put names in order, 9 to write entries of indexes that were left for later.
    kind INTEGER NOT NULL,
    -- What takes turns with others of the kind. Of 1 the zone, of 2 the position of the deletion, of 6 the share,
    -- else 0.
    subject INTEGER NOT NULL,
    -- Of 1 the record, of 2 the zone, else 0.
    item INTEGER NOT NULL,
    -- Of 2 the name of the deleted record.
    name TEXT NOT NULL,
    -- How far it has come: of 1 and 2 the last record that has been looked at.
    cursor INTEGER NOT NULL DEFAULT 0,
    -- Steps that failed, one after the other, and when the next may be tried.
    failures INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL DEFAULT 0,
    -- Who does a step outside of transactions, and until when nobody else may; NULL for nobody.
    holder INTEGER,
    held_until INTEGER
);
CREATE UNIQUE INDEX work_by_task ON work (kind, subject, item, name);
CREATE INDEX work_in_order ON work (kind, subject, id);
CREATE INDEX work_held ON work (kind, subject) WHERE holder IS NOT NULL;

-- ---------------------------------------------------------------------------------------------------------------
-- Zones

-- Owners of zones. Owner 0 is the public database.
CREATE TABLE owners (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    record_name TEXT NOT NULL UNIQUE,
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
    -- The position of its last change; 0 keeps it out of the database feed, -1 the deleted one whose place a new
    -- zone of its name has taken.
    changed INTEGER NOT NULL,
    -- Zone tokens below this position are too old: tombstones after it were collected.
    whole_after INTEGER NOT NULL,
    record_count INTEGER NOT NULL DEFAULT 0,
    body_bytes INTEGER NOT NULL DEFAULT 0,
    -- Of the files that the zone's records hold, each counted for each record.
    asset_bytes INTEGER NOT NULL DEFAULT 0,
    -- When it was deleted; NULL while it lives.
    deleted_at INTEGER,
    -- 1 once a deleted zone's records are gone.
    is_purged INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX zones_by_name ON zones (owner, name) WHERE deleted_at IS NULL;
CREATE INDEX zones_by_change ON zones (owner, changed);
CREATE INDEX zones_deleted ON zones (deleted_at) WHERE deleted_at IS NOT NULL;
-- A zone that is made takes the place of a deleted one in its owner's feed, which is found by its name.
CREATE INDEX zones_gone ON zones (owner, name) WHERE deleted_at IS NOT NULL AND changed >= 0;

-- Data of clients' own that a device left with its last change of a zone, and gets back with the feed.
CREATE TABLE client_tokens (
    zone INTEGER NOT NULL,
    user_record_name TEXT NOT NULL,
    device TEXT NOT NULL,
    data BLOB NOT NULL,
    set_at INTEGER NOT NULL,
    PRIMARY KEY (zone, user_record_name, device)
) WITHOUT ROWID;

-- ---------------------------------------------------------------------------------------------------------------
-- Records

-- The record id stays when the record is saved again, deleted and made anew.
CREATE TABLE heads (
    id INTEGER PRIMARY KEY,
    zone INTEGER NOT NULL,
    name TEXT NOT NULL,
    position INTEGER NOT NULL
);

-- Leads from the keyed hash of a zone and a name to the record; its head says whether it is of that name. The latest
-- names wait until queued work brings them in, in order of the hash: each alone would dirty a page of its own.
CREATE TABLE names (
    hash INTEGER NOT NULL,
    record INTEGER NOT NULL,
    PRIMARY KEY (hash, record)
) WITHOUT ROWID;

-- The current version of each record, or its tombstone, clustered as the zone's feed reads it: without what every
-- record of a zone repeats, with a sum over all of it (docs/design/version-rows.md).
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

-- ---------------------------------------------------------------------------------------------------------------
-- The schema

-- A number belongs to its name for ever: deletions in the feeds keep the number of a removed type.
CREATE TABLE record_types (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    is_removed INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE fields (
    record_type INTEGER NOT NULL,
    name TEXT NOT NULL,
    value_type INTEGER NOT NULL,
    -- QUERYABLE 1, SORTABLE 2, SEARCHABLE 4.
    indexes INTEGER NOT NULL,
    -- The element that a NUMBER field prefers, plus 1; 0 for none.
    preferred INTEGER NOT NULL,
    PRIMARY KEY (record_type, name)
) WITHOUT ROWID;

-- Index options of system fields, by their names in the schema language.
CREATE TABLE system_fields (
    record_type INTEGER NOT NULL,
    name TEXT NOT NULL,
    indexes INTEGER NOT NULL,
    PRIMARY KEY (record_type, name)
) WITHOUT ROWID;

-- Security roles of the container's own; `_world`, `_icloud` and `_creator` are there without a row.
CREATE TABLE roles (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    -- 1 once the schema has it no more: the row stays, under another name, until nobody has the role.
    is_removed INTEGER NOT NULL DEFAULT 0
);

-- What a role may do with records of a type in the public database: READ 1, CREATE 2, WRITE 4.
CREATE TABLE permissions (
    record_type INTEGER NOT NULL,
    role TEXT NOT NULL,
    granted INTEGER NOT NULL,
    PRIMARY KEY (record_type, role)
) WITHOUT ROWID;

-- Which users have which roles.
CREATE TABLE assigned_roles (
    user_record_name TEXT NOT NULL,
    role INTEGER NOT NULL,
    PRIMARY KEY (user_record_name, role)
) WITHOUT ROWID;
CREATE INDEX assigned_roles_by_role ON assigned_roles (role);

-- Every change of the schema: who made it, when, and what differs, in the words of `schema diff`.
-- The number is the schema's version.
CREATE TABLE schema_changes (
    number INTEGER PRIMARY KEY,
    made_at INTEGER NOT NULL,
    made_by TEXT NOT NULL,
    difference TEXT NOT NULL
);

-- Types and fields that no save may bring until a moment, while somebody finds out whether they can go.
-- Without a field it is the type itself.
CREATE TABLE held_parts (
    record_type TEXT NOT NULL,
    field TEXT NOT NULL,
    held_until INTEGER NOT NULL,
    PRIMARY KEY (record_type, field)
) WITHOUT ROWID;

-- The type that every container has: one record for each user, whose `roles` (a list of INT64) shows
-- what `assigned_roles` holds. Everybody reads it, the user changes his own.
INSERT INTO record_types (id, name) VALUES (1, 'Users');
INSERT INTO fields VALUES (1, 'roles', 257, 0, 0);
INSERT INTO permissions VALUES (1, '_world', 1), (1, '_creator', 4);
-- The type of shares, which every container has too; what may be done with them is no matter of roles.
INSERT INTO record_types (id, name) VALUES (2, 'cloudkit.share');

-- ---------------------------------------------------------------------------------------------------------------
-- Indexes

-- One index over a field of a record type. Kinds: 1 values as compared and sorted, 2 text without
-- regard to case, 3 words, 4 locations. It holds the records up to `filled_through`, or all when it is
-- whole: later ones come by the filling, in the order of record ids. One that is leaving is emptied
-- from there downwards. Numbers are never used again.
CREATE TABLE indexes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    record_type INTEGER NOT NULL,
    field TEXT NOT NULL,
    kind INTEGER NOT NULL,
    -- 0 being filled, 1 whole, 2 leaving.
    state INTEGER NOT NULL,
    filled_through INTEGER NOT NULL,
    UNIQUE (record_type, field, kind)
);

-- Of kinds 1 and 2: one row for a scalar, one for each different member of a list; long text is cut.
-- Records without a value (of kinds 1 and 4, which sort) stand under the index's negative number.
CREATE TABLE index_values (
    field INTEGER NOT NULL,
    zone INTEGER NOT NULL,
    value NOT NULL,
    record INTEGER NOT NULL,
    PRIMARY KEY (field, zone, value, record)
) WITHOUT ROWID;

-- The latest entries, few enough to stay in memory: in the order of `index_values` each would dirty a page of its own.
-- Queued work moves them there, in their order. An entry is in one of the two tables.
CREATE TABLE new_index_values (
    field INTEGER NOT NULL,
    zone INTEGER NOT NULL,
    value NOT NULL,
    record INTEGER NOT NULL,
    PRIMARY KEY (field, zone, value, record)
) WITHOUT ROWID;

-- Entries that have gone, few enough as well. An entry here is in `index_values` too, and counts as being in neither.
-- Queued work takes it out of both, in their order.
CREATE TABLE gone_index_values (
    field INTEGER NOT NULL,
    zone INTEGER NOT NULL,
    value NOT NULL,
    record INTEGER NOT NULL,
    PRIMARY KEY (field, zone, value, record)
) WITHOUT ROWID;

-- Of kind 3. Its row ids are index << 43 | record; a term is index, x, zone, x and the word, so that
-- a search meets nobody else's words. It keeps no text: who deletes a row says what was in it.
CREATE VIRTUAL TABLE index_words USING fts5 (
    terms, content = '', columnsize = 0, detail = none,
    tokenize = "unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
);

-- How many records have each term; holds nothing itself.
CREATE VIRTUAL TABLE index_terms USING fts5vocab ('index_words', 'row');

-- Of kind 4. Ids as above; zone and index are dimensions, so that a search meets only its own locations. An
-- entry reaches from its zone's number to the next: boxes without width would all have the volume 0, by
-- which the tree could not tell near from far.
CREATE VIRTUAL TABLE index_locations USING rtree (
    id, south, north, west, east, zone_from, zone_through, index_from, index_through,
    +zone, +latitude, +longitude
);

-- What a write leaves of indexes for later: entries of records that have many. Queued work of kind 9 writes them in
-- steps, and what needs them waits.
-- One row for a record in an index. What the index has of the record are the entries of a previous body, from
-- `previous_from` up to `previous_through` (-1 for all), or else the first `come` entries of the present one. Its previous
-- entries go first, and then its own come.
CREATE TABLE late_entries (
    zone INTEGER NOT NULL,
    field INTEGER NOT NULL,
    record INTEGER NOT NULL,
    -- In `late_bodies`; null for none.
    previous INTEGER,
    previous_from INTEGER NOT NULL DEFAULT 0,
    previous_through INTEGER NOT NULL DEFAULT -1,
    come INTEGER NOT NULL DEFAULT 0,
    -- Whether queries wait for it: not for what is left of a record that is gone.
    is_awaited INTEGER NOT NULL,
    PRIMARY KEY (zone, field, record)
) WITHOUT ROWID;
CREATE INDEX awaited_entries ON late_entries (zone, field) WHERE is_awaited;
CREATE INDEX late_entries_by_previous ON late_entries (previous) WHERE previous IS NOT NULL;

-- Bodies of which indexes still have entries.
CREATE TABLE late_bodies (
    id INTEGER PRIMARY KEY,
    body BLOB NOT NULL
);

-- ---------------------------------------------------------------------------------------------------------------
-- Shares: who takes part in them, which records each covers, and what viewers have been granted

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
    ended_at INTEGER,
    -- Whether others may ask to take part, and when the share's record last changed because somebody had.
    allows_requests INTEGER NOT NULL DEFAULT 0,
    requests_told_at INTEGER NOT NULL DEFAULT 0
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
    -- NULL until the invitation has been matched to a user. A participant without a user and without an address
    -- will be whoever comes first by their link.
    user_record_name TEXT,
    -- What they were invited by: an e-mail address or a phone number, as compared; NULL for a name.
    address TEXT,
    role INTEGER NOT NULL,
    permission INTEGER NOT NULL,
    status INTEGER NOT NULL,
    -- Whether they take part because they asked to.
    is_approved_requester INTEGER NOT NULL,
    PRIMARY KEY (share, id)
) WITHOUT ROWID;
CREATE INDEX participants_by_user ON participants (user_record_name)
    WHERE user_record_name IS NOT NULL;
CREATE INDEX participants_by_address ON participants (address) WHERE address IS NOT NULL;

-- One row for each request to take part, whether it led to a share or not, and for each user who may not ask.
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

-- The membership of a record in a share: from `entered`, to `left` once it has gone. Clustered as a
-- participant's feed reads it: by the position of the last change that they are to see. Those of an
-- ended share stay as they were when it ended.
CREATE TABLE memberships (
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
CREATE INDEX memberships_left ON memberships (left_at) WHERE left_at IS NOT NULL;

-- Which share covers a record now, and where that membership lies. Rows of ended shares mean nothing.
CREATE TABLE current_memberships (
    record INTEGER PRIMARY KEY,
    share INTEGER NOT NULL,
    position INTEGER NOT NULL
);
CREATE INDEX current_memberships_by_share ON current_memberships (share);

-- Which shares queued work of kind 1 concerns: a share is whole when it has none. `since` is the position at which
-- its records were taken out of it or put into it.
CREATE TABLE share_work_marks (
    share INTEGER NOT NULL,
    record INTEGER NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (share, record)
) WITHOUT ROWID;
CREATE INDEX share_work_marks_by_record ON share_work_marks (record);

-- What a viewer may see: a share from the position at which they accepted it, to the one at which they
-- lost it. `changed` is the last change of the share that concerns them.
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

-- A zone as a viewer has it in their shared database: while any share of it is granted to them.
CREATE TABLE views (
    viewer TEXT NOT NULL,
    zone INTEGER NOT NULL,
    -- The position from which they have seen something of it without a gap: tokens of an earlier time
    -- are of another view.
    since INTEGER NOT NULL,
    -- The position at which nothing was left to see, and when; NULL while something is.
    ended INTEGER,
    ended_at INTEGER,
    -- Shares that are granted to them now.
    shares_granted INTEGER NOT NULL,
    -- The last change that concerns them; -1 keeps it out of the database feed.
    changed INTEGER NOT NULL,
    -- Zone tokens below this position are too old: memberships that ended after it were collected.
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

-- ---------------------------------------------------------------------------------------------------------------
-- Assets: the files, by their contents, and what refers to them

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

-- ---------------------------------------------------------------------------------------------------------------
-- Notices: who follows all changes, what users wait to hear of, and what waits to be told

-- Readers of all changes, such as what sends notifications, and through which position they have come.
CREATE TABLE followers (
    name TEXT PRIMARY KEY,
    position INTEGER NOT NULL
) WITHOUT ROWID;

-- Of which records a follower wants the version before a change.
CREATE TABLE previous_version_needs (
    follower TEXT NOT NULL,
    -- 1 for all zones of an owner, 2 for one zone.
    scope INTEGER NOT NULL,
    -- The owner or the zone.
    number INTEGER NOT NULL,
    -- 0 for all types.
    record_type INTEGER NOT NULL,
    PRIMARY KEY (follower, scope, number, record_type)
) WITHOUT ROWID;

-- The changes of the whole store in commit order; written only while somebody follows.
CREATE TABLE changes (
    position INTEGER PRIMARY KEY,
    -- 1 a record saved, 2 a record deleted, 3 a zone made, 4 a zone deleted, 5 the sight of one person
    -- changed, 6 a share ended.
    kind INTEGER NOT NULL,
    zone INTEGER NOT NULL,
    -- Of 1 and 2: the record and its type, known also once its version has gone, and 1 where it was there before.
    record INTEGER,
    record_type INTEGER,
    was_alive INTEGER NOT NULL,
    -- Of 5: whose.
    person TEXT,
    -- The version before, where somebody wanted it.
    previous_position INTEGER,
    previous_type INTEGER,
    previous_flags INTEGER,
    previous_body BLOB,
    -- Who made the change, and by which device; NULL for the server itself, and for an unknown device.
    author TEXT,
    device TEXT,
    -- The traceparent of the request that made it.
    trace TEXT
);
CREATE UNIQUE INDEX changes_by_previous ON changes (previous_position)
    WHERE previous_position IS NOT NULL;

-- What users wait to hear of. scope: 0 public, 1 private, 2 shared; kind: 1 query, 2 zone, 3 database;
-- fires_on: 1 create + 2 update + 4 delete. record_type and zone are empty where it is not limited to one.
CREATE TABLE subscriptions (
    user_record_name TEXT NOT NULL,
    scope INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind INTEGER NOT NULL,
    record_type TEXT NOT NULL,
    zone TEXT NOT NULL,
    fires_on INTEGER NOT NULL,
    fires_once INTEGER NOT NULL,
    query BLOB,
    notification_info BLOB,
    -- Changes up to here are none of the subscription's: it was made, or last changed, after them.
    since INTEGER NOT NULL,
    -- Of a query with an EQUALS filter: field and value that a record must have; empty for none.
    match_field TEXT NOT NULL,
    match_value BLOB NOT NULL,
    PRIMARY KEY (user_record_name, scope, name)
) WITHOUT ROWID;
-- Those of the public database by what a record must have.
CREATE INDEX subscriptions_public ON subscriptions (record_type, match_field, match_value)
    WHERE scope = 0;
CREATE INDEX subscriptions_by_scope ON subscriptions (scope, user_record_name);
CREATE INDEX subscriptions_by_name ON subscriptions (name, user_record_name, scope);

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
    made_at INTEGER NOT NULL,
    -- Of webhooks: the traceparent of the request that made the change.
    trace TEXT
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
    trace TEXT,
    reason TEXT NOT NULL,
    died_at INTEGER NOT NULL
);
CREATE INDEX dead_letters_by_destination ON dead_letters (destination, id);
