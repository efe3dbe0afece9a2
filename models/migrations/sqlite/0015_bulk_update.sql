-- When a thing that was deleted in a bulk update is deleted for good. Until then, it is a draft.
-- NULL: it is not being deleted.
ALTER TABLE things ADD COLUMN deletes_at TEXT;
CREATE TABLE bulk_updates (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id    INTEGER NOT NULL REFERENCES users (id),
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL, -- the end of the time in which it can be undone
    undone_at  TEXT, -- NULL: it was not undone
    reason     TEXT NOT NULL -- of deletions
);
CREATE INDEX bulk_updates_expiry ON bulk_updates (expires_at);
CREATE TABLE bulk_update_things (
    update_id     INTEGER NOT NULL REFERENCES bulk_updates (id) ON DELETE CASCADE,
    thing_id      INTEGER NOT NULL REFERENCES things (id) ON DELETE CASCADE,
    deletes       INTEGER NOT NULL,
    modified_at   TEXT NOT NULL, -- of the thing, after the update
    before_update TEXT NOT NULL, -- the values before the update, as JSON
    PRIMARY KEY (update_id, thing_id)
);
CREATE INDEX bulk_update_things_thing ON bulk_update_things (thing_id);
