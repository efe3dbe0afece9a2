-- The schema of version 1.0.0: tables with their indexes, triggers, and the first rows.

CREATE TABLE secrets (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
);

CREATE TABLE users (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    username          TEXT NOT NULL,
    is_admin          INTEGER NOT NULL,
    first_name        TEXT NOT NULL DEFAULT '',
    last_name         TEXT NOT NULL DEFAULT '',
    email             TEXT NOT NULL DEFAULT '',
    bio               TEXT NOT NULL DEFAULT '',
    location          TEXT NOT NULL DEFAULT '',
    default_license   TEXT NOT NULL DEFAULT 'cc',
    is_moderator      INTEGER NOT NULL DEFAULT 0,
    suspension_reason TEXT NOT NULL DEFAULT '',
    held_bytes        INTEGER NOT NULL DEFAULT 0, -- stored bytes; a count like any other
    avatar_id         INTEGER NOT NULL DEFAULT 0, -- the image file; 0: none
    cover_id          INTEGER NOT NULL DEFAULT 0, -- the image file; 0: none
    hides_nsfw        INTEGER NOT NULL DEFAULT 0,
    hides_ai          INTEGER NOT NULL DEFAULT 0,
    created_at        TEXT NOT NULL,
    suspended_at      TEXT,
    last_active_at    TEXT, -- NULL: never, or before it was recorded
    deleted_at        TEXT, -- the row is kept without personal data, because other rows refer to it
    thing_count       INTEGER NOT NULL DEFAULT 0,
    make_count        INTEGER NOT NULL DEFAULT 0,
    like_count        INTEGER NOT NULL DEFAULT 0,
    collection_count  INTEGER NOT NULL DEFAULT 0,
    follower_count    INTEGER NOT NULL DEFAULT 0,
    following_count   INTEGER NOT NULL DEFAULT 0,
    sort_name         TEXT GENERATED ALWAYS AS (lower(username)) VIRTUAL,
    html_version      INTEGER NOT NULL DEFAULT 0,
    bio_html          TEXT NOT NULL DEFAULT ''
);
CREATE INDEX users_popular ON users (thing_count, id);
CREATE INDEX users_followed ON users (follower_count, id);
CREATE INDEX users_html_version ON users (html_version, id);
CREATE INDEX users_name ON users (sort_name, id);
CREATE INDEX users_staff ON users (id) WHERE is_admin OR is_moderator;
CREATE UNIQUE INDEX users_username ON users (sort_name);

