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
