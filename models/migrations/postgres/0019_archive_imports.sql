-- The progress of imports of archives that are not complete.
CREATE TABLE archive_imports (
    source     text PRIMARY KEY, -- the SHA-256 of the manifest
    noun       text NOT NULL, -- the type of the rows that are being loaded
    done       bigint NOT NULL, -- how many of these rows are loaded
    left_out   text NOT NULL, -- JSON: how many rows were left out or changed, by reason
    started_at timestamptz NOT NULL
);
-- The new IDs of rows of an archive, if they do not keep their IDs in the archive.
CREATE TABLE archive_ids (
    source text NOT NULL REFERENCES archive_imports (source) ON DELETE CASCADE,
    noun   text NOT NULL,
    old_id bigint NOT NULL,
    new_id bigint NOT NULL,
    PRIMARY KEY (source, noun, old_id)
);
