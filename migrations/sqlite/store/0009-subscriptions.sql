-- What users wait to hear of. scope: 0 public, 1 private, 2 shared; kind: 1 query, 2 zone, 3 database;
-- fires_on: 1 create + 2 update + 4 delete. record_type and zone are empty where it is not limited to one.
CREATE TABLE subscriptions (
    user_record_name TEXT NOT NULL,
    scope INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind INTEGER NOT NULL,
    record_type TEXT NOT NULL,
    zone TEXT NOT NULL,
    fires_on INTEGER NOT NULL,
    fires_once INTEGER NOT NULL,
    query BLOB,
    notification_info BLOB,
    PRIMARY KEY (user_record_name, scope, name)
) WITHOUT ROWID;
