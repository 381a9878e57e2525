-- What is the server's own, for all containers: who may call it, and the people it knows.
-- Times are milliseconds since 1970 in UTC. Secrets that others bring are kept only as their SHA-256; each that works
-- once is deleted by whoever uses it.

-- ---------------------------------------------------------------------------------------------------------------
-- The server

-- Random keys made at first start, such as the one that user record names are derived from.
CREATE TABLE secrets (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;

-- One row: moves with every change that can end what somebody has read before, so that whoever keeps what they
-- read compares one number.
CREATE TABLE catalog_version (
    id INTEGER PRIMARY KEY,
    version INTEGER NOT NULL
);
INSERT INTO catalog_version VALUES (0, 1);

-- ---------------------------------------------------------------------------------------------------------------
-- Containers, and who may call them

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

-- The picture of a container; its setting `icon` names it, by a digest.
CREATE TABLE container_icons (
    container TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    -- PNG, JPEG or WebP.
    picture BLOB NOT NULL
);
CREATE INDEX container_icons_by_name ON container_icons (name);

-- Which stores there are. A row is written once the file is on the disk, so that a file which is missing
-- is known to be lost, and one without a row to be nobody's.
CREATE TABLE stores (
    container TEXT NOT NULL,
    environment TEXT NOT NULL,
    -- What the file calls itself.
    name BLOB NOT NULL,
    -- When the store, closed, has to be opened for its queued work or its upkeep; 0 for at once. An earlier moment than
    -- needed opens it in vain.
    due_at INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (container, environment)
) WITHOUT ROWID;

-- Names are unique over the whole server, because revoking takes nothing but the name.
CREATE TABLE api_tokens (
    hash BLOB PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    container TEXT NOT NULL,
    environment TEXT NOT NULL,
    callback TEXT,
    created_at INTEGER NOT NULL,
    -- When it last let somebody in, to the minute or so; NULL for never.
    used_at INTEGER
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
    created_at INTEGER NOT NULL,
    -- As of api_tokens.
    used_at INTEGER,
    -- The user that the key is by itself. The name is derived and cannot be computed back.
    user_record_name TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX server_keys_by_user_name ON server_keys (container, user_record_name);

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

-- ---------------------------------------------------------------------------------------------------------------
-- Accounts, and how their owners show who they are

CREATE TABLE accounts (
    id TEXT PRIMARY KEY,
    given_name TEXT,
    family_name TEXT,
    -- Algorithm, costs, salt and hash in one text; NULL when the account has no password.
    password TEXT,
    created_at INTEGER NOT NULL,
    -- Whether others who know an address of this person's may find them.
    is_discoverable INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX accounts_by_creation ON accounts (created_at, id);

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
CREATE INDEX addresses_by_spelling ON addresses (folded, kind, account);

-- Accounts that an app made for its own users: they are of one container and have no primary address.
CREATE TABLE external_users (
    container TEXT NOT NULL,
    -- The app's own name for the person, unique in the container.
    external_id TEXT NOT NULL,
    account TEXT NOT NULL UNIQUE,
    PRIMARY KEY (container, external_id)
) WITHOUT ROWID;

-- Who is behind a user record name. The name is derived and cannot be computed back.
CREATE TABLE user_names (
    container TEXT NOT NULL,
    user_record_name TEXT NOT NULL,
    account TEXT NOT NULL,
    PRIMARY KEY (container, user_record_name)
) WITHOUT ROWID;
CREATE INDEX user_names_by_account ON user_names (account);

-- Codes of an app that an account asks for after its password.
CREATE TABLE second_factors (
    account TEXT PRIMARY KEY,
    -- Sealed under the server's key, for this account.
    secret BLOB NOT NULL,
    -- The step whose code was used last: it and earlier ones count no more.
    last_step INTEGER NOT NULL,
    -- The digests of the recovery codes that are left, 32 bytes each.
    recovery BLOB NOT NULL,
    made_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE passkeys (
    -- What the authenticator calls it.
    id BLOB PRIMARY KEY,
    account TEXT NOT NULL,
    -- A COSE_Key.
    public_key BLOB NOT NULL,
    -- How often it was used, by the authenticator's own count; 0 for one that does not count.
    sign_count INTEGER NOT NULL,
    -- What its owner knows it by.
    name TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX passkeys_by_account ON passkeys (account);

-- Others whose word for who somebody is counts here (OpenID Connect).
CREATE TABLE identity_providers (
    -- As people see it on the sign-in page.
    name TEXT PRIMARY KEY,
    issuer TEXT NOT NULL UNIQUE,
    -- What the provider calls this server.
    client TEXT NOT NULL,
    -- Sealed under the server's key, for this provider; NULL for none.
    secret BLOB,
    -- Where the secret is a key that signs one: by whose team and under what name; NULL for a plain one.
    team TEXT,
    key_name TEXT,
    -- Whether addresses that the provider calls verified count as verified here.
    trusts_email INTEGER NOT NULL,
    -- Whether answers come as forms by POST, as Apple's do.
    uses_form_post INTEGER NOT NULL,
    made_at INTEGER NOT NULL
) WITHOUT ROWID;

-- Who somebody is at a provider: by its issuer and its subject, never by an address.
CREATE TABLE identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    account TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
) WITHOUT ROWID;
CREATE INDEX identities_by_account ON identities (account);

-- Accounts whose owners have asked for their end, which a sign-in until then takes back.
CREATE TABLE account_endings (
    account TEXT PRIMARY KEY,
    due_at INTEGER NOT NULL,
    -- What becomes of their records in public databases: 'keep', 'anonymous' or 'delete'.
    public_records TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX account_endings_by_due ON account_endings (due_at);

-- Deleted accounts whose data still lies in the stores of a container.
CREATE TABLE account_deletions (
    account TEXT NOT NULL,
    container TEXT NOT NULL,
    user_record_name TEXT NOT NULL,
    -- As of account_endings.
    public_records TEXT NOT NULL,
    PRIMARY KEY (account, container)
) WITHOUT ROWID;

-- ---------------------------------------------------------------------------------------------------------------
-- Sessions, and apps that act for people

CREATE TABLE web_tokens (
    hash BLOB PRIMARY KEY,
    -- Shared by a token and those that replaced it: what signing out ends.
    session BLOB NOT NULL,
    account TEXT NOT NULL,
    container TEXT NOT NULL,
    environment TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    -- When the session's first token was made, and when any of its tokens last let somebody in, to the minute or so.
    begun_at INTEGER NOT NULL,
    used_at INTEGER,
    -- The page where somebody signed in for the app, and their browser in a few words; '' for none.
    origin TEXT NOT NULL,
    device TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX web_tokens_by_expiry ON web_tokens (expires_at);
CREATE INDEX web_tokens_by_session ON web_tokens (session);
CREATE INDEX web_tokens_by_account ON web_tokens (account, session);
CREATE INDEX web_tokens_by_environment ON web_tokens (container, environment, session);

-- Browsers that are signed in to the server's own pages.
CREATE TABLE browser_sessions (
    -- Of what the cookie holds.
    hash BLOB PRIMARY KEY,
    -- 'pages', or 'console' for an operator's.
    kind TEXT NOT NULL,
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
    expires_at INTEGER NOT NULL,
    -- As of web_tokens.
    origin TEXT NOT NULL,
    device TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX sign_in_codes_by_expiry ON sign_in_codes (expires_at);

-- What works once and was used, until its time is over.
CREATE TABLE spent_page_tokens (
    hash BLOB PRIMARY KEY,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX spent_page_tokens_by_expiry ON spent_page_tokens (expires_at);

-- ---------------------------------------------------------------------------------------------------------------
-- Letters

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
    -- Where the reader goes on: a page of the server's own, since nobody is led elsewhere. NULL for the account page.
    return_path TEXT,
    -- In which they read, as a file of texts is named; '' for English.
    language TEXT NOT NULL,
    tries INTEGER NOT NULL,
    made_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL
);
CREATE INDEX letters_by_due ON letters (due_at);

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
    -- As of letters.
    return_path TEXT,
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

-- ---------------------------------------------------------------------------------------------------------------
-- Operators

-- Accounts that may act on the server's data.
CREATE TABLE operators (
    account TEXT PRIMARY KEY,
    -- 1: every container, and what belongs to none; 0: those in operator_containers.
    has_all INTEGER NOT NULL,
    is_read_only INTEGER NOT NULL,
    made_at INTEGER NOT NULL
) WITHOUT ROWID;

-- The containers of operators who do not have all.
CREATE TABLE operator_containers (
    -- 'account:' and its ID, 'token:' and its name, 'invitation:' and the folded address.
    holder TEXT NOT NULL,
    container TEXT NOT NULL,
    PRIMARY KEY (holder, container)
) WITHOUT ROWID;
CREATE INDEX operator_containers_by_container ON operator_containers (container);

-- What the account that is made with an address becomes.
CREATE TABLE operator_invitations (
    folded TEXT PRIMARY KEY,
    has_all INTEGER NOT NULL,
    is_read_only INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE operator_tokens (
    hash BLOB PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    has_all INTEGER NOT NULL,
    is_read_only INTEGER NOT NULL,
    made_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    -- As of api_tokens.
    used_at INTEGER
) WITHOUT ROWID;

-- One row at most: by what the first operator makes themselves.
CREATE TABLE first_operator (
    id INTEGER PRIMARY KEY CHECK (id = 0),
    hash BLOB NOT NULL,
    expires_at INTEGER NOT NULL
);

-- That operators looked at what a person keeps for themselves, for that person.
CREATE TABLE operator_looks (
    number INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    time INTEGER NOT NULL,
    -- 'command line', 'account' or 'token'.
    kind TEXT NOT NULL,
    action TEXT NOT NULL,
    -- NULL for all of them.
    container TEXT
);
CREATE INDEX operator_looks_by_account ON operator_looks (account, time);
CREATE INDEX operator_looks_by_container ON operator_looks (container);
