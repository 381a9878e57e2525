-- The stores of all container environments. The number of the store is the first column of every table, of its key and
-- of each unique index, and every statement names it: so stores can lie on different machines.
-- A position is a number that a write takes for each change of a store, in commit order, and never again.
-- Texts are bytes: the type text refuses U+0000, and bytes sort as code points do. Times are milliseconds since 1970 in UTC.

-- ---------------------------------------------------------------------------------------------------------------
-- The stores themselves

CREATE TABLE stores (
    -- Chosen at random.
    store bigint PRIMARY KEY,
    -- What the catalog knows it by.
    name bytea NOT NULL UNIQUE,
    -- Empty once the rows of a removed store have gone.
    token_key bytea NOT NULL,
    -- Since when nobody reaches it any more and its rows only wait for being removed; null for a store in use.
    removed_at bigint,
    -- Of a store that was removed with its container, the container; null for one that another took the place of.
    container bytea,
    -- The container environment of a store that the catalog does not name: one that another engine's rows make, and one
    -- that was removed with its container.
    label bytea
);
CREATE UNIQUE INDEX stores_taken ON stores (label)
    WHERE label IS NOT NULL AND removed_at IS NULL;
CREATE INDEX stores_removed ON stores (store) WHERE removed_at IS NOT NULL;

-- Which processes have which stores open.
CREATE TABLE openings (
    store bigint NOT NULL,
    process bytea NOT NULL,
    PRIMARY KEY (store, process)
);

-- One row a store: where it stands. A group of writes locks it first, so that numbers are in the order of commits. No
-- column of it is in an index but the key, and its pages are mostly empty, so that an update leaves indexes alone (HOT).
CREATE TABLE progress (
    store bigint PRIMARY KEY,
    last_position bigint NOT NULL,
    -- Of the schema, and of what is held of it: moves with them, so that readers can keep what they have read.
    schema_revision bigint NOT NULL,
    -- Of the store's lives.
    life_count bigint NOT NULL,
    incarnation bigint NOT NULL,
    -- The cluster of servers and the line of its history that the last write went to: another begins another life.
    cluster bigint NOT NULL,
    timeline bigint NOT NULL,
    -- The next numbers to be given out.
    next_owner bigint NOT NULL,
    next_zone bigint NOT NULL,
    next_record bigint NOT NULL,
    next_type bigint NOT NULL,
    next_role bigint NOT NULL,
    next_work bigint NOT NULL,
    next_share bigint NOT NULL,
    next_request bigint NOT NULL,
    -- Of all subscriptions and destinations.
    subscription_revision bigint NOT NULL DEFAULT 0,
    -- Of who follows, and which versions they want; 0 while nobody ever has.
    follower_revision bigint NOT NULL DEFAULT 0,
    -- How many rows of changes there are.
    changes_kept bigint NOT NULL DEFAULT 0,
    next_destination bigint NOT NULL DEFAULT 1,
    next_notice bigint NOT NULL DEFAULT 1,
    -- Of the indexes, as schema_revision.
    index_revision bigint NOT NULL,
    next_index bigint NOT NULL,
    -- How many commits there have been, of which other processes tell their waiters.
    commit_count bigint NOT NULL DEFAULT 0
) WITH (
    fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_cost_delay = 0
);

-- The last groups of writes that each process has committed. Who has lost the answer to a commit looks here.
CREATE TABLE group_marks (
    store bigint NOT NULL,
    process bytea NOT NULL,
    number bigint NOT NULL,
    committed_at bigint NOT NULL,
    PRIMARY KEY (store, process, number)
);

-- Earlier lives of a store: tokens made in one are good up to its last position.
CREATE TABLE incarnations (
    store bigint NOT NULL,
    number bigint NOT NULL,
    last_position bigint NOT NULL,
    -- When the next life wrote for the first time; null for a life that a restore has ended.
    ended_at bigint,
    PRIMARY KEY (store, number)
);

