-- uploads that arrive in several requests. The row of the file exists from the start, in the state
-- staged.
CREATE TABLE uploads (
    file_id      bigint PRIMARY KEY REFERENCES files (id) ON DELETE CASCADE,
    owner_id     bigint NOT NULL,
    name         text NOT NULL, -- of the staged object in the bucket
    multipart    text NOT NULL, -- the ID of the multipart upload in S3
    kind         text NOT NULL, -- that the owner has declared, or empty
    sha256       text NOT NULL, -- that the owner has declared, or empty
    metadata     text NOT NULL, -- JSON, as the client sent it
    length       bigint,       -- bytes; null: not known yet
    received     bigint NOT NULL, -- bytes that are durable
    sums         bytea,          -- the state of the hashes of these bytes
    partial      boolean NOT NULL, -- whether it is a part of another upload
    parts        text NOT NULL, -- JSON: the files that this one joins
    done         boolean NOT NULL, -- whether the file is pending or, if partial, its bytes are
    locked_by    text NOT NULL, -- the request that writes; empty: none
    locked_until timestamptz,
    wanted       boolean NOT NULL, -- whether another request waits for the lock
    created_at   timestamptz NOT NULL
);
CREATE INDEX uploads_owner ON uploads (owner_id);
CREATE UNIQUE INDEX uploads_name ON uploads (name);
