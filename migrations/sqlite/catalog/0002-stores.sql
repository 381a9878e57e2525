-- Which stores there are. A row is written once the file is on the disk, so that a file which is missing
-- is known to be lost, and one without a row to be nobody's.
CREATE TABLE stores (
    container TEXT NOT NULL,
    environment TEXT NOT NULL,
    -- What the file calls itself; NULL for one of before this table that was not opened since.
    name BLOB,
    -- 0 for one that may have had no file before this table: the next opening of the folder looks.
    is_certain INTEGER NOT NULL,
    PRIMARY KEY (container, environment)
) WITHOUT ROWID;

INSERT INTO stores SELECT folded, 'development', NULL, 0 FROM containers;
INSERT INTO stores SELECT folded, 'production', NULL, 0 FROM containers;
