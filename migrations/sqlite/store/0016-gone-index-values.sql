-- Entries of indexes of values that have gone. Taken out of `index_values` one by one, each of them dirtied a
-- page of its own.

-- As `index_values`, and few enough to stay in memory. An entry here is in `index_values` too, and counts as being in
-- neither. Queued work takes it out of both, in their order.
CREATE TABLE gone_index_values (
    field INTEGER NOT NULL,
    zone INTEGER NOT NULL,
    value NOT NULL,
    record INTEGER NOT NULL,
    PRIMARY KEY (field, zone, value, record)
) WITHOUT ROWID;
