-- The progress of imports of archives that are not complete.
CREATE TABLE archive_imports (
    source     TEXT PRIMARY KEY, -- the SHA-256 of the manifest
    noun       TEXT NOT NULL, -- the type of the rows that are being loaded
    done       INTEGER NOT NULL, -- how many of these rows are loaded
    left_out   TEXT NOT NULL, -- JSON: how many rows were left out or changed, by reason
    started_at TEXT NOT NULL
);
-- The new IDs of rows of an archive, if they do not keep their IDs in the archive.
CREATE TABLE archive_ids (
    source TEXT NOT NULL REFERENCES archive_imports (source) ON DELETE CASCADE,
    noun   TEXT NOT NULL,
    old_id INTEGER NOT NULL,
    new_id INTEGER NOT NULL,
    PRIMARY KEY (source, noun, old_id)
);
