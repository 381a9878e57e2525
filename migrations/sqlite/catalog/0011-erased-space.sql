-- Room that was given up, on its way to be overwritten.

-- Zeros that take the pages which were free, so that nothing of what they held is left. Empty but for the time of
-- an erasure.
CREATE TABLE erased_space (
    id INTEGER PRIMARY KEY,
    zeros BLOB NOT NULL
);
