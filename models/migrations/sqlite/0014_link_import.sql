-- Imports of things from URLs.
CREATE TABLE link_imports (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id     INTEGER NOT NULL REFERENCES users (id),
    url         TEXT NOT NULL,
    token       TEXT NOT NULL, -- of the other service; empty when the import has ended
    category    TEXT NOT NULL, -- of things without one
    state       TEXT NOT NULL,
    error       TEXT NOT NULL,
    runner      TEXT NOT NULL, -- identifies who runs it; empty: nobody
    attempts    INTEGER NOT NULL,
    files_total INTEGER NOT NULL,
    files_done  INTEGER NOT NULL,
    bytes_total INTEGER NOT NULL,
    bytes_done  INTEGER NOT NULL,
    skipped     TEXT NOT NULL, -- what was skipped and why
    created_at  TEXT NOT NULL,
    beat_at     TEXT, -- the last sign of life of the runner
    finished_at TEXT
);
CREATE INDEX link_imports_user ON link_imports (user_id, id);
CREATE INDEX link_imports_open ON link_imports (id) WHERE finished_at IS NULL;
-- The things that imports from URLs have created.
CREATE TABLE link_things (
    thing_id  INTEGER PRIMARY KEY REFERENCES things (id) ON DELETE CASCADE,
    source    TEXT NOT NULL, -- the SHA-256 of the user, the URL and the path of the thing there
    import_id INTEGER NOT NULL -- the last one that found it
);
CREATE INDEX link_things_source ON link_things (source);
CREATE INDEX link_things_import ON link_things (import_id);
