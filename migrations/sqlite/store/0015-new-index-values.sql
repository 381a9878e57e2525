-- The latest entries of indexes of values. In the order of `index_values` each of them dirtied a page of its own.

-- As `index_values`, and few enough to stay in memory. Queued work moves them there, in their order. An entry
-- is in one of the two tables.
CREATE TABLE new_index_values (
    field INTEGER NOT NULL,
    zone INTEGER NOT NULL,
    value NOT NULL,
    record INTEGER NOT NULL,
    PRIMARY KEY (field, zone, value, record)
) WITHOUT ROWID;
