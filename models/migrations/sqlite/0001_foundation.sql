-- Users, their tokens, the objects that files are attached to (things, makes, comments), files and the download log.

CREATE TABLE secrets (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
);

CREATE TABLE users (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    username   TEXT NOT NULL,
    is_admin   INTEGER NOT NULL,
    created_at TEXT NOT NULL
);
-- User names are unique regardless of case, because Bob and bob would be confused with each other.
CREATE UNIQUE INDEX users_username ON users (lower(username));

CREATE TABLE tokens (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    sha256     TEXT NOT NULL UNIQUE,
    scopes     TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT,
    revoked_at TEXT
);
CREATE INDEX tokens_user ON tokens (user_id);

CREATE TABLE categories (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    slug TEXT NOT NULL UNIQUE
);
INSERT INTO categories (id, name, slug) VALUES
    (1, '3D Printing', '3d-printing'), (2, 'Art', 'art'), (3, 'Fashion', 'fashion'),
    (4, 'Gadgets', 'gadgets'), (5, 'Hobby', 'hobby'), (6, 'Household', 'household'),
    (7, 'Learning', 'learning'), (8, 'Models', 'models'), (9, 'Tools', 'tools'),
    (10, 'Toys & Games', 'toys-and-games'), (11, 'Other', 'other');

CREATE TABLE things (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    owner_id     INTEGER NOT NULL REFERENCES users (id),
    name         TEXT NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('draft', 'published')),
    license      TEXT NOT NULL,
    category_id  INTEGER NOT NULL REFERENCES categories (id),
    description  TEXT NOT NULL,
    instructions TEXT NOT NULL,
    is_wip       INTEGER NOT NULL,
    created_at   TEXT NOT NULL,
    modified_at  TEXT NOT NULL,
    published_at TEXT
);
CREATE INDEX things_owner ON things (owner_id);

CREATE TABLE thing_tags (
    thing_id INTEGER NOT NULL REFERENCES things (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    name     TEXT NOT NULL,
    PRIMARY KEY (thing_id, position)
);

CREATE TABLE makes (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    thing_id     INTEGER NOT NULL REFERENCES things (id),
    owner_id     INTEGER NOT NULL REFERENCES users (id),
    name         TEXT NOT NULL,
    description  TEXT NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('draft', 'published')),
    created_at   TEXT NOT NULL,
    published_at TEXT
);
CREATE INDEX makes_thing ON makes (thing_id);
CREATE INDEX makes_owner ON makes (owner_id);

CREATE TABLE comments (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    owner_id    INTEGER NOT NULL REFERENCES users (id),
    target_type TEXT NOT NULL CHECK (target_type IN ('thing', 'make')),
    target_id   INTEGER NOT NULL,
    thing_id    INTEGER NOT NULL REFERENCES things (id), -- the thing, or the thing of the make; users who can see it can see the comment
    body        TEXT NOT NULL,
    created_at  TEXT NOT NULL
);
CREATE INDEX comments_target ON comments (target_type, target_id);
CREATE INDEX comments_thing ON comments (thing_id);

-- One row for each object below files/. Finalize and the garbage collector both lock the row, so an object is never
-- deleted while a file that uses it is being finalized.
CREATE TABLE contents (
    sha256     TEXT PRIMARY KEY,
    size       INTEGER NOT NULL,
    created_at TEXT NOT NULL
);

CREATE TABLE files (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    owner_id       INTEGER NOT NULL REFERENCES users (id),
    name           TEXT NOT NULL,
    kind           TEXT NOT NULL CHECK (kind IN ('model', 'image', 'attachment')),
    -- staged: the file has an ID and a target, but its bytes have not been uploaded yet
    state          TEXT NOT NULL CHECK (state IN ('staged', 'pending', 'finalized')),
    size           INTEGER NOT NULL,
    content_type   TEXT NOT NULL,
    sha256         TEXT NOT NULL,
    md5            TEXT NOT NULL,
    object_key     TEXT NOT NULL, -- below pending/; empty after the file is finalized
    target_type    TEXT NOT NULL CHECK (target_type IN ('', 'thing', 'make', 'comment')),
    target_id      INTEGER NOT NULL,
    thing_id       INTEGER NOT NULL, -- the thing at the root of the target
    rank           INTEGER NOT NULL,
    download_count INTEGER NOT NULL, -- downloads that are folded into this count; the others are counted from the table downloads
    created_at     TEXT NOT NULL,
    finalized_at   TEXT,
    expires_at     TEXT
);
CREATE INDEX files_target ON files (target_type, target_id, rank, id);
CREATE INDEX files_thing ON files (thing_id);
CREATE INDEX files_owner ON files (owner_id);
CREATE INDEX files_sha256 ON files (sha256);
CREATE UNIQUE INDEX files_object_key ON files (object_key) WHERE object_key <> '';
CREATE INDEX files_expires ON files (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE downloads (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id    INTEGER NOT NULL REFERENCES users (id),
    file_id    INTEGER NOT NULL REFERENCES files (id),
    thing_id   INTEGER NOT NULL REFERENCES things (id),
    created_at TEXT NOT NULL,
    folded     INTEGER NOT NULL -- whether files.download_count includes it
);
CREATE INDEX downloads_user ON downloads (user_id, id);
CREATE INDEX downloads_user_thing ON downloads (user_id, thing_id, id);
CREATE INDEX downloads_unfolded ON downloads (file_id) WHERE NOT folded;
