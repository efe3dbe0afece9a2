-- Everything that is derived from contents. Files with the same content and the same subject share one row.
CREATE TABLE previews (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    sha256   TEXT NOT NULL,
    subject  TEXT NOT NULL, -- what the content is interpreted as: a mesh format, image or gcode
    version  INTEGER NOT NULL, -- the version of the pipeline
    state    TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed')),
    stage    TEXT NOT NULL DEFAULT '',
    progress REAL NOT NULL DEFAULT 0, -- 0 to 1
    error    TEXT NOT NULL DEFAULT '', -- the reason of the failure, for the owner of a file
    attempts INTEGER NOT NULL DEFAULT 0,
    beat_at  TEXT NOT NULL, -- the last heartbeat of the worker
    picture  TEXT NOT NULL DEFAULT '', -- png or jpg; empty: no image
    width    INTEGER NOT NULL DEFAULT 0, -- of the image
    height   INTEGER NOT NULL DEFAULT 0,
    threejs  BOOLEAN NOT NULL DEFAULT false,
    glb      BOOLEAN NOT NULL DEFAULT false,
    mesh     TEXT, -- measurements, as JSON
    UNIQUE (sha256, subject)
);
CREATE INDEX previews_open ON previews (beat_at) WHERE state IN ('waiting', 'running');

-- Keys of shapes. Meshes of the same shape have at least one key in common.
CREATE TABLE shape_keys (
    key        TEXT NOT NULL,
    preview_id INTEGER NOT NULL REFERENCES previews (id) ON DELETE CASCADE,
    PRIMARY KEY (key, preview_id)
);
CREATE INDEX shape_keys_preview ON shape_keys (preview_id);

ALTER TABLE files ADD COLUMN preview_id INTEGER NOT NULL DEFAULT 0; -- 0: the file has no preview
CREATE INDEX files_preview ON files (preview_id) WHERE preview_id <> 0;
