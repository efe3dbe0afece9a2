-- The last complete run of each command that operators repeat, for the metrics of the server.
CREATE TABLE last_runs (
    command  TEXT PRIMARY KEY,
    at       TEXT NOT NULL, -- the moment whose state the run saw
    problems INTEGER NOT NULL -- that the run found
);