CREATE TABLE categories (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    name           TEXT NOT NULL UNIQUE,
    slug           TEXT NOT NULL UNIQUE,
    parent_id      INTEGER REFERENCES categories (id),
    thing_count    INTEGER NOT NULL DEFAULT 0,
    -- The number of featured things by category. It is stored, because counting the rows takes
    -- longer the more there are.
    featured_count INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX categories_parent ON categories (parent_id);

CREATE TABLE things (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    owner_id           INTEGER NOT NULL REFERENCES users (id),
    name               TEXT NOT NULL,
    state              TEXT NOT NULL CHECK (state IN ('draft', 'unlisted', 'published')),
    license            TEXT NOT NULL,
    category_id        INTEGER NOT NULL REFERENCES categories (id),
    description        TEXT NOT NULL,
    instructions       TEXT NOT NULL,
    is_wip             INTEGER NOT NULL,
    is_derivative      INTEGER NOT NULL DEFAULT 0,
    takedown_reason    TEXT NOT NULL DEFAULT '',
    is_nsfw            INTEGER NOT NULL DEFAULT 0,
    is_ai              INTEGER NOT NULL DEFAULT 0,
    details_parts      TEXT NOT NULL DEFAULT '[]', -- a JSON array of objects
    hidden_state       TEXT NOT NULL DEFAULT '', -- the state before the takedown; empty: not taken down
    source_url         text, -- the page that the thing was copied from; NULL: unknown
    created_at         TEXT NOT NULL,
    modified_at        TEXT NOT NULL,
    published_at       TEXT,
    featured_at        TEXT,
    -- A thing that is taken down is a draft until it is restored, so every rule that hides drafts
    -- also hides it.
    taken_down_at      TEXT,
    popularity         INTEGER NOT NULL DEFAULT 0,
    like_count         INTEGER NOT NULL DEFAULT 0,
    collect_count      INTEGER NOT NULL DEFAULT 0,
    make_count         INTEGER NOT NULL DEFAULT 0,
    comment_count      INTEGER NOT NULL DEFAULT 0,
    root_comment_count INTEGER NOT NULL DEFAULT 0,
    remix_count        INTEGER NOT NULL DEFAULT 0,
    download_count     INTEGER NOT NULL DEFAULT 0,
    view_count         INTEGER NOT NULL DEFAULT 0,
    -- Both engines convert ASCII letters to lower case in the same way, and compare bytes in the
    -- same order.
    sort_name          TEXT GENERATED ALWAYS AS (lower(name)) VIRTUAL,
    -- The HTML of Markdown texts, rendered when a text is saved. Version 0 means not rendered yet. A
    -- job renders rows with old versions again.
    html_version       INTEGER NOT NULL DEFAULT 0,
    description_html   TEXT NOT NULL DEFAULT '',
    instructions_html  TEXT NOT NULL DEFAULT ''
);
CREATE INDEX things_owner ON things (owner_id, id);
-- The IDs of a page are read by index-only scans of these indexes, and then the rows with those IDs.
CREATE INDEX things_newest ON things (published_at, id) WHERE state = 'published';
CREATE INDEX things_popular ON things (popularity, id) WHERE state = 'published';
CREATE INDEX things_featured ON things (featured_at, id) WHERE state = 'published' AND featured_at IS NOT NULL;
CREATE INDEX things_made ON things (make_count, id) WHERE state = 'published';
CREATE INDEX things_category ON things (category_id, published_at, id) WHERE state = 'published';
-- The numbers of recent things of a user are read by index-only scans, for quotas.
CREATE INDEX things_made_at ON things (owner_id, created_at);
CREATE INDEX things_html_version ON things (html_version, id);
CREATE INDEX things_name ON things (sort_name, id) WHERE state = 'published';
CREATE INDEX things_downloaded ON things (download_count, id) WHERE state = 'published';
CREATE INDEX things_liked ON things (like_count, id) WHERE state = 'published';
CREATE INDEX things_updated ON things (modified_at, id) WHERE state = 'published';
-- The feed: the publications of the users that a user follows.
CREATE INDEX things_by ON things (owner_id, published_at, id) WHERE state = 'published';
-- Published things of the kinds that users can hide, by category. There are few, so they are counted
-- quickly, and subtracting them from the total gives the number of the others. The index includes
-- the state, so that SQLite uses an index-only scan.
CREATE INDEX things_hideable ON things (category_id, owner_id, is_nsfw, is_ai, state)
    WHERE state = 'published' AND (is_nsfw OR is_ai);
-- A search looks up each matching thing by its ID, to read whether it is published and its place in
-- the list of results. In the table, rows of adjacent IDs are on different pages; here, hundreds of
-- them are on one page.
CREATE INDEX things_found ON things (id, popularity, published_at) WHERE state = 'published';

-- One row for each object below files/. Finalize and the garbage collector both lock the row, so an
-- object is never deleted while a file that uses it is being finalized.
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
    target_type    TEXT NOT NULL CHECK (target_type IN ('', 'thing', 'make', 'comment', 'avatar', 'cover')),
    target_id      INTEGER NOT NULL,
    thing_id       INTEGER NOT NULL, -- the thing at the root of the target
    rank           INTEGER NOT NULL,
    preview_id     INTEGER NOT NULL DEFAULT 0, -- 0: the file has no preview
    -- The rendering of a model is an image with a separate ID from the same sequence as the IDs of
    -- files, so that no ID identifies both a file and a rendering.
    rendering_id   INTEGER NOT NULL DEFAULT 0, -- 0: the file has no rendering, or it was removed
    rendering_rank INTEGER, -- NULL: sorted after the images with a rank
    note           TEXT NOT NULL DEFAULT '',
    -- The properties of models that filters use. They are copied from the previews, so that filters
    -- read a single index.
    format         TEXT, -- NULL: the file has no preview
    longest_mm     REAL, -- the longest side of the bounding box; NULL, as in the other columns: unknown
    triangles      INTEGER,
    watertight     BOOLEAN,
    created_at     TEXT NOT NULL,
    finalized_at   TEXT,
    expires_at     TEXT,
    -- downloads that are folded into this count; the others are counted from the table downloads
    download_count INTEGER NOT NULL
);
CREATE INDEX files_target ON files (target_type, target_id, rank, id);
CREATE INDEX files_thing ON files (thing_id);
CREATE INDEX files_owner ON files (owner_id);
CREATE INDEX files_sha256 ON files (sha256);
CREATE UNIQUE INDEX files_object_key ON files (object_key) WHERE object_key <> '';
CREATE INDEX files_expires ON files (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX files_preview ON files (preview_id) WHERE preview_id <> 0;
-- The numbers of unfinalized uploads are read by index-only scans, for quotas.
CREATE INDEX files_unfinalized ON files (owner_id) WHERE state <> 'finalized';
CREATE UNIQUE INDEX files_rendering ON files (rendering_id) WHERE rendering_id <> 0;
CREATE INDEX files_models ON files (target_id, target_type, kind, state, format, longest_mm, triangles, watertight)
    WHERE format IS NOT NULL;
CREATE INDEX files_pending ON files (owner_id, id) WHERE state = 'pending';

CREATE TABLE tags (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT NOT NULL, -- in the spelling of the first user who used it
    slug        TEXT NOT NULL UNIQUE, -- the name in lower case, with underscores instead of spaces
    thing_count INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX tags_count ON tags (thing_count DESC, id DESC);

CREATE TABLE thing_tags (
    thing_id INTEGER NOT NULL REFERENCES things (id) ON DELETE CASCADE,
    tag_id   INTEGER NOT NULL REFERENCES tags (id),
    position INTEGER NOT NULL,
    name     TEXT NOT NULL, -- in the spelling of the thing's creator
    PRIMARY KEY (thing_id, tag_id)
);
CREATE INDEX thing_tags_tag ON thing_tags (tag_id, thing_id);

CREATE TABLE thing_ancestors (
    thing_id    INTEGER NOT NULL REFERENCES things (id) ON DELETE CASCADE,
    ancestor_id INTEGER NOT NULL REFERENCES things (id) ON DELETE CASCADE,
    position    INTEGER NOT NULL,
    PRIMARY KEY (thing_id, ancestor_id)
);
CREATE INDEX thing_ancestors_ancestor ON thing_ancestors (ancestor_id, thing_id);

CREATE TABLE follows (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    follower_id INTEGER NOT NULL REFERENCES users (id),
    followed_id INTEGER NOT NULL REFERENCES users (id),
    created_at  TEXT NOT NULL,
    UNIQUE (follower_id, followed_id)
);
CREATE INDEX follows_followed ON follows (followed_id, id);
CREATE INDEX follows_follower ON follows (follower_id, id);

CREATE TABLE collections (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    owner_id          INTEGER NOT NULL REFERENCES users (id),
    name              TEXT NOT NULL,
    description       TEXT NOT NULL,
    featured_thing_id INTEGER NOT NULL DEFAULT 0, -- 0: none
    visibility        TEXT NOT NULL DEFAULT 'public' CHECK (visibility IN ('public', 'private')),
    created_at        TEXT NOT NULL,
    modified_at       TEXT NOT NULL,
    thing_count       INTEGER NOT NULL DEFAULT 0,
    like_count        INTEGER NOT NULL DEFAULT 0, -- users who like the collection
    sort_name         TEXT GENERATED ALWAYS AS (lower(name)) VIRTUAL,
    html_version      INTEGER NOT NULL DEFAULT 0,
    description_html  TEXT NOT NULL DEFAULT ''
);
CREATE INDEX collections_owner ON collections (owner_id, id);
CREATE INDEX collections_popular ON collections (thing_count, id);
CREATE INDEX collections_name ON collections (sort_name, id);
CREATE INDEX collections_by ON collections (owner_id, created_at, id);
CREATE INDEX collections_html_version ON collections (html_version, id);

CREATE TABLE collection_things (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    collection_id INTEGER NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    thing_id      INTEGER NOT NULL REFERENCES things (id) ON DELETE CASCADE,
    -- Sorted in descending order. It is the time when the thing was added, in microseconds since
    -- 1970, or the owner's choice.
    position      INTEGER NOT NULL DEFAULT 0,
    created_at    TEXT NOT NULL,
    UNIQUE (collection_id, thing_id)
);
CREATE INDEX collection_things_thing ON collection_things (thing_id, created_at);
CREATE INDEX collection_things_order ON collection_things (collection_id, position, id);

CREATE TABLE makes (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    thing_id           INTEGER REFERENCES things (id),
    owner_id           INTEGER NOT NULL REFERENCES users (id),
    name               TEXT NOT NULL,
    description        TEXT NOT NULL,
    state              TEXT NOT NULL CHECK (state IN ('draft', 'published')),
    created_at         TEXT NOT NULL,
    published_at       TEXT,
    taken_down_at      TEXT, -- the makes of a thing that was taken down stay hidden when the thing is deleted
    modified_at        TEXT, -- the last change of the make or its list of files; NULL: none
    like_count         INTEGER NOT NULL DEFAULT 0,
    comment_count      INTEGER NOT NULL DEFAULT 0,
    root_comment_count INTEGER NOT NULL DEFAULT 0,
    html_version       INTEGER NOT NULL DEFAULT 0,
    description_html   TEXT NOT NULL DEFAULT ''
);
CREATE INDEX makes_thing ON makes (thing_id, id);
CREATE INDEX makes_owner ON makes (owner_id, id);
CREATE INDEX makes_popular ON makes (like_count, id) WHERE state = 'published';
CREATE INDEX makes_html_version ON makes (html_version, id);
CREATE INDEX makes_by ON makes (owner_id, published_at, id) WHERE state = 'published';
-- The numbers of recent makes and comments of a user are read by index-only scans.
CREATE INDEX makes_made_at ON makes (owner_id, created_at);

CREATE TABLE comments (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    owner_id     INTEGER NOT NULL REFERENCES users (id),
    target_type  TEXT NOT NULL CHECK (target_type IN ('thing', 'make')),
    target_id    INTEGER NOT NULL,
    -- the thing, or the thing of the make; users who can see it can see the comment
    thing_id     INTEGER REFERENCES things (id),
    body         TEXT NOT NULL,
    parent_id    INTEGER,
    spam_body    TEXT NOT NULL DEFAULT '', -- the text of a comment that is hidden as spam
    created_at   TEXT NOT NULL,
    modified_at  TEXT NOT NULL,
    deleted_at   TEXT,
    reported_at  TEXT, -- NULL: not reported, or a moderator has decided
    reply_count  INTEGER NOT NULL DEFAULT 0,
    html_version INTEGER NOT NULL DEFAULT 0,
    body_html    TEXT NOT NULL DEFAULT ''
);
CREATE INDEX comments_target ON comments (target_type, target_id, id);
CREATE INDEX comments_parent ON comments (parent_id, id) WHERE parent_id IS NOT NULL;
CREATE INDEX comments_thing ON comments (thing_id);
CREATE INDEX comments_html_version ON comments (html_version, id);
CREATE INDEX comments_made_at ON comments (owner_id, created_at);

CREATE TABLE downloads (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id    INTEGER NOT NULL REFERENCES users (id),
    file_id    INTEGER REFERENCES files (id) ON DELETE SET NULL,
    thing_id   INTEGER NOT NULL REFERENCES things (id) ON DELETE CASCADE,
    created_at TEXT NOT NULL
);
CREATE INDEX downloads_user ON downloads (user_id, id);
CREATE INDEX downloads_user_thing ON downloads (user_id, thing_id, id);
CREATE INDEX downloads_file ON downloads (file_id);
CREATE INDEX downloads_thing ON downloads (thing_id, created_at);

-- Pending changes of counts. A change is appended in the transaction that causes it, and folded
-- (added) into the column of the count later, so that transactions do not wait for the row of a
-- popular object. The current count is the column plus its pending changes, read in one statement.
CREATE TABLE count_changes (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    of_table  TEXT NOT NULL,
    of_column TEXT NOT NULL,
    object_id INTEGER NOT NULL,
    delta     INTEGER NOT NULL
);
CREATE INDEX count_changes_object ON count_changes (of_table, object_id);

-- Clients that still call deprecated operations.
CREATE TABLE deprecated_calls (
    operation  TEXT NOT NULL,
    token_id   INTEGER NOT NULL,
    user_agent TEXT NOT NULL,
    calls      INTEGER NOT NULL,
    first_at   TEXT NOT NULL,
    last_at    TEXT NOT NULL,
    PRIMARY KEY (operation, token_id, user_agent)
);
-- The oldest deprecated calls are deleted first.
CREATE INDEX deprecated_calls_last ON deprecated_calls (last_at);

CREATE TABLE vocabulary (
    id   INTEGER PRIMARY KEY,
    noun TEXT NOT NULL CHECK (noun IN ('thing', 'make', 'user', 'collection')),
    word TEXT NOT NULL,
    UNIQUE (noun, word)
);

-- The downloads, likes and so on that a thing had before its import. They are added to the counts of
-- the rows in this database.
CREATE TABLE imported_counts (
    thing_id  INTEGER PRIMARY KEY REFERENCES things (id) ON DELETE CASCADE,
    at        TEXT NOT NULL, -- the day to which the popularity attributes them
    downloads INTEGER NOT NULL,
    likes     INTEGER NOT NULL,
    collects  INTEGER NOT NULL,
    makes     INTEGER NOT NULL,
    comments  INTEGER NOT NULL
);

-- Running imports: how many things of a source are imported, and the statements that create indexes
-- at the end.
CREATE TABLE imports (
    source     TEXT PRIMARY KEY,
    done       INTEGER NOT NULL,
    later      TEXT NOT NULL, -- statements, one per line
    started_at TEXT NOT NULL
);

-- Everything that is derived from contents. Files with the same content and the same subject share
-- one row.
CREATE TABLE previews (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    sha256   TEXT NOT NULL,
    subject  TEXT NOT NULL, -- what the content is interpreted as: a mesh format, image or gcode
    version  INTEGER NOT NULL, -- the version of the pipeline
    state    TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed')),
    stage    TEXT NOT NULL DEFAULT '',
    progress REAL NOT NULL DEFAULT 0, -- 0 to 1
    error    TEXT NOT NULL DEFAULT '', -- the reason of the failure, for the owner of a file
    attempts INTEGER NOT NULL DEFAULT 0,
    picture  TEXT NOT NULL DEFAULT '', -- png or jpg; empty: no image
    width    INTEGER NOT NULL DEFAULT 0, -- of the image
    height   INTEGER NOT NULL DEFAULT 0,
    threejs  BOOLEAN NOT NULL DEFAULT false,
    glb      BOOLEAN NOT NULL DEFAULT false,
    mesh     TEXT, -- measurements, as JSON
    -- Meshes of the same shape share a shape_id: the ID of the first preview of that shape. NULL
    -- means not assigned yet.
    shape_id INTEGER,
    -- Fair scheduling of previews among the owners of files: the next preview belongs to the owner
    -- whose previews have used the least processing time recently. The table is the queue.
    owner_id INTEGER NOT NULL DEFAULT 0, -- of the first file that requested it
    took_ms  INTEGER NOT NULL DEFAULT 0, -- the duration of the last attempt so far
    outages  INTEGER NOT NULL DEFAULT 0, -- how many of the last attempts ended because of an outage
    beat_at  TEXT NOT NULL, -- the last heartbeat of the worker
    begun_at TEXT, -- when the last attempt started; NULL: no attempt yet
    UNIQUE (sha256, subject)
);
CREATE INDEX previews_shape ON previews (shape_id) WHERE shape_id IS NOT NULL;
CREATE INDEX previews_shapeless ON previews (id) WHERE shape_id IS NULL AND state = 'done' AND mesh IS NOT NULL;
CREATE INDEX previews_open ON previews (owner_id, id) WHERE state IN ('waiting', 'running');
CREATE INDEX previews_begun ON previews (owner_id, begun_at) WHERE begun_at IS NOT NULL;
CREATE INDEX previews_postponed ON previews (id) WHERE outages > 0;

-- Keys of shapes. Meshes of the same shape have at least one key in common.
CREATE TABLE shape_keys (
    key        TEXT NOT NULL,
    preview_id INTEGER NOT NULL REFERENCES previews (id) ON DELETE CASCADE,
    PRIMARY KEY (key, preview_id)
);
CREATE INDEX shape_keys_preview ON shape_keys (preview_id);

-- Separate from users, so that no list reads the hashes.
CREATE TABLE passwords (
    user_id    INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    hash       TEXT NOT NULL, -- argon2id with its parameters
    changed_at TEXT NOT NULL
);

CREATE TABLE identities (
    issuer     TEXT NOT NULL,
    subject    TEXT NOT NULL,
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at TEXT NOT NULL,
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX identities_user ON identities (user_id);

CREATE TABLE sessions (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id      INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    sha256       TEXT NOT NULL UNIQUE,
    -- Properties by which a user recognizes a session: the user agent of the browser that started
    -- it, and the last use.
    user_agent   TEXT NOT NULL DEFAULT '',
    created_at   TEXT NOT NULL,
    expires_at   TEXT NOT NULL,
    last_used_at TEXT -- NULL: not used since it started
);
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_expires ON sessions (expires_at);

CREATE TABLE applications (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    client_id       TEXT NOT NULL UNIQUE,
    name            TEXT NOT NULL,
    secret_sha256   TEXT NOT NULL, -- empty: a public client, which cannot keep a secret
    redirects       TEXT NOT NULL, -- one per line
    allows_implicit INTEGER NOT NULL,
    created_at      TEXT NOT NULL
);

CREATE TABLE tokens (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id        INTEGER REFERENCES users (id) ON DELETE CASCADE,
    application_id INTEGER REFERENCES applications (id) ON DELETE CASCADE,
    name           TEXT NOT NULL,
    sha256         TEXT NOT NULL UNIQUE,
    scopes         TEXT NOT NULL,
    created_at     TEXT NOT NULL,
    expires_at     TEXT,
    revoked_at     TEXT,
    last_used_at   TEXT
);
CREATE INDEX tokens_user ON tokens (user_id);
CREATE INDEX tokens_application ON tokens (application_id) WHERE application_id IS NOT NULL;

-- Authorization codes. A used code is kept for some time: if it is used again, it has leaked, and
-- the token that was issued for it is revoked.
CREATE TABLE grants (
    sha256         TEXT PRIMARY KEY,
    application_id INTEGER NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    user_id        INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    redirect       TEXT NOT NULL,
    scopes         TEXT NOT NULL,
    challenge      TEXT NOT NULL, -- the PKCE code challenge, S256; empty: none was sent
    token_id       INTEGER, -- the token that was issued for it
    created_at     TEXT NOT NULL,
    expires_at     TEXT NOT NULL
);
CREATE INDEX grants_expires ON grants (expires_at);
CREATE INDEX grants_application ON grants (application_id);
CREATE INDEX grants_user ON grants (user_id);

CREATE TABLE watches (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id     INTEGER NOT NULL REFERENCES users (id),
    target_type TEXT NOT NULL CHECK (target_type IN ('thing', 'make', 'collection')),
    target_id   INTEGER NOT NULL,
    created_at  TEXT NOT NULL,
    UNIQUE (user_id, target_type, target_id)
);
CREATE INDEX watches_target ON watches (target_type, target_id);
CREATE INDEX watches_user ON watches (user_id, target_type, id);

CREATE TABLE moderation_log (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    actor_id   INTEGER REFERENCES users (id), -- NULL: the operator, on the command line
    action     TEXT NOT NULL
        CHECK (action IN ('suspend_user', 'restore_user', 'set_user_role', 'delete_user',
        'rename_user', 'set_password', 'take_down_thing', 'restore_thing', 'feature_thing',
        'unfeature_thing', 'restore_make', 'restore_comment', 'dismiss_spam', 'resolve_report',
        'dismiss_report', 'delete_thing', 'delete_make', 'delete_comment', 'delete_file')),
    user_id    INTEGER NOT NULL REFERENCES users (id), -- the affected user; for an object, its owner
    thing_id   INTEGER, -- kept when the thing is deleted
    role       TEXT NOT NULL,
    reason     TEXT NOT NULL,
    object_id  INTEGER, -- the make, comment, file or report
    created_at TEXT NOT NULL
);
CREATE INDEX moderation_log_user ON moderation_log (user_id, id);

CREATE TABLE notifications (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id     INTEGER NOT NULL REFERENCES users (id), -- the recipient
    kind        TEXT NOT NULL
        CHECK (kind IN ('comment', 'reply', 'like', 'make', 'follow', 'remix', 'moderation',
        'processing_failed')),
    actor_id    INTEGER REFERENCES users (id), -- NULL: the server or a moderator
    target_type TEXT NOT NULL CHECK (target_type IN ('thing', 'make', 'comment', 'collection', 'user', 'file')),
    target_id   INTEGER NOT NULL,
    decision_id INTEGER REFERENCES moderation_log (id), -- NULL: not about a decision
    created_at  TEXT NOT NULL,
    read_at     TEXT
);
CREATE INDEX notifications_user ON notifications (user_id, id);
CREATE INDEX notifications_unread ON notifications (user_id, id) WHERE read_at IS NULL;
CREATE INDEX notifications_target ON notifications (target_type, target_id);
CREATE INDEX notifications_actor ON notifications (actor_id) WHERE actor_id IS NOT NULL;
CREATE INDEX notifications_created ON notifications (created_at);

CREATE TABLE likes (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id     INTEGER NOT NULL REFERENCES users (id),
    target_type TEXT NOT NULL CHECK (target_type IN ('thing', 'make', 'collection')),
    target_id   INTEGER NOT NULL,
    created_at  TEXT NOT NULL,
    UNIQUE (user_id, target_type, target_id)
);
CREATE INDEX likes_target ON likes (target_type, target_id, created_at, id);
CREATE INDEX likes_user ON likes (user_id, target_type, id);

CREATE TABLE reports (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    reporter_id INTEGER NOT NULL REFERENCES users (id),
    target_type TEXT NOT NULL CHECK (target_type IN ('thing', 'make', 'comment', 'collection', 'user')),
    target_id   INTEGER NOT NULL,
    user_id     INTEGER NOT NULL REFERENCES users (id), -- the creator of the object, or the reported user
    reason      TEXT NOT NULL CHECK (reason IN ('spam', 'abuse', 'copyright', 'sexual', 'dangerous', 'other')),
    note        TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('open', 'resolved', 'dismissed')),
    -- NULL: the report is open, or it was closed because the object was deleted
    decided_by  INTEGER REFERENCES users (id),
    decision    TEXT NOT NULL, -- the reason
    decided_at  TEXT,
    created_at  TEXT NOT NULL
);
CREATE UNIQUE INDEX reports_open ON reports (reporter_id, target_type, target_id) WHERE state = 'open';
CREATE INDEX reports_target ON reports (target_type, target_id) WHERE state = 'open';
CREATE INDEX reports_state ON reports (state, id);

-- The progress of imports of archives that are not complete.
CREATE TABLE archive_imports (
    source     TEXT PRIMARY KEY, -- the SHA-256 of the manifest
    noun       TEXT NOT NULL, -- the type of the rows that are being loaded
    done       INTEGER NOT NULL, -- how many of these rows are loaded
    left_out   TEXT NOT NULL, -- JSON: how many rows were left out or changed, by reason
    started_at TEXT NOT NULL
);

-- The new IDs of rows of an archive, if they do not keep their IDs in the archive.
CREATE TABLE archive_ids (
    source TEXT NOT NULL REFERENCES archive_imports (source) ON DELETE CASCADE,
    noun   TEXT NOT NULL,
    old_id INTEGER NOT NULL,
    new_id INTEGER NOT NULL,
    PRIMARY KEY (source, noun, old_id)
);

-- One view for each viewer and day. Rows of days before yesterday are deleted.
CREATE TABLE views (
    thing_id INTEGER NOT NULL REFERENCES things (id) ON DELETE CASCADE,
    day      INTEGER NOT NULL, -- days since 1970, in UTC
    viewer   TEXT NOT NULL, -- the ID of a user, or a hash of the day and the network
    PRIMARY KEY (thing_id, day, viewer)
);
CREATE INDEX views_day ON views (day);

-- Refresh tokens. Used ones are kept until their expiry time: if one is used a second time, it was
-- stolen, and the whole sign-in is revoked.
CREATE TABLE refresh_tokens (
    sha256     TEXT PRIMARY KEY,
    sign_in    TEXT NOT NULL, -- the SHA-256 of the first refresh token of the sign-in
    token_id   INTEGER NOT NULL REFERENCES tokens (id) ON DELETE CASCADE, -- the access token that was issued with it
    expires_at TEXT NOT NULL,
    used_at    TEXT
);
CREATE INDEX refresh_tokens_sign_in ON refresh_tokens (sign_in);
CREATE INDEX refresh_tokens_token ON refresh_tokens (token_id);
CREATE INDEX refresh_tokens_expires ON refresh_tokens (expires_at);

-- Webhooks, and the log of their deliveries, which is also the queue of waiting deliveries.
CREATE TABLE webhooks (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    owner_id         INTEGER NOT NULL REFERENCES users (id),
    is_global        INTEGER NOT NULL DEFAULT 0, -- receives the events of all users
    url              TEXT NOT NULL,
    description      TEXT NOT NULL DEFAULT '',
    events           TEXT NOT NULL, -- the event types, separated by spaces
    secret           TEXT NOT NULL, -- whsec_…; not hashed, because it is needed to sign messages
    old_secret       TEXT NOT NULL DEFAULT '', -- the previous secret, which also signs messages until old_secret_until
    failing_since    TEXT, -- the first failure after the last success
    disabled_reason  TEXT NOT NULL DEFAULT '',
    old_secret_until TEXT,
    disabled_at      TEXT,
    created_at       TEXT NOT NULL,
    modified_at      TEXT NOT NULL
);
CREATE INDEX webhooks_owner ON webhooks (owner_id, id);
CREATE INDEX webhooks_global ON webhooks (id) WHERE is_global;

CREATE TABLE webhook_deliveries (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook_id      INTEGER NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    message_id      TEXT NOT NULL,
    event           TEXT NOT NULL,
    payload         TEXT NOT NULL, -- the body that is signed and sent
    state           TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
    attempts        INTEGER NOT NULL DEFAULT 0,
    status_code     INTEGER NOT NULL DEFAULT 0, -- of the last attempt; 0: no response
    error           TEXT NOT NULL DEFAULT '', -- of the last attempt
    next_attempt_at TEXT, -- during an attempt: the time after which the attempt is considered lost
    attempted_at    TEXT,
    created_at      TEXT NOT NULL
);
CREATE INDEX webhook_deliveries_webhook ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_state ON webhook_deliveries (webhook_id, state, id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_attempt_at) WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_created ON webhook_deliveries (created_at);

-- Confirmed e-mail addresses. A confirmation is valid only while the user has that address, so a
-- change of the profile does not have to update this table.
CREATE TABLE confirmed_emails (
    user_id      INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    email        TEXT NOT NULL,
    confirmed_at TEXT NOT NULL
);
CREATE INDEX confirmed_emails_email ON confirmed_emails (lower(email));

CREATE TABLE invitations (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    email      TEXT NOT NULL, -- empty: no address, or the invitation was used
    created_by INTEGER REFERENCES users (id) ON DELETE SET NULL, -- NULL: created by the operator
    used_by    INTEGER REFERENCES users (id) ON DELETE SET NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    used_at    TEXT
);

-- A link works once. Only the hash of its secret is stored.
CREATE TABLE account_links (
    sha256        TEXT PRIMARY KEY,
    purpose       TEXT NOT NULL,
    user_id       INTEGER REFERENCES users (id) ON DELETE CASCADE,
    invitation_id INTEGER REFERENCES invitations (id) ON DELETE CASCADE,
    email         TEXT NOT NULL, -- the address to which the link was sent; empty: it was not sent
    created_at    TEXT NOT NULL,
    expires_at    TEXT NOT NULL
);
CREATE INDEX account_links_user ON account_links (user_id);
CREATE INDEX account_links_invitation ON account_links (invitation_id);
CREATE INDEX account_links_email ON account_links (lower(email));
CREATE INDEX account_links_expires ON account_links (expires_at);

-- Things whose popularity does not include their newest actions yet. A row remains if its thing is
-- deleted in the meantime.
CREATE TABLE unranked_things (
    thing_id INTEGER PRIMARY KEY
);

-- Downloads that the stored counts of files and things do not include yet. The file may have been
-- deleted in the meantime.
CREATE TABLE new_downloads (
    id       INTEGER PRIMARY KEY, -- the ID of the row in downloads
    thing_id INTEGER NOT NULL,
    file_id  INTEGER NOT NULL
);
CREATE INDEX new_downloads_thing ON new_downloads (thing_id, file_id);

-- The last complete run of each command that operators repeat, for the metrics of the server.
CREATE TABLE last_runs (
    command  TEXT PRIMARY KEY,
    at       TEXT NOT NULL, -- the moment whose state the run saw
    problems INTEGER NOT NULL -- that the run found
);

-- The search index: the words of each object by the field in which they occur, and a vocabulary of
-- all words that have ever occurred, from which misspelled words are corrected. The program folds
-- and splits the words, so the tokenizer only has to keep the marks of scripts that need them.
CREATE VIRTUAL TABLE thing_documents USING fts5 (
    name, tags, creator, body, content = '', contentless_delete = 1, detail = column, prefix = '2 3',
    tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc'"
);
CREATE VIRTUAL TABLE make_documents USING fts5 (
    name, tags, creator, body, content = '', contentless_delete = 1, detail = column, prefix = '2 3',
    tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc'"
);
CREATE VIRTUAL TABLE user_documents USING fts5 (
    name, tags, creator, body, content = '', contentless_delete = 1, detail = column, prefix = '2 3',
    tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc'"
);
CREATE VIRTUAL TABLE collection_documents USING fts5 (
    name, tags, creator, body, content = '', contentless_delete = 1, detail = column, prefix = '2 3',
    tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc'"
);
CREATE VIRTUAL TABLE vocabulary_trigrams USING fts5 (word, content = '', detail = none, tokenize = 'trigram');

CREATE TRIGGER vocabulary_grows AFTER INSERT ON vocabulary BEGIN
    INSERT INTO vocabulary_trigrams (rowid, word) VALUES (new.id, new.word);
END;

-- Triggers update the count, because files are deleted in many places.
CREATE TRIGGER files_come AFTER INSERT ON files WHEN NEW.sha256 <> '' BEGIN
    INSERT INTO count_changes (of_table, of_column, object_id, delta)
        VALUES ('users', 'held_bytes', NEW.owner_id, NEW.size);
END;
CREATE TRIGGER files_change AFTER UPDATE OF size, sha256 ON files
    WHEN (NEW.sha256 <> '') * NEW.size <> (OLD.sha256 <> '') * OLD.size BEGIN
    INSERT INTO count_changes (of_table, of_column, object_id, delta)
        VALUES ('users', 'held_bytes', NEW.owner_id, (NEW.sha256 <> '') * NEW.size - (OLD.sha256 <> '') * OLD.size);
END;
CREATE TRIGGER files_go AFTER DELETE ON files WHEN OLD.sha256 <> '' BEGIN
    INSERT INTO count_changes (of_table, of_column, object_id, delta)
        VALUES ('users', 'held_bytes', OLD.owner_id, -OLD.size);
END;

-- Triggers delete notifications and watches of deleted objects, because objects are deleted in many
-- places.
CREATE TRIGGER things_forget AFTER DELETE ON things BEGIN
    DELETE FROM notifications WHERE target_type = 'thing' AND target_id = OLD.id;
    DELETE FROM watches WHERE target_type = 'thing' AND target_id = OLD.id;
END;
CREATE TRIGGER makes_forget AFTER DELETE ON makes BEGIN
    DELETE FROM notifications WHERE target_type = 'make' AND target_id = OLD.id;
    DELETE FROM watches WHERE target_type = 'make' AND target_id = OLD.id;
END;
CREATE TRIGGER comments_forget AFTER DELETE ON comments BEGIN
    DELETE FROM notifications WHERE target_type = 'comment' AND target_id = OLD.id;
    DELETE FROM watches WHERE target_type = 'comment' AND target_id = OLD.id;
END;
CREATE TRIGGER collections_forget AFTER DELETE ON collections BEGIN
    DELETE FROM notifications WHERE target_type = 'collection' AND target_id = OLD.id;
    DELETE FROM watches WHERE target_type = 'collection' AND target_id = OLD.id;
END;
CREATE TRIGGER files_forget AFTER DELETE ON files BEGIN
    DELETE FROM notifications WHERE target_type = 'file' AND target_id = OLD.id;
    DELETE FROM watches WHERE target_type = 'file' AND target_id = OLD.id;
END;

-- Triggers close the reports of deleted objects.
CREATE TRIGGER things_close_reports AFTER DELETE ON things BEGIN
    UPDATE reports SET state = 'resolved' WHERE target_type = 'thing' AND target_id = OLD.id AND state = 'open';
END;
CREATE TRIGGER makes_close_reports AFTER DELETE ON makes BEGIN
    UPDATE reports SET state = 'resolved' WHERE target_type = 'make' AND target_id = OLD.id AND state = 'open';
END;
CREATE TRIGGER comments_close_reports AFTER DELETE ON comments BEGIN
    UPDATE reports SET state = 'resolved' WHERE target_type = 'comment' AND target_id = OLD.id AND state = 'open';
END;
CREATE TRIGGER collections_close_reports AFTER DELETE ON collections BEGIN
    UPDATE reports SET state = 'resolved' WHERE target_type = 'collection' AND target_id = OLD.id AND state = 'open';
END;

-- Triggers copy the properties of models from the previews to the files.
CREATE TRIGGER files_measured AFTER UPDATE OF preview_id ON files WHEN NEW.preview_id <> 0 BEGIN
    UPDATE files SET format = p.subject,
        longest_mm = max(json_extract(p.mesh, '$.size[0]'), json_extract(p.mesh, '$.size[1]'),
            json_extract(p.mesh, '$.size[2]')),
        triangles = json_extract(p.mesh, '$.triangles'),
        watertight = json_extract(p.mesh, '$.watertight')
    FROM previews AS p
    WHERE p.id = NEW.preview_id AND files.id = NEW.id;
END;
CREATE TRIGGER files_measured_first AFTER INSERT ON files WHEN NEW.preview_id <> 0 BEGIN
    UPDATE files SET format = p.subject,
        longest_mm = max(json_extract(p.mesh, '$.size[0]'), json_extract(p.mesh, '$.size[1]'),
            json_extract(p.mesh, '$.size[2]')),
        triangles = json_extract(p.mesh, '$.triangles'),
        watertight = json_extract(p.mesh, '$.watertight')
    FROM previews AS p
    WHERE p.id = NEW.preview_id AND files.id = NEW.id;
END;
CREATE TRIGGER previews_measured AFTER UPDATE OF mesh ON previews BEGIN
    UPDATE files SET
        longest_mm = max(json_extract(NEW.mesh, '$.size[0]'), json_extract(NEW.mesh, '$.size[1]'),
            json_extract(NEW.mesh, '$.size[2]')),
        triangles = json_extract(NEW.mesh, '$.triangles'),
        watertight = json_extract(NEW.mesh, '$.watertight')
    WHERE preview_id = NEW.id;
END;

-- Triggers update the count, because a thing can stop being featured in many ways.
CREATE TRIGGER featured_insert AFTER INSERT ON things WHEN NEW.state = 'published' AND NEW.featured_at IS NOT NULL BEGIN
    INSERT INTO count_changes (of_table, of_column, object_id, delta)
        VALUES ('categories', 'featured_count', NEW.category_id, 1);
END;
CREATE TRIGGER featured_update AFTER UPDATE OF featured_at, state, category_id ON things
    WHEN (OLD.state = 'published' AND OLD.featured_at IS NOT NULL) * OLD.category_id
        <> (NEW.state = 'published' AND NEW.featured_at IS NOT NULL) * NEW.category_id BEGIN
    INSERT INTO count_changes (of_table, of_column, object_id, delta)
        SELECT 'categories', 'featured_count', OLD.category_id, -1
        WHERE OLD.state = 'published' AND OLD.featured_at IS NOT NULL;
    INSERT INTO count_changes (of_table, of_column, object_id, delta)
        SELECT 'categories', 'featured_count', NEW.category_id, 1
        WHERE NEW.state = 'published' AND NEW.featured_at IS NOT NULL;
END;
CREATE TRIGGER featured_delete AFTER DELETE ON things WHEN OLD.state = 'published' AND OLD.featured_at IS NOT NULL BEGIN
    INSERT INTO count_changes (of_table, of_column, object_id, delta)
        VALUES ('categories', 'featured_count', OLD.category_id, -1);
END;

-- The categories: the main ones, and their subcategories.
INSERT INTO categories (id, name, slug) VALUES
    (1, '3D Printing', '3d-printing'), (2, 'Art', 'art'), (3, 'Fashion', 'fashion'),
    (4, 'Gadgets', 'gadgets'), (5, 'Hobby', 'hobby'), (6, 'Household', 'household'),
    (7, 'Learning', 'learning'), (8, 'Models', 'models'), (9, 'Tools', 'tools'),
    (10, 'Toys & Games', 'toys-and-games'), (11, 'Other', 'other');
INSERT INTO categories (id, name, slug, parent_id) VALUES
    (12, '3D Printer Accessories', '3d-printer-accessories', 1),
    (13, '3D Printer Extruders', '3d-printer-extruders', 1),
    (14, '3D Printer Parts', '3d-printer-parts', 1), (15, '3D Printers', '3d-printers', 1),
    (16, '3D Printing Tests', '3d-printing-tests', 1), (17, '2D Art', '2d-art', 2),
    (18, 'Art Tools', 'art-tools', 2), (19, 'Coins & Badges', 'coins-and-badges', 2),
    (20, 'Interactive Art', 'interactive-art', 2), (21, 'Math Art', 'math-art', 2),
    (22, 'Scans & Replicas', 'scans-and-replicas', 2), (23, 'Sculptures', 'sculptures', 2),
    (24, 'Signs & Logos', 'signs-and-logos', 2), (25, 'Accessories', 'accessories', 3),
    (26, 'Bracelets', 'bracelets', 3), (27, 'Costume', 'costume', 3),
    (28, 'Earrings', 'earrings', 3), (29, 'Glasses', 'glasses', 3), (30, 'Jewelry', 'jewelry', 3),
    (31, 'Keychains', 'keychains', 3), (32, 'Rings', 'rings', 3), (33, 'Audio', 'audio', 4),
    (34, 'Camera', 'camera', 4), (35, 'Computer', 'computer', 4),
    (36, 'Mobile Phone', 'mobile-phone', 4), (37, 'Tablet', 'tablet', 4),
    (38, 'Video Games', 'video-games', 4), (39, 'Automotive', 'automotive', 5),
    (40, 'DIY', 'diy', 5), (41, 'Electronics', 'electronics', 5), (42, 'Music', 'music', 5),
    (43, 'R/C Vehicles', 'rc-vehicles', 5), (44, 'Robotics', 'robotics', 5),
    (45, 'Sports & Outdoors', 'sports-and-outdoors', 5), (46, 'Bathroom', 'bathroom', 6),
    (47, 'Containers', 'containers', 6), (48, 'Decor', 'decor', 6),
    (49, 'Household Supplies', 'household-supplies', 6),
    (50, 'Kitchen & Dining', 'kitchen-and-dining', 6), (51, 'Office', 'office', 6),
    (52, 'Organization', 'organization', 6), (53, 'Outdoor & Garden', 'outdoor-and-garden', 6),
    (54, 'Pets', 'pets', 6), (55, 'Replacement Parts', 'replacement-parts', 6),
    (56, 'Biology', 'biology', 7), (57, 'Engineering', 'engineering', 7), (58, 'Math', 'math', 7),
    (59, 'Physics & Astronomy', 'physics-and-astronomy', 7), (60, 'Animals', 'animals', 8),
    (61, 'Buildings & Structures', 'buildings-and-structures', 8),
    (62, 'Creatures', 'creatures', 8), (63, 'Food & Drink', 'food-and-drink', 8),
    (64, 'Model Furniture', 'model-furniture', 8), (65, 'Model Robots', 'model-robots', 8),
    (66, 'People', 'people', 8), (67, 'Props', 'props', 8), (68, 'Vehicles', 'vehicles', 8),
    (69, 'Hand Tools', 'hand-tools', 9), (70, 'Machine Tools', 'machine-tools', 9),
    (71, 'Parts', 'parts', 9), (72, 'Tool Holders & Boxes', 'tool-holders-and-boxes', 9),
    (73, 'Chess', 'chess', 10), (74, 'Construction Toys', 'construction-toys', 10),
    (75, 'Dice', 'dice', 10), (76, 'Games', 'games', 10),
    (77, 'Mechanical Toys', 'mechanical-toys', 10), (78, 'Playsets', 'playsets', 10),
    (79, 'Puzzles', 'puzzles', 10), (80, 'Toy & Game Accessories', 'toy-and-game-accessories', 10);

-- A random ID by which a backup recognizes the database.
INSERT INTO secrets (name, value) VALUES ('database', randomblob(16));
