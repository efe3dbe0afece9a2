-- What is derived from contents: a row for each content and what it is taken for, however many files hold it.
CREATE TABLE previews (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    sha256   TEXT NOT NULL,
    subject  TEXT NOT NULL, -- a format of meshes, image or gcode
    version  INTEGER NOT NULL, -- of the pipeline
    state    TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed')),
    stage    TEXT NOT NULL DEFAULT '',
    progress REAL NOT NULL DEFAULT 0, -- 0 to 1
    error    TEXT NOT NULL DEFAULT '', -- for the owner of a file to read
    attempts INTEGER NOT NULL DEFAULT 0,
    beat_at  TEXT NOT NULL, -- the last sign of whoever works on it
    picture  TEXT NOT NULL DEFAULT '', -- png or jpg; empty: there is none
    width    INTEGER NOT NULL DEFAULT 0, -- of the picture
    height   INTEGER NOT NULL DEFAULT 0,
    threejs  BOOLEAN NOT NULL DEFAULT false,
    glb      BOOLEAN NOT NULL DEFAULT false,
    mesh     TEXT, -- facts
    UNIQUE (sha256, subject)
);
CREATE INDEX previews_open ON previews (beat_at) WHERE state IN ('waiting', 'running');

-- Names that meshes of the same shape share.
CREATE TABLE shape_keys (
    key        TEXT NOT NULL,
    preview_id INTEGER NOT NULL REFERENCES previews (id) ON DELETE CASCADE,
    PRIMARY KEY (key, preview_id)
);
CREATE INDEX shape_keys_preview ON shape_keys (preview_id);

ALTER TABLE files ADD COLUMN preview_id INTEGER NOT NULL DEFAULT 0; -- 0: nothing is derived of it
CREATE INDEX files_preview ON files (preview_id) WHERE preview_id <> 0;
