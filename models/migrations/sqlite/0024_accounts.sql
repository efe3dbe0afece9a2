-- Invitations, and links that are sent by e-mail.

-- Confirmed e-mail addresses. A confirmation is valid only while the user has that address, so a change of the profile
-- does not have to update this table.
CREATE TABLE confirmed_emails (
    user_id      INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    email        TEXT NOT NULL,
    confirmed_at TEXT NOT NULL
);
CREATE INDEX confirmed_emails_email ON confirmed_emails (lower(email));

CREATE TABLE invitations (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    email      TEXT NOT NULL, -- empty: no address, or the invitation was used
    created_by INTEGER REFERENCES users (id) ON DELETE SET NULL, -- NULL: created by the operator
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    used_by    INTEGER REFERENCES users (id) ON DELETE SET NULL,
    used_at    TEXT
);

-- A link works once. Only the hash of its secret is stored.
CREATE TABLE account_links (
    sha256        TEXT PRIMARY KEY,
    purpose       TEXT NOT NULL,
    user_id       INTEGER REFERENCES users (id) ON DELETE CASCADE,
    invitation_id INTEGER REFERENCES invitations (id) ON DELETE CASCADE,
    email         TEXT NOT NULL, -- the address to which the link was sent; empty: it was not sent
    created_at    TEXT NOT NULL,
    expires_at    TEXT NOT NULL
);
CREATE INDEX account_links_user ON account_links (user_id);
CREATE INDEX account_links_invitation ON account_links (invitation_id);
CREATE INDEX account_links_email ON account_links (lower(email));
CREATE INDEX account_links_expires ON account_links (expires_at);
