-- The downloads, likes and so on that a thing had before its import. They are added to the counts of the rows in this database.
CREATE TABLE imported_counts (
    thing_id  INTEGER PRIMARY KEY REFERENCES things (id) ON DELETE CASCADE,
    at        TEXT NOT NULL, -- the day to which the popularity attributes them
    downloads INTEGER NOT NULL,
    likes     INTEGER NOT NULL,
    collects  INTEGER NOT NULL,
    makes     INTEGER NOT NULL,
    comments  INTEGER NOT NULL
);

-- Running imports: how many things of a source are imported, and the statements that create indexes at the end.
CREATE TABLE imports (
    source TEXT PRIMARY KEY,
    started_at TEXT NOT NULL,
    done   INTEGER NOT NULL,
    later  TEXT NOT NULL -- statements, one per line
);
