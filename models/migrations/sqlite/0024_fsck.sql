-- When fsck found that the object is damaged; NULL: it is not known to be. The next upload of the
-- same bytes replaces it.
ALTER TABLE contents ADD COLUMN damaged_at TEXT;

-- Where an interrupted run of a command goes on.
CREATE TABLE checkpoints (
    task     TEXT PRIMARY KEY, -- such as fsck
    options  TEXT NOT NULL, -- of the run; a run with others starts again
    step     TEXT NOT NULL,
    position TEXT NOT NULL, -- in the step: what is done
    problems INTEGER NOT NULL, -- that the run has found
    saved_at TEXT NOT NULL
);
