-- Imports of archives that are not complete.
CREATE TABLE archive_imports (
    source     TEXT PRIMARY KEY, -- the SHA-256 of the manifest
    noun       TEXT NOT NULL, -- whose rows are being loaded
    done       INTEGER NOT NULL, -- how many of them are
    left_out   TEXT NOT NULL, -- JSON: how many rows were left out or changed, by reason
    started_at TEXT NOT NULL
);
-- The ids that the rows of an archive have here, if they are not those in the archive.
CREATE TABLE archive_ids (
    source TEXT NOT NULL REFERENCES archive_imports (source) ON DELETE CASCADE,
    noun   TEXT NOT NULL,
    old_id INTEGER NOT NULL,
    new_id INTEGER NOT NULL,
    PRIMARY KEY (source, noun, old_id)
);
