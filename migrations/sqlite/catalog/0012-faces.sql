-- What people know apps by, and where they have let them act.

-- The picture of a container; its setting `icon` names it, by a digest.
CREATE TABLE container_icons (
    container TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    -- PNG, JPEG or WebP.
    picture BLOB NOT NULL
);

CREATE INDEX container_icons_by_name ON container_icons (name);

-- The page where somebody signed in for the app, and their browser in a few words; '' for none.
ALTER TABLE web_tokens ADD COLUMN origin TEXT NOT NULL DEFAULT '';
ALTER TABLE web_tokens ADD COLUMN device TEXT NOT NULL DEFAULT '';
-- When the session's first token was made.
ALTER TABLE web_tokens ADD COLUMN begun_at INTEGER NOT NULL DEFAULT 0;
UPDATE web_tokens SET begun_at = made_at;

ALTER TABLE sign_in_codes ADD COLUMN origin TEXT NOT NULL DEFAULT '';
ALTER TABLE sign_in_codes ADD COLUMN device TEXT NOT NULL DEFAULT '';
