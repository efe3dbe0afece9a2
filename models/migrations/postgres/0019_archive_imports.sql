-- Imports of archives that are not complete.
CREATE TABLE archive_imports (
    source     text PRIMARY KEY, -- the SHA-256 of the manifest
    noun       text NOT NULL, -- whose rows are being loaded
    done       bigint NOT NULL, -- how many of them are
    left_out   text NOT NULL, -- JSON: how many rows were left out or changed, by reason
    started_at timestamptz NOT NULL
);
-- The ids that the rows of an archive have here, if they are not those in the archive.
CREATE TABLE archive_ids (
    source text NOT NULL REFERENCES archive_imports (source) ON DELETE CASCADE,
    noun   text NOT NULL,
    old_id bigint NOT NULL,
    new_id bigint NOT NULL,
    PRIMARY KEY (source, noun, old_id)
);
