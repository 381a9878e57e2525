-- Keys by which the server pushes to the apps of containers.
CREATE TABLE push_keys (
    -- What a push service knows the app by.
    topic TEXT NOT NULL,
    container TEXT NOT NULL,
    -- As the push service names the key and its owner.
    key_id TEXT NOT NULL,
    team_id TEXT NOT NULL,
    -- The private key, sealed by the server.
    sealed_key BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (container, topic)
) WITHOUT ROWID;