-- The queue of work that writes leave to be done in steps after them.
CREATE TABLE work (
    store bigint NOT NULL,
    -- The order in which it was asked for.
    work bigint NOT NULL,
    -- 1 to cover the children of a record by the share that covers it, 2 to delete those that referred to a deleted
    -- record, 3 to fill and empty indexes, 4 to remove old rows, 5 to remove unused assets, 6 to tell of requests for access.
    kind bigint NOT NULL,
    -- What takes turns with others of the kind. Of 1 the zone, of 2 the position of the deletion, of 6 the share,
    -- else 0.
    subject bigint NOT NULL,
    -- Of 1 the record, of 2 the zone, else 0.
    item bigint NOT NULL,
    -- Of 2 the name of the deleted record.
    name bytea NOT NULL,
    -- How far it has come: of 1 and 2 the last record that has been looked at.
    cursor bigint NOT NULL DEFAULT 0,
    -- Steps that failed, one after the other, and when the next may be tried.
    failures bigint NOT NULL DEFAULT 0,
    due_at bigint NOT NULL DEFAULT 0,
    -- Who does a step outside of transactions, and until when nobody else may; null for nobody.
    holder bigint,
    held_until bigint,
    PRIMARY KEY (store, work)
);
CREATE UNIQUE INDEX work_by_task ON work (store, kind, subject, item, name);
CREATE INDEX work_in_order ON work (store, kind, subject, work);

-- ---------------------------------------------------------------------------------------------------------------
-- Zones

