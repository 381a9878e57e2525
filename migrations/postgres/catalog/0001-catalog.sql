-- What is the server's own, for all containers: who may call it, and the people it knows. The statements of `CatalogSQL`
-- work on it, as they do on SQLite's.
-- Texts are bytes: the type text refuses U+0000, and bytes sort as code points do. Times are milliseconds since 1970 in
-- UTC. Secrets that others bring are kept only as their SHA-256; each that works once is deleted by its use.

-- The greatest of bytes; PostgreSQL has it from version 18 on.
CREATE FUNCTION greater(bytea, bytea) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS 'SELECT CASE WHEN $1 >= $2 THEN $1 ELSE $2 END';
CREATE AGGREGATE max(bytea) (SFUNC = greater, STYPE = bytea);

-- ---------------------------------------------------------------------------------------------------------------
-- The server

-- Random keys made at first start, such as the one that user record names are derived from.
CREATE TABLE secrets (
    name bytea PRIMARY KEY,
    value bytea NOT NULL
);

-- One row: moves with every change that can end what somebody has read before, so that whoever keeps what they
-- read compares one number.
CREATE TABLE catalog_version (
    id bigint PRIMARY KEY,
    version bigint NOT NULL
);
INSERT INTO catalog_version VALUES (0, 1);

-- The last change of the catalog that each process has committed. Who has lost the answer to a commit looks here.
CREATE TABLE commit_marks (
    -- Random, made with each opening of the catalog.
    process bytea PRIMARY KEY,
    number bigint NOT NULL,
    committed_at bigint NOT NULL
) WITH (fillfactor = 50);

-- The server's processes: each renews its row, and lives until a moment by the database's clock.
CREATE TABLE processes (
    -- Random, made at its start.
    process bytea PRIMARY KEY,
    -- Of the program.
    version bytea NOT NULL,
    -- Where its assets are: all who live have the same.
    assets bytea NOT NULL,
    -- The catalog's version up to which it has dropped what it kept.
    catalog_version bigint NOT NULL,
    begun_at bigint NOT NULL,
    seen_at bigint NOT NULL,
    lives_until bigint NOT NULL,
    -- How many migrations of each schema it knows, as `catalog=1 stores=1`.
    migrations bytea NOT NULL
) WITH (fillfactor = 50);

-- Guesses at passwords and codes, and letters that were asked for, as all processes count them. A keyed hash of what was
-- guessed at chooses two slots of a fixed number, so nothing is forgotten to make room and nobody is named.
CREATE TABLE guess_counts (
    slot bigint PRIMARY KEY,
    count bigint NOT NULL,
    last_at bigint NOT NULL
) WITH (fillfactor = 50);

-- ---------------------------------------------------------------------------------------------------------------
-- Containers, and who may call them

-- Other tables name a container by its folded form: the lower-case spelling that is compared.
CREATE TABLE containers (
    folded bytea PRIMARY KEY,
    name bytea NOT NULL,
    created_at bigint NOT NULL
);

CREATE TABLE container_settings (
    container bytea NOT NULL,
    key bytea NOT NULL,
    value bytea NOT NULL,
    PRIMARY KEY (container, key)
);

-- The picture of a container; its setting `icon` names it, by a digest.
CREATE TABLE container_icons (
    container bytea PRIMARY KEY,
    name bytea NOT NULL,
    -- PNG, JPEG or WebP.
    picture bytea NOT NULL
);
CREATE INDEX container_icons_by_name ON container_icons (name);

-- Which stores there are. A row is written once the file is on the disk, so that a file which is missing
-- is known to be lost, and one without a row to be nobody's.
CREATE TABLE stores (
    container bytea NOT NULL,
    environment bytea NOT NULL,
    -- What the file calls itself.
    name bytea NOT NULL,
    -- When the store, closed, has to be opened for its queued work or its upkeep; 0 for at once. An earlier moment than
    -- needed opens it in vain.
    due_at bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (container, environment)
);

-- Names are unique over the whole server, because revoking takes nothing but the name.
CREATE TABLE api_tokens (
    hash bytea PRIMARY KEY,
    name bytea NOT NULL UNIQUE,
    container bytea NOT NULL,
    environment bytea NOT NULL,
    callback bytea,
    created_at bigint NOT NULL,
    -- When it last let somebody in, to the minute or so; NULL for never.
    used_at bigint
);
CREATE INDEX api_tokens_by_container ON api_tokens (container);

