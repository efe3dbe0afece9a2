-- Properties by which a user recognizes a session: the user agent of the browser that started it, and the last use.
ALTER TABLE sessions ADD COLUMN user_agent text NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN last_used_at timestamptz; -- NULL: not used since it started
