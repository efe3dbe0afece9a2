-- uploads that arrive in several requests. The row of the file exists from the start, in the state
-- staged.
CREATE TABLE uploads (
    file_id      INTEGER PRIMARY KEY REFERENCES files (id) ON DELETE CASCADE,
    owner_id     INTEGER NOT NULL,
    name         TEXT NOT NULL, -- of the staged object in the bucket
    multipart    TEXT NOT NULL, -- the ID of the multipart upload in S3
    kind         TEXT NOT NULL, -- that the owner has declared, or empty
    sha256       TEXT NOT NULL, -- that the owner has declared, or empty
    metadata     TEXT NOT NULL, -- JSON, as the client sent it
    length       INTEGER,       -- bytes; null: not known yet
    received     INTEGER NOT NULL, -- bytes that are durable
    sums         BLOB,          -- the state of the hashes of these bytes
    partial      INTEGER NOT NULL, -- whether it is a part of another upload
    parts        TEXT NOT NULL, -- JSON: the files that this one joins
    done         INTEGER NOT NULL, -- whether the file is pending or, if partial, its bytes are
    locked_by    TEXT NOT NULL, -- the request that writes; empty: none
    locked_until TEXT,
    wanted       INTEGER NOT NULL, -- whether another request waits for the lock
    created_at   TEXT NOT NULL
);
CREATE INDEX uploads_owner ON uploads (owner_id);
CREATE UNIQUE INDEX uploads_name ON uploads (name);