-- No row for a token: any origin is allowed.
CREATE TABLE api_token_origins (
    token_hash bytea NOT NULL,
    origin bytea NOT NULL,
    PRIMARY KEY (token_hash, origin)
);

CREATE TABLE server_keys (
    key_id bytea PRIMARY KEY,
    name bytea,
    container bytea NOT NULL,
    environment bytea NOT NULL,
    -- SubjectPublicKeyInfo in DER.
    public_key bytea NOT NULL,
    -- 'public' or 'container'.
    scope bytea NOT NULL,
    created_at bigint NOT NULL,
    -- As of api_tokens.
    used_at bigint,
    -- The user that the key is by itself. The name is derived and cannot be computed back.
    user_record_name bytea NOT NULL
);
CREATE INDEX server_keys_by_user_name ON server_keys (container, user_record_name);

-- Keys by which the server pushes to the apps of containers.
CREATE TABLE push_keys (
    -- What a push service knows the app by.
    topic bytea NOT NULL,
    container bytea NOT NULL,
    -- As the push service names the key and its owner.
    key_id bytea NOT NULL,
    team_id bytea NOT NULL,
    -- The private key, sealed by the server.
    sealed_key bytea NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (container, topic)
);

-- ---------------------------------------------------------------------------------------------------------------
-- Accounts, and how their owners show who they are

CREATE TABLE accounts (
    id bytea PRIMARY KEY,
    given_name bytea,
    family_name bytea,
    -- Algorithm, costs, salt and hash in one text; NULL when the account has no password.
    password bytea,
    created_at bigint NOT NULL,
    -- Whether others who know an address of this person's may find them.
    is_discoverable bigint NOT NULL DEFAULT 0
);
CREATE INDEX accounts_by_creation ON accounts (created_at, id);

-- An address that is not verified yet may be claimed by many accounts, a verified one is one's own.
CREATE TABLE addresses (
    account bytea NOT NULL,
    -- 'email' or 'phone'.
    kind bytea NOT NULL,
    -- The spelling that is compared.
    folded bytea NOT NULL,
    -- As it was given.
    address bytea NOT NULL,
    -- The one that names the account in commands.
    is_primary bigint NOT NULL,
    verified_at bigint,
    PRIMARY KEY (account, kind, folded)
);
CREATE UNIQUE INDEX addresses_verified ON addresses (kind, folded) WHERE verified_at IS NOT NULL;
CREATE INDEX addresses_by_spelling ON addresses (folded, kind, account);

-- Accounts that an app made for its own users: they are of one container and have no primary address.
CREATE TABLE external_users (
    container bytea NOT NULL,
    -- The app's own name for the person, unique in the container.
    external_id bytea NOT NULL,
    account bytea NOT NULL UNIQUE,
    PRIMARY KEY (container, external_id)
);

-- Who is behind a user record name. The name is derived and cannot be computed back.
CREATE TABLE user_names (
    container bytea NOT NULL,
    user_record_name bytea NOT NULL,
    account bytea NOT NULL,
    PRIMARY KEY (container, user_record_name)
);
CREATE INDEX user_names_by_account ON user_names (account);

-- Codes of an app that an account asks for after its password.
CREATE TABLE second_factors (
    account bytea PRIMARY KEY,
    -- Sealed under the server's key, for this account.
    secret bytea NOT NULL,
    -- The step whose code was used last: it and earlier ones count no more.
    last_step bigint NOT NULL,
    -- The digests of the recovery codes that are left, 32 bytes each.
    recovery bytea NOT NULL,
    made_at bigint NOT NULL
);

CREATE TABLE passkeys (
    -- What the authenticator calls it.
    id bytea PRIMARY KEY,
    account bytea NOT NULL,
    -- A COSE_Key.
    public_key bytea NOT NULL,
    -- How often it was used, by the authenticator's own count; 0 for one that does not count.
    sign_count bigint NOT NULL,
    -- What its owner knows it by.
    name bytea NOT NULL,
    made_at bigint NOT NULL,
    used_at bigint NOT NULL
);
CREATE INDEX passkeys_by_account ON passkeys (account);

