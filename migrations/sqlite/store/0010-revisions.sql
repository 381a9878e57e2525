-- What lets readers keep what they have read: each number moves when what it stands for does.

-- The schema, and what is held of it.
ALTER TABLE progress ADD COLUMN schema_revision INTEGER NOT NULL DEFAULT 0;
-- The lives of the store.
ALTER TABLE progress ADD COLUMN life_count INTEGER NOT NULL DEFAULT 0;

-- Types and fields that no save may bring until a moment, while somebody finds out whether they can go.
-- Without a field it is the type itself.
CREATE TABLE held_parts (
    record_type TEXT NOT NULL,
    field TEXT NOT NULL,
    held_until INTEGER NOT NULL,
    PRIMARY KEY (record_type, field)
) WITHOUT ROWID;
