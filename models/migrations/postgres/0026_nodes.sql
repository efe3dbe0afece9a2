-- The processes that use the database. A row without a heartbeat for some time is deleted.
CREATE TABLE nodes (
    id             text PRIMARY KEY, -- random
    name           text NOT NULL, -- of the host
    version        text NOT NULL,
    roles          text NOT NULL, -- separated by commas
    lowest_schema  integer NOT NULL, -- the numbers of the migrations with which the node works
    highest_schema integer NOT NULL,
    started_at     timestamptz NOT NULL,
    seen_at        timestamptz NOT NULL
);

-- The counts of rate limits, which all nodes share. The table is unlogged: a crash of PostgreSQL
-- resets the counts, and a change does not wait for the disk.
CREATE UNLOGGED TABLE rate_limits (
    key     bytea PRIMARY KEY, -- SHA-256 of the name of the limit and the caller
    used    bigint NOT NULL,
    ends_at timestamptz NOT NULL
);

-- Up to where a replica must have replayed before it may serve an account that has written.
CREATE UNLOGGED TABLE written_positions (
    account    text PRIMARY KEY, -- such as user 5
    position   pg_lsn NOT NULL,
    written_at timestamptz NOT NULL
);