-- Others whose word for who somebody is counts here (OpenID Connect).
CREATE TABLE identity_providers (
    -- As people see it on the sign-in page.
    name bytea PRIMARY KEY,
    issuer bytea NOT NULL UNIQUE,
    -- What the provider calls this server.
    client bytea NOT NULL,
    -- Sealed under the server's key, for this provider; NULL for none.
    secret bytea,
    -- Where the secret is a key that signs one: by whose team and under what name; NULL for a plain one.
    team bytea,
    key_name bytea,
    -- Whether addresses that the provider calls verified count as verified here.
    trusts_email bigint NOT NULL,
    -- Whether answers come as forms by POST, as Apple's do.
    uses_form_post bigint NOT NULL,
    made_at bigint NOT NULL
);

-- Who somebody is at a provider: by its issuer and its subject, never by an address.
CREATE TABLE identities (
    issuer bytea NOT NULL,
    subject bytea NOT NULL,
    account bytea NOT NULL,
    made_at bigint NOT NULL,
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX identities_by_account ON identities (account);

-- Accounts whose owners have asked for their end, which a sign-in until then takes back.
CREATE TABLE account_endings (
    account bytea PRIMARY KEY,
    due_at bigint NOT NULL,
    -- What becomes of their records in public databases: 'keep', 'anonymous' or 'delete'.
    public_records bytea NOT NULL
);
CREATE INDEX account_endings_by_due ON account_endings (due_at);

-- Deleted accounts whose data still lies in the stores of a container.
CREATE TABLE account_deletions (
    account bytea NOT NULL,
    container bytea NOT NULL,
    user_record_name bytea NOT NULL,
    -- As of account_endings.
    public_records bytea NOT NULL,
    PRIMARY KEY (account, container)
);

-- ---------------------------------------------------------------------------------------------------------------
-- Sessions, and apps that act for people

CREATE TABLE web_tokens (
    hash bytea PRIMARY KEY,
    -- Shared by a token and those that replaced it: what signing out ends.
    session bytea NOT NULL,
    account bytea NOT NULL,
    container bytea NOT NULL,
    environment bytea NOT NULL,
    made_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    -- When the session's first token was made, and when any of its tokens last let somebody in, to the minute or so.
    begun_at bigint NOT NULL,
    used_at bigint,
    -- The page where somebody signed in for the app, and their browser in a few words; '' for none.
    origin bytea NOT NULL,
    device bytea NOT NULL
);
CREATE INDEX web_tokens_by_expiry ON web_tokens (expires_at);
CREATE INDEX web_tokens_by_session ON web_tokens (session);
CREATE INDEX web_tokens_by_account ON web_tokens (account, session);
CREATE INDEX web_tokens_by_environment ON web_tokens (container, environment, session);

-- Browsers that are signed in to the server's own pages.
CREATE TABLE browser_sessions (
    -- Of what the cookie holds.
    hash bytea PRIMARY KEY,
    -- 'pages', or 'console' for an operator's.
    kind bytea NOT NULL,
    account bytea NOT NULL,
    -- What the browser says it is, in a few words.
    device bytea NOT NULL,
    made_at bigint NOT NULL,
    used_at bigint NOT NULL,
    -- When the person last showed who they are.
    proved_at bigint NOT NULL,
    expires_at bigint NOT NULL
);
CREATE INDEX browser_sessions_by_account ON browser_sessions (account);
CREATE INDEX browser_sessions_by_expiry ON browser_sessions (expires_at);

-- Which apps a person has let act for them, by API token and the page's origin ('' for none).
CREATE TABLE consents (
    account bytea NOT NULL,
    token_hash bytea NOT NULL,
    origin bytea NOT NULL,
    PRIMARY KEY (account, token_hash, origin)
);
CREATE INDEX consents_by_token ON consents (token_hash);

-- What a program trades for a web token after a sign-in.
CREATE TABLE sign_in_codes (
    hash bytea PRIMARY KEY,
    account bytea NOT NULL,
    container bytea NOT NULL,
    environment bytea NOT NULL,
    -- The life of the web token.
    seconds bigint NOT NULL,
    -- SHA-256 of the verifier that must come with the code.
    challenge bytea NOT NULL,
    expires_at bigint NOT NULL,
    -- As of web_tokens.
    origin bytea NOT NULL,
    device bytea NOT NULL
);
CREATE INDEX sign_in_codes_by_expiry ON sign_in_codes (expires_at);

-- What works once and was used, until its time is over.
CREATE TABLE spent_page_tokens (
    hash bytea PRIMARY KEY,
    expires_at bigint NOT NULL
);
CREATE INDEX spent_page_tokens_by_expiry ON spent_page_tokens (expires_at);

-- ---------------------------------------------------------------------------------------------------------------
-- Letters

-- What is to be sent. No secret waits here: each is made when its letter leaves.
CREATE TABLE letters (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- 'reset', 'invitation', 'address' or 'device'.
    purpose bytea NOT NULL,
    account bytea,
    kind bytea NOT NULL,
    folded bytea NOT NULL,
    address bytea NOT NULL,
    -- What the text tells beside; '' for nothing.
    detail bytea NOT NULL,
    -- Where the reader goes on: a page of the server's own, since nobody is led elsewhere. NULL for the account page.
    return_path bytea,
    -- In which they read, as a file of texts is named; '' for English.
    language bytea NOT NULL,
    tries bigint NOT NULL,
    made_at bigint NOT NULL,
    due_at bigint NOT NULL
);
CREATE INDEX letters_by_due ON letters (due_at);

-- Links that letters carry.
CREATE TABLE letter_links (
    hash bytea PRIMARY KEY,
    -- 'reset' or 'invitation'.
    purpose bytea NOT NULL,
    -- Whose; NULL for an invitation.
    account bytea,
    kind bytea NOT NULL,
    folded bytea NOT NULL,
    address bytea NOT NULL,
    -- As of letters.
    return_path bytea,
    expires_at bigint NOT NULL
);
CREATE INDEX letter_links_by_expiry ON letter_links (expires_at);

-- Codes by which somebody shows that an address is theirs.
CREATE TABLE address_codes (
    account bytea NOT NULL,
    kind bytea NOT NULL,
    folded bytea NOT NULL,
    address bytea NOT NULL,
    hash bytea NOT NULL,
    tries_left bigint NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (account, kind, folded)
);

-- ---------------------------------------------------------------------------------------------------------------
-- Operators

-- Accounts that may act on the server's data.
CREATE TABLE operators (
    account bytea PRIMARY KEY,
    -- 1: every container, and what belongs to none; 0: those in operator_containers.
    has_all bigint NOT NULL,
    is_read_only bigint NOT NULL,
    made_at bigint NOT NULL
);

-- The containers of operators who do not have all.
CREATE TABLE operator_containers (
    -- 'account:' and its ID, 'token:' and its name, 'invitation:' and the folded address.
    holder bytea NOT NULL,
    container bytea NOT NULL,
    PRIMARY KEY (holder, container)
);
CREATE INDEX operator_containers_by_container ON operator_containers (container);

-- What the account that is made with an address becomes.
CREATE TABLE operator_invitations (
    folded bytea PRIMARY KEY,
    has_all bigint NOT NULL,
    is_read_only bigint NOT NULL,
    expires_at bigint NOT NULL
);

CREATE TABLE operator_tokens (
    hash bytea PRIMARY KEY,
    name bytea NOT NULL UNIQUE,
    has_all bigint NOT NULL,
    is_read_only bigint NOT NULL,
    made_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    -- As of api_tokens.
    used_at bigint
);

-- One row at most: by what the first operator makes themselves.
CREATE TABLE first_operator (
    id bigint PRIMARY KEY CHECK (id = 0),
    hash bytea NOT NULL,
    expires_at bigint NOT NULL
);

-- That operators looked at what a person keeps for themselves, for that person.
CREATE TABLE operator_looks (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account bytea NOT NULL,
    time bigint NOT NULL,
    -- 'command line', 'account' or 'token'.
    kind bytea NOT NULL,
    action bytea NOT NULL,
    -- NULL for all of them.
    container bytea
);
CREATE INDEX operator_looks_by_account ON operator_looks (account, time);
CREATE INDEX operator_looks_by_container ON operator_looks (container);
