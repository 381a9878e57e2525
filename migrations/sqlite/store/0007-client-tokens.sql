-- Data of clients' own that a device left with its last change of a zone, and gets back with the feed.
CREATE TABLE client_tokens (
    zone INTEGER NOT NULL,
    user_record_name TEXT NOT NULL,
    device TEXT NOT NULL,
    data BLOB NOT NULL,
    set_at INTEGER NOT NULL,
    PRIMARY KEY (zone, user_record_name, device)
) WITHOUT ROWID;
