-- How people come in by themselves: browsers, letters, apps with a log-in of their own.
-- Secrets are kept only as their SHA-256; each that works once is deleted by whoever uses it.

-- Whether others who know an address of this person's may find them.
ALTER TABLE accounts ADD COLUMN is_discoverable INTEGER NOT NULL DEFAULT 0;

-- Accounts that an app made for its own users: they are of one container and have no primary address.
CREATE TABLE external_users (
    container TEXT NOT NULL,
    -- The app's own name for the person, unique in the container.
    external_id TEXT NOT NULL,
    account TEXT NOT NULL UNIQUE,
    PRIMARY KEY (container, external_id)
) WITHOUT ROWID;

-- Browsers that are signed in to the server's own pages.
CREATE TABLE browser_sessions (
    -- Of what the cookie holds.
    hash BLOB PRIMARY KEY,
    account TEXT NOT NULL,
    -- What the browser says it is, in a few words.
    device TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    -- When the person last showed who they are.
    proved_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX browser_sessions_by_account ON browser_sessions (account);
CREATE INDEX browser_sessions_by_expiry ON browser_sessions (expires_at);

-- Which apps a person has let act for them, by API token and the page's origin ('' for none).
CREATE TABLE consents (
    account TEXT NOT NULL,
    token_hash BLOB NOT NULL,
    origin TEXT NOT NULL,
    given_at INTEGER NOT NULL,
    PRIMARY KEY (account, token_hash, origin)
) WITHOUT ROWID;

CREATE INDEX consents_by_token ON consents (token_hash);

-- What a program trades for a web token after a sign-in.
CREATE TABLE sign_in_codes (
    hash BLOB PRIMARY KEY,
    account TEXT NOT NULL,
    container TEXT NOT NULL,
    environment TEXT NOT NULL,
    -- The life of the web token.
    seconds INTEGER NOT NULL,
    -- SHA-256 of the verifier that must come with the code.
    challenge BLOB NOT NULL,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX sign_in_codes_by_expiry ON sign_in_codes (expires_at);

-- Links that letters carry.
CREATE TABLE letter_links (
    hash BLOB PRIMARY KEY,
    -- 'reset' or 'invitation'.
    purpose TEXT NOT NULL,
    -- Whose; NULL for an invitation.
    account TEXT,
    kind TEXT NOT NULL,
    folded TEXT NOT NULL,
    address TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX letter_links_by_expiry ON letter_links (expires_at);

-- Codes by which somebody shows that an address is theirs.
CREATE TABLE address_codes (
    account TEXT NOT NULL,
    kind TEXT NOT NULL,
    folded TEXT NOT NULL,
    address TEXT NOT NULL,
    hash BLOB NOT NULL,
    tries_left INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (account, kind, folded)
) WITHOUT ROWID;

-- What is to be sent. No secret waits here: each is made when its letter leaves.
CREATE TABLE letters (
    number INTEGER PRIMARY KEY,
    -- 'reset', 'invitation', 'address' or 'device'.
    purpose TEXT NOT NULL,
    account TEXT,
    kind TEXT NOT NULL,
    folded TEXT NOT NULL,
    address TEXT NOT NULL,
    -- What the text tells beside; '' for nothing.
    detail TEXT NOT NULL,
    tries INTEGER NOT NULL,
    made_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL
);

CREATE INDEX letters_by_due ON letters (due_at);
