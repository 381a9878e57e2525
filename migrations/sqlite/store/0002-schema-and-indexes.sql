-- The schema whole: index options, roles and grants, history; and the indexes that queries use.

-- QUERYABLE 1, SORTABLE 2, SEARCHABLE 4. Fields made before this file have all that their type may
-- have, as fields made on the fly do.
ALTER TABLE fields ADD COLUMN indexes INTEGER NOT NULL DEFAULT 7;
-- The element that a NUMBER field prefers, plus 1; 0 for none.
ALTER TABLE fields ADD COLUMN preferred INTEGER NOT NULL DEFAULT 0;

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
INSERT INTO permissions SELECT id, '_world', 1 FROM record_types;
INSERT INTO permissions SELECT id, '_icloud', 2 FROM record_types;
INSERT INTO permissions SELECT id, '_creator', 4 FROM record_types;

-- The type that every container has: one record for each user, whose `roles` (a list of INT64) shows
-- what `assigned_roles` holds. Everybody reads it, the user changes his own.
INSERT INTO record_types (name) VALUES ('Users');
INSERT INTO fields (record_type, name, value_type, indexes)
    SELECT id, 'roles', 257, 0 FROM record_types WHERE name = 'Users';
INSERT INTO permissions SELECT id, '_world', 1 FROM record_types WHERE name = 'Users';
INSERT INTO permissions SELECT id, '_creator', 4 FROM record_types WHERE name = 'Users';

-- The type of shares, which every container has too; what may be done with them is no matter of roles.
INSERT OR IGNORE INTO record_types (name) VALUES ('cloudkit.share');

-- A number belongs to its name for ever: deletions in the feeds keep the number of a removed type.
ALTER TABLE record_types ADD COLUMN is_removed INTEGER NOT NULL DEFAULT 0;

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

-- One index over a field of a record type. Kinds: 1 values as compared and sorted, 2 text without
-- regard to case, 3 words, 4 places. It holds the records up to `filled_through`, or all when it is
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

-- Of kind 3. Its row ids are index << 43 | record; a term is index, x, zone, x and the word, so that
-- a search meets nobody else's words. It keeps no text: who deletes a row says what was in it.
CREATE VIRTUAL TABLE index_words USING fts5 (
    terms, content = '', columnsize = 0, detail = none,
    tokenize = "unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
);

-- Of kind 4. Ids as above; zone and index are dimensions, so that a search meets only its own places. An
-- entry reaches from its zone's number to the next: boxes without width would all have the volume 0, by
-- which the tree could not tell near from far.
CREATE VIRTUAL TABLE index_places USING rtree (
    id, south, north, west, east, zone_from, zone_through, index_from, index_through,
    +zone, +latitude, +longitude
);

-- How many records have each term; holds nothing itself.
CREATE VIRTUAL TABLE index_terms USING fts5vocab ('index_words', 'row');
