-- Who somebody is, beside an address and a password; and accounts that come to their end.

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

-- What works once and was used, until its time is over.
CREATE TABLE spent_passes (
    hash BLOB PRIMARY KEY,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX spent_passes_by_expiry ON spent_passes (expires_at);

-- Accounts whose owners have asked for their end, which a sign-in until then takes back.
CREATE TABLE account_endings (
    account TEXT PRIMARY KEY,
    due_at INTEGER NOT NULL,
    -- What becomes of their records in public databases: 'keep', 'anonymous' or 'delete'.
    public_records TEXT NOT NULL
) WITHOUT ROWID;

CREATE INDEX account_endings_by_due ON account_endings (due_at);

ALTER TABLE departures ADD COLUMN public_records TEXT NOT NULL DEFAULT 'keep';
