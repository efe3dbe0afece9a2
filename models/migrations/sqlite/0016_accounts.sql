-- Deleted accounts, images of users, and comments that were reported or hidden as spam.
ALTER TABLE users ADD COLUMN deleted_at TEXT; -- the row is kept without personal data, because other rows refer to it
ALTER TABLE users ADD COLUMN avatar_id INTEGER NOT NULL DEFAULT 0; -- the image file; 0: none
ALTER TABLE users ADD COLUMN cover_id INTEGER NOT NULL DEFAULT 0; -- the image file; 0: none
ALTER TABLE comments ADD COLUMN reported_at TEXT; -- NULL: not reported, or a moderator has decided
ALTER TABLE comments ADD COLUMN spam_body TEXT NOT NULL DEFAULT ''; -- the text of a comment that is hidden as spam

ALTER TABLE moderation_log RENAME TO moderation_log_before;
CREATE TABLE moderation_log (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    actor_id   INTEGER NOT NULL REFERENCES users (id),
    action     TEXT NOT NULL CHECK (action IN ('suspend_user', 'restore_user', 'set_user_role', 'delete_user',
        'take_down_thing', 'restore_thing', 'restore_make', 'restore_comment',
        'delete_thing', 'delete_make', 'delete_comment', 'delete_file')),
    user_id    INTEGER NOT NULL REFERENCES users (id), -- the affected user; for an object, its owner
    thing_id   INTEGER, -- kept when the thing is deleted
    role       TEXT NOT NULL,
    reason     TEXT NOT NULL,
    created_at TEXT NOT NULL,
    object_id  INTEGER -- the make, comment or file
);
INSERT INTO moderation_log (id, actor_id, action, user_id, thing_id, role, reason, created_at, object_id)
    SELECT id, actor_id, action, user_id, thing_id, role, reason, created_at, object_id FROM moderation_log_before;
DROP TABLE moderation_log_before;
CREATE INDEX moderation_log_user ON moderation_log (user_id, id);

-- Avatars and covers of users. SQLite cannot change a CHECK constraint, and the table cannot be created again, because
-- dropping the old one would set the references to its rows to NULL. This is the procedure that SQLite documents for
-- such changes:
-- https://www.sqlite.org/lang_altertable.html#otheralter
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'target_type IN ('''', ''thing'', ''make'', ''comment'')', 'target_type IN ('''', ''thing'', ''make'', ''comment'', ''avatar'', ''cover'')')
    WHERE type = 'table' AND name = 'files';
PRAGMA writable_schema = RESET;
