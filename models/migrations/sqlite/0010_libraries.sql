-- The libraries: folders of the operator that are read where they lie, and the state of their scans.
CREATE TABLE libraries (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    name          TEXT NOT NULL UNIQUE,
    scanner       TEXT NOT NULL DEFAULT '', -- a random name of the scan in progress; empty: none
    beat_at       TEXT, -- the last sign of life of the scan in progress
    requested_at  TEXT, -- when a scan was requested that has not begun yet
    -- the last scan, or that in progress
    started_at    TEXT,
    finished_at   TEXT, -- NULL: it is in progress, or was interrupted
    error         TEXT NOT NULL DEFAULT '',
    files_found   INTEGER NOT NULL DEFAULT 0,
    files_read    INTEGER NOT NULL DEFAULT 0, -- of the places that had changed
    things_added  INTEGER NOT NULL DEFAULT 0,
    files_added   INTEGER NOT NULL DEFAULT 0,
    files_changed INTEGER NOT NULL DEFAULT 0,
    files_moved   INTEGER NOT NULL DEFAULT 0,
    files_missing INTEGER NOT NULL DEFAULT 0
);

-- The parts of a library that a scan reads at once, such as the folder of a thing. A scan does not
-- read those again whose fingerprint is the same.
CREATE TABLE library_places (
    library_id  INTEGER NOT NULL REFERENCES libraries (id) ON DELETE CASCADE,
    path        TEXT NOT NULL, -- escaped
    kind        TEXT NOT NULL CHECK (kind IN ('thing', 'loose', 'unused')),
    fingerprint INTEGER NOT NULL,
    skipped     INTEGER NOT NULL, -- the number of entries that become no part of a thing
    skips       TEXT NOT NULL, -- JSON: these entries with the reasons
    PRIMARY KEY (library_id, path, kind)
);

-- The things of a library, by the path of the folder or of the first loose file.
CREATE TABLE library_things (
    library_id INTEGER NOT NULL REFERENCES libraries (id) ON DELETE CASCADE,
    source     TEXT NOT NULL, -- escaped
    place_path TEXT NOT NULL,
    place_kind TEXT NOT NULL,
    thing_id   INTEGER UNIQUE REFERENCES things (id) ON DELETE SET NULL, -- NULL: someone deleted the thing
    PRIMARY KEY (library_id, source)
);
CREATE INDEX library_things_place ON library_things (library_id, place_path, place_kind);

-- When a scan did not find the file in its library; NULL: it is there, or it is in no library.
ALTER TABLE files ADD COLUMN missing_since TEXT;
CREATE INDEX files_missing ON files (id) WHERE missing_since IS NOT NULL;
-- The files in libraries that were not read yet.
CREATE INDEX files_unread ON files (id) WHERE sha256 = '' AND object_key <> '' AND missing_since IS NULL;

-- Files in libraries do not count as stored bytes.
DROP TRIGGER files_come;
DROP TRIGGER files_change;
DROP TRIGGER files_go;
CREATE TRIGGER files_come AFTER INSERT ON files WHEN NEW.sha256 <> '' AND NEW.object_key NOT LIKE 'library/%' BEGIN
    INSERT INTO count_changes (of_table, of_column, object_id, delta)
        VALUES ('users', 'held_bytes', NEW.owner_id, NEW.size);
END;
CREATE TRIGGER files_change AFTER UPDATE OF size, sha256 ON files
    WHEN (NEW.sha256 <> '') * NEW.size <> (OLD.sha256 <> '') * OLD.size AND NEW.object_key NOT LIKE 'library/%' BEGIN
    INSERT INTO count_changes (of_table, of_column, object_id, delta)
        VALUES ('users', 'held_bytes', NEW.owner_id, (NEW.sha256 <> '') * NEW.size - (OLD.sha256 <> '') * OLD.size);
END;
CREATE TRIGGER files_go AFTER DELETE ON files WHEN OLD.sha256 <> '' AND OLD.object_key NOT LIKE 'library/%' BEGIN
    INSERT INTO count_changes (of_table, of_column, object_id, delta)
        VALUES ('users', 'held_bytes', OLD.owner_id, -OLD.size);
END;
