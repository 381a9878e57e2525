-- What is the server's own, for all containers: who may call it, and the people it knows.
-- Times are milliseconds since 1970 in UTC. Tokens are kept only as their SHA-256.

-- Random keys made at first start, such as the one that user record names are derived from.
CREATE TABLE secrets (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;

-- Other tables name a container by its folded form: the lower-case spelling that is compared.
CREATE TABLE containers (
    folded TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE container_settings (
    container TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (container, key)
) WITHOUT ROWID;

-- Names are unique over the whole server, because revoking takes nothing but the name.
CREATE TABLE api_tokens (
    hash BLOB PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    container TEXT NOT NULL,
    environment TEXT NOT NULL,
    callback TEXT,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX api_tokens_by_container ON api_tokens (container);

-- No row for a token: any origin is allowed.
CREATE TABLE api_token_origins (
    token_hash BLOB NOT NULL,
    origin TEXT NOT NULL,
    PRIMARY KEY (token_hash, origin)
) WITHOUT ROWID;

CREATE TABLE server_keys (
    key_id TEXT PRIMARY KEY,
    name TEXT,
    container TEXT NOT NULL,
    environment TEXT NOT NULL,
    -- SubjectPublicKeyInfo in DER.
    public_key BLOB NOT NULL,
    -- 'public' or 'container'.
    scope TEXT NOT NULL,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX server_keys_by_container ON server_keys (container);

CREATE TABLE accounts (
    id TEXT PRIMARY KEY,
    given_name TEXT,
    family_name TEXT,
    -- Algorithm, costs, salt and hash in one text; NULL when the account has no password.
    password TEXT,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;

-- An address that is not verified yet may be claimed by many accounts, a verified one is one's own.
CREATE TABLE addresses (
    account TEXT NOT NULL,
    -- 'email' or 'phone'.
    kind TEXT NOT NULL,
    -- The spelling that is compared.
    folded TEXT NOT NULL,
    -- As it was given.
    address TEXT NOT NULL,
    -- The one that names the account in commands.
    is_primary INTEGER NOT NULL,
    verified_at INTEGER,
    PRIMARY KEY (account, kind, folded)
) WITHOUT ROWID;

CREATE UNIQUE INDEX addresses_verified ON addresses (kind, folded) WHERE verified_at IS NOT NULL;

CREATE TABLE web_tokens (
    hash BLOB PRIMARY KEY,
    -- Shared by a token and those that replaced it: what signing out ends.
    session BLOB NOT NULL,
    account TEXT NOT NULL,
    container TEXT NOT NULL,
    environment TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX web_tokens_by_expiry ON web_tokens (expires_at);
CREATE INDEX web_tokens_by_session ON web_tokens (session);
CREATE INDEX web_tokens_by_account ON web_tokens (account);
CREATE INDEX web_tokens_by_container ON web_tokens (container);

-- Who is behind a user record name. The name is derived and cannot be computed back.
CREATE TABLE user_names (
    container TEXT NOT NULL,
    user_record_name TEXT NOT NULL,
    account TEXT NOT NULL,
    PRIMARY KEY (container, user_record_name)
) WITHOUT ROWID;

CREATE INDEX user_names_by_account ON user_names (account);

-- Deleted accounts whose data still lies in the stores of a container.
CREATE TABLE departures (
    account TEXT NOT NULL,
    container TEXT NOT NULL,
    user_record_name TEXT NOT NULL,
    PRIMARY KEY (account, container)
) WITHOUT ROWID;