-- Owners of zones. Owner 0 is the public database.
CREATE TABLE owners (
    store bigint NOT NULL,
    owner bigint NOT NULL,
    record_name bytea NOT NULL,
    used_bytes bigint NOT NULL DEFAULT 0,
    -- Database tokens below this position are too old: zone tombstones after it were collected.
    whole_after bigint NOT NULL DEFAULT 0,
    -- When what groups add was last added here, and up to which group: what later ones add is in recent_sums.
    counted_at bigint NOT NULL DEFAULT 0,
    counted bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (store, owner)
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX owners_by_name ON owners (store, record_name);

-- Zone numbers are never used again, so a zone made anew under an old name is another zone.
CREATE TABLE zones (
    store bigint NOT NULL,
    zone bigint NOT NULL,
    owner bigint NOT NULL,
    name bytea NOT NULL,
    created bigint NOT NULL,
    -- The position of its last change; 0 keeps it out of the database feed, -1 the deleted one whose place a new
    -- zone of its name has taken.
    changed bigint NOT NULL,
    -- Zone tokens below this position are too old: tombstones after it were collected.
    whole_after bigint NOT NULL,
    record_count bigint NOT NULL DEFAULT 0,
    body_bytes bigint NOT NULL DEFAULT 0,
    -- Of the files that the zone's records hold, each counted for each record.
    asset_bytes bigint NOT NULL DEFAULT 0,
    -- When it was deleted; null while it lives.
    deleted_at bigint,
    -- 1 once a deleted zone's records are gone.
    is_purged bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (store, zone)
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX zones_by_name ON zones (store, owner, name) WHERE deleted_at IS NULL;
CREATE INDEX zones_by_change ON zones (store, owner, changed);
CREATE INDEX zones_deleted ON zones (store, deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX zones_to_purge ON zones (store) WHERE deleted_at IS NOT NULL AND is_purged = 0;

-- What groups add to the sums of zones and of their owners and has not been added there yet. While somebody keeps a
-- snapshot open, a row has a version for each of its updates, and each group looks at all of them: so those of zones and
-- owners are written once a second, and a group adds a row here.
CREATE TABLE recent_sums (
    store bigint NOT NULL,
    owner bigint NOT NULL,
    -- The count of commits of the store with it.
    number bigint NOT NULL,
    -- 0 for the bytes of the owner.
    zone bigint NOT NULL,
    changed bigint NOT NULL,
    records bigint NOT NULL,
    bytes bigint NOT NULL,
    asset_bytes bigint NOT NULL,
    PRIMARY KEY (store, owner, number, zone)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

-- Those that wait for being added. Store and owner are those of `owners`, so that who asks for one goes through no other.
CREATE VIEW waiting_sums AS
    SELECT o.store, o.owner, r.number, r.zone, r.changed, r.records, r.bytes, r.asset_bytes
    FROM owners o CROSS JOIN LATERAL (
        SELECT * FROM recent_sums r
        WHERE r.store = o.store AND r.owner = o.owner AND r.number > o.counted OFFSET 0) r;

-- Owners and zones with them.
CREATE VIEW current_owners AS
    SELECT o.store, o.owner, o.record_name, o.used_bytes + w.bytes AS used_bytes, o.whole_after,
        o.counted_at, w.sums AS sums_waiting
    FROM owners o CROSS JOIN LATERAL (
        SELECT count(*) AS sums,
            coalesce(sum(r.bytes) FILTER (WHERE r.zone = 0), 0)::bigint AS bytes
        FROM recent_sums r
        WHERE r.store = o.store AND r.owner = o.owner AND r.number > o.counted) w;
CREATE VIEW current_zones AS
    SELECT z.store, z.zone, z.owner, z.name, z.created,
        CASE WHEN z.deleted_at IS NULL AND z.changed > 0
            THEN greatest(z.changed, w.changed) ELSE z.changed END AS changed,
        z.whole_after, z.record_count + w.records AS record_count,
        z.body_bytes + w.bytes AS body_bytes, z.asset_bytes + w.asset_bytes AS asset_bytes,
        z.deleted_at, z.is_purged
    FROM zones z CROSS JOIN LATERAL (
        SELECT max(r.changed) AS changed, coalesce(sum(r.records), 0)::bigint AS records,
            coalesce(sum(r.bytes), 0)::bigint AS bytes,
            coalesce(sum(r.asset_bytes), 0)::bigint AS asset_bytes
        FROM waiting_sums r
        WHERE r.store = z.store AND r.owner = z.owner AND r.zone = z.zone) w;

-- Data of clients' own that a device left with its last change of a zone, and gets back with the feed.
CREATE TABLE client_tokens (
    store bigint NOT NULL,
    zone bigint NOT NULL,
    user_record_name bytea NOT NULL,
    device bytea NOT NULL,
    data bytea NOT NULL,
    set_at bigint NOT NULL,
    PRIMARY KEY (store, zone, user_record_name, device)
);
CREATE INDEX client_tokens_by_user ON client_tokens (store, user_record_name);

-- ---------------------------------------------------------------------------------------------------------------
-- Records

-- The current version of each record, or its tombstone. The record's number stays when it is saved again, deleted and
-- made anew.
CREATE TABLE records (
    store bigint NOT NULL,
    zone bigint NOT NULL,
    name bytea NOT NULL,
    record bigint NOT NULL,
    position bigint NOT NULL,
    type bigint NOT NULL,
    -- When it was deleted; null while it lives.
    deleted_at bigint,
    -- CRC-32C over zone, record, position, type, flags and body.
    checksum bigint NOT NULL,
    flags smallint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (store, zone, name)
) WITH (fillfactor = 90);
CREATE UNIQUE INDEX records_in_feed ON records (store, zone, position);
CREATE UNIQUE INDEX records_by_number ON records (store, record);
CREATE INDEX records_deleted ON records (store, deleted_at) WHERE deleted_at IS NOT NULL;

-- References that act when their target is deleted, and parents.
CREATE TABLE links (
    store bigint NOT NULL,
    target_zone bigint NOT NULL,
    target_name bytea NOT NULL,
    kind smallint NOT NULL,
    source bigint NOT NULL,
    PRIMARY KEY (store, target_zone, target_name, kind, source)
);
CREATE INDEX links_by_source ON links (store, source, kind);

-- ---------------------------------------------------------------------------------------------------------------
-- The schema

-- A number belongs to its name for ever: deletions in the feeds keep the number of a removed type.
CREATE TABLE record_types (
    store bigint NOT NULL,
    type bigint NOT NULL,
    name bytea NOT NULL,
    is_removed bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (store, type)
);

CREATE TABLE fields (
    store bigint NOT NULL,
    type bigint NOT NULL,
    name bytea NOT NULL,
    value_type bigint NOT NULL,
    -- QUERYABLE 1, SORTABLE 2, SEARCHABLE 4.
    indexes bigint NOT NULL,
    -- The element that a NUMBER field prefers, plus 1; 0 for none.
    preferred bigint NOT NULL,
    PRIMARY KEY (store, type, name)
);

-- Index options of system fields, by their names in the schema language.
CREATE TABLE system_fields (
    store bigint NOT NULL,
    type bigint NOT NULL,
    name bytea NOT NULL,
    indexes bigint NOT NULL,
    PRIMARY KEY (store, type, name)
);

-- Security roles of the container's own; `_world`, `_icloud` and `_creator` are there without a row.
CREATE TABLE roles (
    store bigint NOT NULL,
    role bigint NOT NULL,
    name bytea NOT NULL,
    PRIMARY KEY (store, role)
);

-- What a role may do with records of a type in the public database: READ 1, CREATE 2, WRITE 4.
CREATE TABLE permissions (
    store bigint NOT NULL,
    type bigint NOT NULL,
    role bytea NOT NULL,
    granted bigint NOT NULL,
    PRIMARY KEY (store, type, role)
);

-- Which users have which roles.
CREATE TABLE assigned_roles (
    store bigint NOT NULL,
    user_record_name bytea NOT NULL,
    role bigint NOT NULL,
    PRIMARY KEY (store, user_record_name, role)
);

-- Every change of the schema: who made it, when, and what differs, in the words of `schema diff`.
-- The number is the schema's version.
CREATE TABLE schema_changes (
    store bigint NOT NULL,
    number bigint NOT NULL,
    made_at bigint NOT NULL,
    made_by bytea NOT NULL,
    difference bytea NOT NULL,
    PRIMARY KEY (store, number)
);

-- Types and fields that no save may bring until a moment, while somebody finds out whether they can go.
-- Without a field it is the type itself.
CREATE TABLE held_parts (
    store bigint NOT NULL,
    type_name bytea NOT NULL,
    field bytea NOT NULL,
    held_until bigint NOT NULL,
    PRIMARY KEY (store, type_name, field)
);

-- ---------------------------------------------------------------------------------------------------------------
-- Shares: what is shared, who takes part, what it covers, who sees it

CREATE TABLE shares (
    store bigint NOT NULL,
    share bigint NOT NULL,
    zone bigint NOT NULL,
    -- The share record.
    record bigint NOT NULL,
    -- The root of the tree; null for a share of the whole zone.
    root bigint,
    public_permission bigint NOT NULL,
    created bigint NOT NULL,
    -- The position at which it ended, and when; null while it stands.
    ended bigint,
    ended_at bigint,
    -- 1 when others may ask to take part.
    allows_requests bigint NOT NULL DEFAULT 0,
    -- When its record was last saved anew because of requests; 0 for never.
    requests_told_at bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (store, share)
);
CREATE INDEX shares_by_zone ON shares (store, zone) WHERE ended IS NULL;
CREATE UNIQUE INDEX shares_whole ON shares (store, zone) WHERE ended IS NULL AND root IS NULL;
CREATE UNIQUE INDEX shares_by_root ON shares (store, root) WHERE ended IS NULL AND root IS NOT NULL;
CREATE UNIQUE INDEX shares_by_record ON shares (store, record) WHERE ended IS NULL;
CREATE INDEX shares_ended ON shares (store, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX shares_of_zone ON shares (store, zone);

-- The short identifier of a root or a zone's share: it stays when sharing ends and begins again.
CREATE TABLE short_guids (
    store bigint NOT NULL,
    value bytea NOT NULL,
    record bigint NOT NULL,
    PRIMARY KEY (store, value)
);
CREATE UNIQUE INDEX short_guids_by_record ON short_guids (store, record);

CREATE TABLE participants (
    store bigint NOT NULL,
    share bigint NOT NULL,
    -- A UUID that clients know the participant by.
    id bytea NOT NULL,
    -- Null until the invitation has been matched to a user. A participant without a user and without an address
    -- will be the first who comes by their link.
    user_record_name bytea,
    -- What they were invited by: an e-mail address or a phone number, as compared; null for a name.
    address bytea,
    role bigint NOT NULL,
    permission bigint NOT NULL,
    status bigint NOT NULL,
    -- 1 when they take part because they asked to.
    is_approved_requester bigint NOT NULL,
    PRIMARY KEY (store, share, id)
);
CREATE INDEX participants_by_user ON participants (store, user_record_name)
    WHERE user_record_name IS NOT NULL;
CREATE INDEX participants_by_address ON participants (store, address) WHERE address IS NOT NULL;

-- One row for each request to take part, whether it led to a share or not, and for each user who may not ask.
CREATE TABLE access_requests (
    store bigint NOT NULL,
    request bigint NOT NULL,
    -- 0 where nobody is to see it.
    share bigint NOT NULL,
    user_record_name bytea NOT NULL,
    made_at bigint NOT NULL,
    -- 0 only counts to the user's requests of the day, 1 waits for an answer, 2 the user may not ask.
    state bigint NOT NULL,
    PRIMARY KEY (store, request)
);
CREATE UNIQUE INDEX access_requests_open ON access_requests (store, share, user_record_name)
    WHERE state <> 0;
CREATE INDEX access_requests_by_share ON access_requests (store, share);
CREATE INDEX access_requests_by_user ON access_requests (store, user_record_name, made_at);
CREATE INDEX access_requests_counted ON access_requests (store, made_at) WHERE state = 0;

-- The membership of a record in a share: from `entered`, to `left` once it has gone. As a participant's feed reads it:
-- by the position of the last change that they are to see. Those of an ended share stay as they were when it ended.
CREATE TABLE memberships (
    store bigint NOT NULL,
    share bigint NOT NULL,
    position bigint NOT NULL,
    record bigint NOT NULL,
    -- The position of the record's version.
    version bigint NOT NULL,
    type bigint NOT NULL,
    entered bigint NOT NULL,
    -- The position at which it left the tree: before `position` when the move was large.
    left_through bigint,
    left_at bigint,
    PRIMARY KEY (store, share, position)
);
CREATE INDEX memberships_left ON memberships (store, left_at) WHERE left_at IS NOT NULL;

-- Which share covers a record now, and where that membership lies. Rows of ended shares mean nothing.
CREATE TABLE current_memberships (
    store bigint NOT NULL,
    record bigint NOT NULL,
    share bigint NOT NULL,
    position bigint NOT NULL,
    PRIMARY KEY (store, record)
);
CREATE INDEX current_memberships_by_share ON current_memberships (store, share);

-- Which shares queued work of kind 1 concerns: a share is whole when it has none. `since` is the position at which
-- its records were taken out of it or put into it.
CREATE TABLE share_work_marks (
    store bigint NOT NULL,
    share bigint NOT NULL,
    record bigint NOT NULL,
    since bigint NOT NULL,
    PRIMARY KEY (store, share, record)
);
CREATE INDEX share_work_marks_by_record ON share_work_marks (store, record);

-- What a viewer may see: a share from the position at which they accepted it, to the one at which they lost it.
-- `changed` is the last change of the share that concerns them.
CREATE TABLE grants (
    store bigint NOT NULL,
    viewer bytea NOT NULL,
    zone bigint NOT NULL,
    share bigint NOT NULL,
    permission bigint NOT NULL,
    granted bigint NOT NULL,
    revoked bigint,
    revoked_at bigint,
    changed bigint NOT NULL,
    PRIMARY KEY (store, viewer, share, granted)
);
CREATE INDEX grants_by_change ON grants (store, viewer, zone, changed);
CREATE UNIQUE INDEX grants_by_share ON grants (store, share, viewer) WHERE revoked IS NULL;
CREATE INDEX grants_that_stand ON grants (store, viewer, zone) WHERE revoked IS NULL;
CREATE INDEX grants_of_zone ON grants (store, zone);
CREATE INDEX grants_revoked ON grants (store, revoked_at) WHERE revoked_at IS NOT NULL;

-- A zone as a viewer has it in their shared database: while any share of it is granted to them.
CREATE TABLE views (
    store bigint NOT NULL,
    viewer bytea NOT NULL,
    zone bigint NOT NULL,
    -- The position from which they have seen something of it without a gap: tokens of an earlier time
    -- are of another view.
    since bigint NOT NULL,
    -- The position at which nothing was left to see, and when; null while something is.
    ended bigint,
    ended_at bigint,
    -- Shares that are granted to them now.
    shares_granted bigint NOT NULL,
    -- The last change that concerns them; -1 keeps it out of the database feed.
    changed bigint NOT NULL,
    -- Zone tokens below this position are too old: memberships that ended after it were collected.
    whole_after bigint NOT NULL,
    PRIMARY KEY (store, viewer, zone)
);
CREATE INDEX views_by_change ON views (store, viewer, changed);
CREATE INDEX views_of_zone ON views (store, zone);
CREATE INDEX views_ended ON views (store, ended_at) WHERE ended_at IS NOT NULL;

-- Viewers who had views that are forgotten: database tokens below the position are too old.
CREATE TABLE viewers (
    store bigint NOT NULL,
    name bytea NOT NULL,
    whole_after bigint NOT NULL,
    PRIMARY KEY (store, name)
);

-- ---------------------------------------------------------------------------------------------------------------
-- Assets: the files, by their contents, and what refers to them

-- One file of this store; `references_held` counts the rows of asset_uses.
CREATE TABLE asset_files (
    store bigint NOT NULL,
    -- SHA-256 of the contents.
    digest bytea NOT NULL,
    bytes bigint NOT NULL,
    references_held bigint NOT NULL DEFAULT 0,
    -- Since when nothing refers to it; null while something does.
    unused_since bigint,
    PRIMARY KEY (store, digest)
);
CREATE INDEX asset_files_unused ON asset_files (store, unused_since)
    WHERE unused_since IS NOT NULL;

-- Which record holds which file, a row for each, however many of its fields do.
CREATE TABLE asset_uses (
    store bigint NOT NULL,
    record bigint NOT NULL,
    digest bytea NOT NULL,
    PRIMARY KEY (store, record, digest)
);
CREATE INDEX asset_uses_by_file ON asset_uses (store, digest);

-- Uploads whose receipt can still be used.
CREATE TABLE asset_receipts (
    store bigint NOT NULL,
    id bytea NOT NULL,
    digest bytea NOT NULL,
    -- Who may use it, in which database: a code that only the server can make.
    identity bytea NOT NULL,
    expires bigint NOT NULL,
    PRIMARY KEY (store, id)
);
CREATE INDEX asset_receipts_by_expiry ON asset_receipts (store, expires);
CREATE INDEX asset_receipts_by_file ON asset_receipts (store, digest);

-- ---------------------------------------------------------------------------------------------------------------
-- Notices: who follows all changes, what users wait to hear of, and what waits to be told

-- Readers of all changes, such as what sends notifications, and through which position they have come.
CREATE TABLE followers (
    store bigint NOT NULL,
    name bytea NOT NULL,
    position bigint NOT NULL,
    PRIMARY KEY (store, name)
) WITH (fillfactor = 50);

-- Of which records a follower wants the version before a change.
CREATE TABLE previous_version_needs (
    store bigint NOT NULL,
    follower bytea NOT NULL,
    -- 1 for all zones of an owner, 2 for one zone.
    scope bigint NOT NULL,
    -- The owner or the zone.
    number bigint NOT NULL,
    -- 0 for all types.
    record_type bigint NOT NULL,
    PRIMARY KEY (store, follower, scope, number, record_type)
);

-- The changes of the whole store in commit order; written only while somebody follows.
CREATE TABLE changes (
    store bigint NOT NULL,
    position bigint NOT NULL,
    -- 1 a record saved, 2 a record deleted, 3 a zone made, 4 a zone deleted, 5 the sight of one person
    -- changed, 6 a share ended.
    kind bigint NOT NULL,
    zone bigint NOT NULL,
    -- Of 1 and 2: the record and its type, known also once its version has gone, and 1 where it was there before.
    record bigint,
    record_type bigint,
    was_alive bigint NOT NULL,
    -- Of 5: whose.
    person bytea,
    -- The version before, where somebody wanted it.
    previous_position bigint,
    previous_type bigint,
    previous_flags bigint,
    previous_body bytea,
    -- Who made the change, and by which device; null for the server itself, and for an unknown device.
    author bytea,
    device bytea,
    -- The traceparent of the request that made it.
    trace bytea,
    PRIMARY KEY (store, position)
);
CREATE UNIQUE INDEX changes_by_previous ON changes (store, previous_position)
    WHERE previous_position IS NOT NULL;

-- What users wait to hear of. scope: 0 public, 1 private, 2 shared; kind: 1 query, 2 zone, 3 database;
-- fires_on: 1 create + 2 update + 4 delete. record_type and zone are empty where it is not limited to one.
CREATE TABLE subscriptions (
    store bigint NOT NULL,
    user_record_name bytea NOT NULL,
    scope bigint NOT NULL,
    name bytea NOT NULL,
    kind bigint NOT NULL,
    record_type bytea NOT NULL,
    zone bytea NOT NULL,
    fires_on bigint NOT NULL,
    fires_once bigint NOT NULL,
    query bytea,
    notification_info bytea,
    -- Changes up to here are none of the subscription's: it was made, or last changed, after them.
    since bigint NOT NULL,
    -- Of a query with an EQUALS filter: field and value that a record must have; empty for none.
    match_field bytea NOT NULL,
    match_value bytea NOT NULL,
    PRIMARY KEY (store, user_record_name, scope, name)
);
-- Those of the public database by what a record must have, which may be longer than an entry.
CREATE INDEX subscriptions_public ON subscriptions
    (store, record_type, match_field, sha256(match_value)) WHERE scope = 0;
CREATE INDEX subscriptions_by_name ON subscriptions (store, name, user_record_name, scope);

-- Where notices go: devices and browsers of users, webhooks of the container.
CREATE TABLE destinations (
    store bigint NOT NULL,
    destination bigint NOT NULL,
    -- 1 the web courier, 2 APNs, 3 Web Push, 4 a webhook.
    kind bigint NOT NULL,
    -- What it is found by; of 1 the SHA-256 of the token.
    key bytea NOT NULL,
    -- Whose it is; empty for a webhook.
    user_record_name bytea NOT NULL,
    -- The device that it is; empty where none was named.
    device bytea NOT NULL,
    -- What its sender needs to reach it, as JSON.
    address bytea NOT NULL,
    -- The session that it ends with; null for none.
    session bytea,
    made_at bigint NOT NULL,
    used_at bigint NOT NULL,
    badge bigint NOT NULL DEFAULT 0,
    -- Attempts that failed, one after the other.
    failures bigint NOT NULL DEFAULT 0,
    -- When a sender may try it next; null while nothing waits for it, and for 1.
    due_at bigint,
    PRIMARY KEY (store, destination)
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX destinations_by_key ON destinations (store, kind, sha256(key));
CREATE INDEX destinations_by_user ON destinations (store, user_record_name);
CREATE INDEX destinations_by_due ON destinations (store, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX destinations_by_use ON destinations (store, kind, used_at);

-- Notices that wait, in the order in which each destination gets its own.
CREATE TABLE outbox (
    store bigint NOT NULL,
    notice bigint NOT NULL,
    destination bigint NOT NULL,
    -- What tells repeats from news.
    identifier bytea NOT NULL,
    -- As of subscriptions.
    scope bigint NOT NULL,
    -- What is asked again before it is sent: the shared zone or the public record's type that it tells of,
    -- and whether the user made the record.
    zone bigint,
    record_type bigint,
    is_own bigint NOT NULL,
    -- A later notice of the same key takes this one's place.
    merge_key bytea,
    collapse_id bytea,
    payload bytea NOT NULL,
    made_at bigint NOT NULL,
    -- Of webhooks: the traceparent of the request that made the change.
    trace bytea,
    PRIMARY KEY (store, notice)
);
CREATE INDEX outbox_by_destination ON outbox (store, destination, notice);
CREATE UNIQUE INDEX outbox_by_merge ON outbox (store, destination, sha256(merge_key))
    WHERE merge_key IS NOT NULL;

-- Notices that were given up.
CREATE TABLE dead_letters (
    store bigint NOT NULL,
    -- As in the outbox.
    notice bigint NOT NULL,
    destination bigint NOT NULL,
    identifier bytea NOT NULL,
    scope bigint NOT NULL,
    zone bigint,
    record_type bigint,
    is_own bigint NOT NULL,
    collapse_id bytea,
    payload bytea NOT NULL,
    made_at bigint NOT NULL,
    trace bytea,
    reason bytea NOT NULL,
    died_at bigint NOT NULL,
    PRIMARY KEY (store, notice)
);
CREATE INDEX dead_letters_by_destination ON dead_letters (store, destination, notice);

-- ---------------------------------------------------------------------------------------------------------------
-- Indexes: what queries find records by

-- One index over a field of a record type. Each is made when a query first needs it.
CREATE TABLE indexes (
    store bigint NOT NULL,
    index bigint NOT NULL,
    type bigint NOT NULL,
    -- The field's name, or the system field's in the schema language.
    field bytea NOT NULL,
    -- 1 values, 2 texts without regard to case, 3 words, 4 locations.
    kind smallint NOT NULL,
    -- 0 is being filled, 1 is whole, 2 is being emptied.
    state smallint NOT NULL,
    -- While it is being filled: the last record that it already holds.
    filled_through bigint NOT NULL,
    PRIMARY KEY (store, index)
);

-- What indexes of values say. A value is bytes that lie in the order of values: numbers, then texts, of which at most
-- 500 bytes count; a query looks at the record where that is not enough. Records without a value stand under the
-- number of the index turned round.
CREATE TABLE index_values (
    store bigint NOT NULL,
    index bigint NOT NULL,
    zone bigint NOT NULL,
    value bytea NOT NULL,
    record bigint NOT NULL,
    PRIMARY KEY (store, index, zone, value, record)
);

-- Which words records have: at most 64 bytes of each.
CREATE TABLE index_words (
    store bigint NOT NULL,
    index bigint NOT NULL,
    zone bigint NOT NULL,
    word bytea NOT NULL,
    record bigint NOT NULL,
    PRIMARY KEY (store, index, zone, word, record)
);

-- Where records are, in degrees, and in which cell of the globe. Cells that lie together have numbers that do.
CREATE TABLE index_locations (
    store bigint NOT NULL,
    index bigint NOT NULL,
    zone bigint NOT NULL,
    cell bigint NOT NULL,
    record bigint NOT NULL,
    latitude float8 NOT NULL,
    longitude float8 NOT NULL,
    PRIMARY KEY (store, index, zone, cell, record)
);

-- ---------------------------------------------------------------------------------------------------------------
-- Several processes

-- Who does the steps of what one process does at a time, for as long as that process lives. Each time that another takes
-- it over, the number is greater, and every step checks it: so one who was stopped, and does not know that it has lost the
-- lease, does nothing. So are removals of files (`file …`) and copies that are under way (`image …`) held by one process.
CREATE TABLE leases (
    -- Or 0: of what one process does for all stores.
    store bigint NOT NULL,
    name bytea NOT NULL,
    number bigint NOT NULL,
    -- A process, or nothing.
    holder bytea NOT NULL,
    -- When it ends by itself; the last number for one that lasts as long as its holder.
    ends_at bigint NOT NULL DEFAULT 9223372036854775807,
    PRIMARY KEY (store, name)
) WITH (fillfactor = 50);
