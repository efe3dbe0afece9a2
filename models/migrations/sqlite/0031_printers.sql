-- The printers of users.
CREATE TABLE printers (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    owner_id    INTEGER NOT NULL REFERENCES users (id),
    name        TEXT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('octoprint', 'moonraker', 'prusalink')),
    url         TEXT NOT NULL,
    sealed_key  TEXT NOT NULL DEFAULT '', -- encrypted, in Base64; empty: none
    model       TEXT NOT NULL DEFAULT '',
    nozzle      REAL, -- mm
    bed_width   REAL, -- mm
    bed_depth   REAL, -- mm
    bed_height  REAL, -- mm
    next_at     TEXT, -- when a job is due to look at its prints; during a job: when the job counts as lost
    created_at  TEXT NOT NULL,
    modified_at TEXT NOT NULL
);
CREATE INDEX printers_owner ON printers (owner_id, id);
CREATE INDEX printers_next ON printers (next_at) WHERE next_at IS NOT NULL;

-- The prints that users have sent to their printers. The table is both the queue and the log.
CREATE TABLE print_jobs (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    printer_id        INTEGER NOT NULL REFERENCES printers (id) ON DELETE CASCADE,
    owner_id          INTEGER NOT NULL REFERENCES users (id),
    file_id           INTEGER REFERENCES files (id) ON DELETE SET NULL,
    file_name         TEXT NOT NULL,
    remote_name       TEXT NOT NULL DEFAULT '', -- on the printer; empty: it was never sent
    size              INTEGER NOT NULL,
    state             TEXT NOT NULL CHECK (state IN ('queued', 'held', 'sending', 'printing', 'unknown', 'done', 'failed', 'cancelled')),
    has_waited        INTEGER NOT NULL DEFAULT 0, -- for another print, which may still be on the bed
    has_started       INTEGER NOT NULL DEFAULT 0, -- the printer has reported that it prints
    is_on_printer     INTEGER, -- what the printer said about an unknown print; null: nothing
    progress          REAL NOT NULL DEFAULT 0, -- from 0 to 1
    remaining_seconds INTEGER,
    message           TEXT NOT NULL DEFAULT '',
    sent_at           TEXT,
    canceled_at       TEXT, -- when the user has asked for it
    ended_at          TEXT,
    make_id           INTEGER REFERENCES makes (id) ON DELETE SET NULL, -- the post about the print
    created_at        TEXT NOT NULL
);
CREATE INDEX print_jobs_printer ON print_jobs (printer_id, id);
CREATE INDEX print_jobs_owner ON print_jobs (owner_id, id);
CREATE INDEX print_jobs_file ON print_jobs (file_id);
CREATE INDEX print_jobs_make ON print_jobs (make_id);
CREATE INDEX print_jobs_ended ON print_jobs (ended_at);

-- The picture that the camera of a printer took when a print was done.
CREATE TABLE print_pictures (
    job_id  INTEGER PRIMARY KEY REFERENCES print_jobs (id) ON DELETE CASCADE,
    content BLOB NOT NULL
);
