-- What a user recognizes a session by: the browser that began it, as it names itself, and the last use.
ALTER TABLE sessions ADD COLUMN user_agent TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN last_used_at TEXT; -- NULL: not since it began
