-- What an import says people did with a thing before: it counts beside what the rows here tell.
CREATE TABLE imported_counts (
    thing_id  INTEGER PRIMARY KEY REFERENCES things (id) ON DELETE CASCADE,
    at        TEXT NOT NULL, -- the day that it counts for in the popularity
    downloads INTEGER NOT NULL,
    likes     INTEGER NOT NULL,
    collects  INTEGER NOT NULL,
    makes     INTEGER NOT NULL,
    comments  INTEGER NOT NULL
);

-- Imports under way: how many things of a source are in, and what is to be built when it ends.
CREATE TABLE imports (
    source TEXT PRIMARY KEY,
    started_at TEXT NOT NULL,
    done   INTEGER NOT NULL,
    later  TEXT NOT NULL -- statements, one a line
);
