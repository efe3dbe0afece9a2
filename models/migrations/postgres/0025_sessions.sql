-- What a user recognizes a session by: the browser that began it, as it names itself, and the last use.
ALTER TABLE sessions ADD COLUMN user_agent text NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN last_used_at timestamptz; -- NULL: not since it began
