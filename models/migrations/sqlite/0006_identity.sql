-- Authentication of users, access of applications on behalf of users, and decisions of moderators.
ALTER TABLE users ADD COLUMN is_moderator INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN suspended_at TEXT;
ALTER TABLE users ADD COLUMN suspension_reason TEXT NOT NULL DEFAULT '';

-- Separate from users, so that no list reads the hashes.
CREATE TABLE passwords (
    user_id    INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    hash       TEXT NOT NULL, -- argon2id with its parameters
    changed_at TEXT NOT NULL
);

CREATE TABLE identities (
    issuer     TEXT NOT NULL,
    subject    TEXT NOT NULL,
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at TEXT NOT NULL,
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX identities_user ON identities (user_id);

CREATE TABLE sessions (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    sha256     TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL
);
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_expires ON sessions (expires_at);

CREATE TABLE applications (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    client_id       TEXT NOT NULL UNIQUE,
    name            TEXT NOT NULL,
    secret_sha256   TEXT NOT NULL, -- empty: a public client, which cannot keep a secret
    redirects       TEXT NOT NULL, -- one per line
    allows_implicit INTEGER NOT NULL,
    created_at      TEXT NOT NULL
);

-- A token belongs to a user, to an application that a user has authorized, or to an application without a user.
ALTER TABLE tokens RENAME TO tokens_before;
CREATE TABLE tokens (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id        INTEGER REFERENCES users (id) ON DELETE CASCADE,
    application_id INTEGER REFERENCES applications (id) ON DELETE CASCADE,
    name           TEXT NOT NULL,
    sha256         TEXT NOT NULL UNIQUE,
    scopes         TEXT NOT NULL,
    created_at     TEXT NOT NULL,
    expires_at     TEXT,
    revoked_at     TEXT,
    last_used_at   TEXT
);
INSERT INTO tokens (id, user_id, name, sha256, scopes, created_at, expires_at, revoked_at)
    SELECT id, user_id, name, sha256, scopes, created_at, expires_at, revoked_at FROM tokens_before;
DELETE FROM sqlite_sequence WHERE name = 'tokens'; -- so that IDs of deleted rows are not reused
INSERT INTO sqlite_sequence (name, seq) SELECT 'tokens', seq FROM sqlite_sequence WHERE name = 'tokens_before';
DROP TABLE tokens_before;
CREATE INDEX tokens_user ON tokens (user_id);
CREATE INDEX tokens_application ON tokens (application_id) WHERE application_id IS NOT NULL;

-- Authorization codes. A used code is kept for some time: if it is used again, it has leaked, and the token that was issued for it is revoked.
CREATE TABLE grants (
    sha256         TEXT PRIMARY KEY,
    application_id INTEGER NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    user_id        INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    redirect       TEXT NOT NULL,
    scopes         TEXT NOT NULL,
    challenge      TEXT NOT NULL, -- the PKCE code challenge, S256; empty: none was sent
    created_at     TEXT NOT NULL,
    expires_at     TEXT NOT NULL,
    token_id       INTEGER -- the token that was issued for it
);
CREATE INDEX grants_expires ON grants (expires_at);
CREATE INDEX grants_application ON grants (application_id);
CREATE INDEX grants_user ON grants (user_id);

-- A thing that is taken down is a draft until it is restored, so every rule that hides drafts also hides it.
ALTER TABLE things ADD COLUMN taken_down_at TEXT;
ALTER TABLE things ADD COLUMN takedown_reason TEXT NOT NULL DEFAULT '';

CREATE TABLE moderation_log (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    actor_id   INTEGER NOT NULL REFERENCES users (id),
    action     TEXT NOT NULL CHECK (action IN ('suspend_user', 'restore_user', 'set_user_role', 'take_down_thing', 'restore_thing')),
    user_id    INTEGER NOT NULL REFERENCES users (id), -- the affected user; for a thing, its owner
    thing_id   INTEGER, -- kept when the thing is deleted
    role       TEXT NOT NULL,
    reason     TEXT NOT NULL,
    created_at TEXT NOT NULL
);
CREATE INDEX moderation_log_user ON moderation_log (user_id, id);
