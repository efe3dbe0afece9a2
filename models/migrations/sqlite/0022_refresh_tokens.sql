-- Refresh tokens. Used ones are kept until their expiry time: if one is used a second time, it was stolen, and the whole
-- sign-in is revoked.
CREATE TABLE refresh_tokens (
    sha256     TEXT PRIMARY KEY,
    sign_in    TEXT NOT NULL, -- the SHA-256 of the first refresh token of the sign-in
    token_id   INTEGER NOT NULL REFERENCES tokens (id) ON DELETE CASCADE, -- the access token that was issued with it
    expires_at TEXT NOT NULL,
    used_at    TEXT
);
CREATE INDEX refresh_tokens_sign_in ON refresh_tokens (sign_in);
CREATE INDEX refresh_tokens_token ON refresh_tokens (token_id);
CREATE INDEX refresh_tokens_expires ON refresh_tokens (expires_at);
