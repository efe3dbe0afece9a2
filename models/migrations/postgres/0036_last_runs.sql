-- The last complete run of each command that operators repeat, for the metrics of the server.
CREATE TABLE last_runs (
    command  text PRIMARY KEY,
    at       timestamptz NOT NULL, -- the moment whose state the run saw
    problems bigint NOT NULL -- that the run found
);
