-- When tokens and keys last let somebody in, to the minute or so. NULL for never.

ALTER TABLE api_tokens ADD COLUMN used_at INTEGER;
ALTER TABLE server_keys ADD COLUMN used_at INTEGER;
-- Of the session: all of its tokens have the same.
ALTER TABLE web_tokens ADD COLUMN used_at INTEGER;
