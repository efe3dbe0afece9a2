-- Unlisted things, notes of files, reports of content, and entries of the moderation log without an actor.
ALTER TABLE files ADD COLUMN note TEXT NOT NULL DEFAULT '';
ALTER TABLE things ADD COLUMN hidden_state TEXT NOT NULL DEFAULT ''; -- the state before the takedown; empty: not taken down
UPDATE things SET hidden_state = CASE WHEN published_at IS NULL THEN 'draft' ELSE 'published' END WHERE taken_down_at IS NOT NULL;

CREATE TABLE reports (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    reporter_id INTEGER NOT NULL REFERENCES users (id),
    target_type TEXT NOT NULL CHECK (target_type IN ('thing', 'make', 'comment', 'collection', 'user')),
    target_id   INTEGER NOT NULL,
    user_id     INTEGER NOT NULL REFERENCES users (id), -- the creator of the object, or the reported user
    reason      TEXT NOT NULL CHECK (reason IN ('spam', 'abuse', 'copyright', 'sexual', 'dangerous', 'other')),
    note        TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('open', 'resolved', 'dismissed')),
    decided_by  INTEGER REFERENCES users (id), -- NULL: the report is open, or it was closed because the object was deleted
    decided_at  TEXT,
    decision    TEXT NOT NULL, -- the reason
    created_at  TEXT NOT NULL
);
CREATE UNIQUE INDEX reports_open ON reports (reporter_id, target_type, target_id) WHERE state = 'open';
CREATE INDEX reports_target ON reports (target_type, target_id) WHERE state = 'open';
CREATE INDEX reports_state ON reports (state, id);
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

ALTER TABLE moderation_log RENAME TO moderation_log_before;
CREATE TABLE moderation_log (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    actor_id   INTEGER REFERENCES users (id), -- NULL: the operator, on the command line
    action     TEXT NOT NULL CHECK (action IN ('suspend_user', 'restore_user', 'set_user_role', 'delete_user', 'rename_user', 'set_password',
        'take_down_thing', 'restore_thing', 'feature_thing', 'unfeature_thing', 'restore_make', 'restore_comment', 'dismiss_spam',
        'resolve_report', 'dismiss_report', 'delete_thing', 'delete_make', 'delete_comment', 'delete_file')),
    user_id    INTEGER NOT NULL REFERENCES users (id), -- the affected user; for an object, its owner
    thing_id   INTEGER, -- kept when the thing is deleted
    role       TEXT NOT NULL,
    reason     TEXT NOT NULL,
    created_at TEXT NOT NULL,
    object_id  INTEGER -- the make, comment, file or report
);
INSERT INTO moderation_log (id, actor_id, action, user_id, thing_id, role, reason, created_at, object_id)
    SELECT id, actor_id, action, user_id, thing_id, role, reason, created_at, object_id FROM moderation_log_before;
DROP TABLE moderation_log_before;
CREATE INDEX moderation_log_user ON moderation_log (user_id, id);

-- Unlisted things. The CHECK constraint is changed in the same way as that of files in the previous migration.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'state IN (''draft'', ''published'')', 'state IN (''draft'', ''unlisted'', ''published'')')
    WHERE type = 'table' AND name = 'things';
PRAGMA writable_schema = RESET;
