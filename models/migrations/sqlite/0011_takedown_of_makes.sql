-- The makes of a thing that was taken down stay hidden when the thing is deleted.
ALTER TABLE makes ADD COLUMN taken_down_at TEXT;

-- The moderation log also records deletions by moderators. SQLite cannot change a CHECK constraint, so the table is created again.
ALTER TABLE moderation_log RENAME TO moderation_log_before;
CREATE TABLE moderation_log (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    actor_id   INTEGER NOT NULL REFERENCES users (id),
    action     TEXT NOT NULL CHECK (action IN ('suspend_user', 'restore_user', 'set_user_role',
        'take_down_thing', 'restore_thing', 'delete_thing', 'delete_make', 'delete_comment', 'delete_file')),
    user_id    INTEGER NOT NULL REFERENCES users (id), -- the affected user; for an object, its owner
    thing_id   INTEGER, -- kept when the thing is deleted
    role       TEXT NOT NULL,
    reason     TEXT NOT NULL,
    created_at TEXT NOT NULL,
    object_id  INTEGER -- the make, comment or file that was deleted
);
INSERT INTO moderation_log (id, actor_id, action, user_id, thing_id, role, reason, created_at)
    SELECT id, actor_id, action, user_id, thing_id, role, reason, created_at FROM moderation_log_before;
DROP TABLE moderation_log_before;
CREATE INDEX moderation_log_user ON moderation_log (user_id, id);
