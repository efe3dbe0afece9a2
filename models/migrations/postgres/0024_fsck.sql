-- When fsck found that the object is damaged; NULL: it is not known to be. The next upload of the
-- same bytes replaces it.
ALTER TABLE contents ADD COLUMN damaged_at timestamptz;

-- Where an interrupted run of a command goes on.
CREATE TABLE checkpoints (
    task     text PRIMARY KEY, -- such as fsck
    options  text NOT NULL, -- of the run; a run with others starts again
    step     text NOT NULL,
    position text NOT NULL, -- in the step: what is done
    problems bigint NOT NULL, -- that the run has found
    saved_at timestamptz NOT NULL
);
