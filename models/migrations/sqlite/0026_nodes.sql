-- The processes that use the database. A row without a heartbeat for some time is deleted.
CREATE TABLE nodes (
    id             TEXT PRIMARY KEY, -- random
    name           TEXT NOT NULL, -- of the host
    version        TEXT NOT NULL,
    roles          TEXT NOT NULL, -- separated by commas
    lowest_schema  INTEGER NOT NULL, -- the numbers of the migrations with which the node works
    highest_schema INTEGER NOT NULL,
    started_at     TEXT NOT NULL,
    seen_at        TEXT NOT NULL
);
