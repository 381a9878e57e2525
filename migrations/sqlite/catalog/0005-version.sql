-- One row: moves with every change that can end what somebody has read before, so that whoever keeps what they
-- read compares one number.
CREATE TABLE catalog_version (
    id INTEGER PRIMARY KEY,
    version INTEGER NOT NULL
);
INSERT INTO catalog_version VALUES (0, 1);
