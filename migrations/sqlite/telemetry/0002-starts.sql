-- When the server began to serve, for charts to mark: of a minute once.
CREATE TABLE starts (
    -- Milliseconds since 1970, to the minute.
    minute INTEGER PRIMARY KEY
);
