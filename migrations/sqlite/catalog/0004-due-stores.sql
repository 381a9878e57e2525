-- When a store that is closed has to be opened for its queued work or its upkeep, in milliseconds; 0 for at
-- once. An earlier moment than needed opens it in vain.
ALTER TABLE stores ADD COLUMN due_at INTEGER NOT NULL DEFAULT 0;
