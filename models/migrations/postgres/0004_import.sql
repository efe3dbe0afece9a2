-- The downloads, likes and so on that a thing had before its import. They are added to the counts of the rows in this database.
CREATE TABLE imported_counts (
    thing_id  bigint PRIMARY KEY REFERENCES things (id) ON DELETE CASCADE,
    at        timestamptz NOT NULL, -- the day to which the popularity attributes them
    downloads bigint NOT NULL,
    likes     bigint NOT NULL,
    collects  bigint NOT NULL,
    makes     bigint NOT NULL,
    comments  bigint NOT NULL
);

-- Running imports: how many things of a source are imported, and the statements that create indexes at the end.
CREATE TABLE imports (
    source text PRIMARY KEY,
    started_at timestamptz NOT NULL,
    done   bigint NOT NULL,
    later  text NOT NULL -- statements, one per line
);
