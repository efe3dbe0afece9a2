-- What an import says people did with a thing before: it counts beside what the rows here tell.
CREATE TABLE imported_counts (
    thing_id  bigint PRIMARY KEY REFERENCES things (id) ON DELETE CASCADE,
    at        timestamptz NOT NULL, -- the day that it counts for in the popularity
    downloads bigint NOT NULL,
    likes     bigint NOT NULL,
    collects  bigint NOT NULL,
    makes     bigint NOT NULL,
    comments  bigint NOT NULL
);

-- Imports under way: how many things of a source are in, and what is to be built when it ends.
CREATE TABLE imports (
    source text PRIMARY KEY,
    started_at timestamptz NOT NULL,
    done   bigint NOT NULL,
    later  text NOT NULL -- statements, one a line
);
