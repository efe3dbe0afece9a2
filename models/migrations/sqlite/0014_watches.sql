-- Watches, notifications, and likes of collections.
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

CREATE TABLE notifications (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id     INTEGER NOT NULL REFERENCES users (id), -- the recipient
    kind        TEXT NOT NULL CHECK (kind IN ('comment', 'reply', 'like', 'make', 'follow', 'remix', 'moderation', 'processing_failed')),
    actor_id    INTEGER REFERENCES users (id), -- NULL: the server or a moderator
    target_type TEXT NOT NULL CHECK (target_type IN ('thing', 'make', 'comment', 'collection', 'user', 'file')),
    target_id   INTEGER NOT NULL,
    created_at  TEXT NOT NULL,
    read_at     TEXT
);
CREATE INDEX notifications_user ON notifications (user_id, id);
CREATE INDEX notifications_unread ON notifications (user_id, id) WHERE read_at IS NULL;
CREATE INDEX notifications_target ON notifications (target_type, target_id);
CREATE INDEX notifications_actor ON notifications (actor_id) WHERE actor_id IS NOT NULL;
CREATE INDEX notifications_created ON notifications (created_at);

CREATE TABLE likes_after (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id     INTEGER NOT NULL REFERENCES users (id),
    target_type TEXT NOT NULL CHECK (target_type IN ('thing', 'make', 'collection')),
    target_id   INTEGER NOT NULL,
    created_at  TEXT NOT NULL,
    UNIQUE (user_id, target_type, target_id)
);
INSERT INTO likes_after (id, user_id, target_type, target_id, created_at) SELECT id, user_id, target_type, target_id, created_at FROM likes;
DELETE FROM sqlite_sequence WHERE name = 'likes_after'; -- so that IDs of deleted rows are not reused
INSERT INTO sqlite_sequence (name, seq) SELECT 'likes_after', seq FROM sqlite_sequence WHERE name = 'likes';
DROP TABLE likes;
ALTER TABLE likes_after RENAME TO likes;
CREATE INDEX likes_target ON likes (target_type, target_id, created_at, id);
CREATE INDEX likes_user ON likes (user_id, target_type, id);

-- Triggers delete notifications and watches of deleted objects, because objects are deleted in many places.
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
