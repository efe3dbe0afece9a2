-- Invitations, and the links that people get by mail.

-- An e-mail address is confirmed if it is still the one of the user. Apart from users, so that a change of the profile needs no care.
CREATE TABLE confirmed_emails (
    user_id      INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    email        TEXT NOT NULL,
    confirmed_at TEXT NOT NULL
);
CREATE INDEX confirmed_emails_email ON confirmed_emails (lower(email));

CREATE TABLE invitations (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    email      TEXT NOT NULL, -- empty: none, or it was used
    created_by INTEGER REFERENCES users (id) ON DELETE SET NULL, -- NULL: the operator
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    used_by    INTEGER REFERENCES users (id) ON DELETE SET NULL,
    used_at    TEXT
);

-- A link works once. Only the hash of its secret is kept.
CREATE TABLE account_links (
    sha256        TEXT PRIMARY KEY,
    purpose       TEXT NOT NULL,
    user_id       INTEGER REFERENCES users (id) ON DELETE CASCADE,
    invitation_id INTEGER REFERENCES invitations (id) ON DELETE CASCADE,
    email         TEXT NOT NULL, -- that the link was sent to; empty: it was not sent
    created_at    TEXT NOT NULL,
    expires_at    TEXT NOT NULL
);
CREATE INDEX account_links_user ON account_links (user_id);
CREATE INDEX account_links_invitation ON account_links (invitation_id);
CREATE INDEX account_links_email ON account_links (lower(email));
CREATE INDEX account_links_expires ON account_links (expires_at);
