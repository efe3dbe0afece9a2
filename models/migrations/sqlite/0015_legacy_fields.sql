-- Fields of things and collections that legacy clients set, and the time when users were last active.
ALTER TABLE things ADD COLUMN is_nsfw INTEGER NOT NULL DEFAULT 0;
ALTER TABLE things ADD COLUMN is_ai INTEGER NOT NULL DEFAULT 0;
ALTER TABLE things ADD COLUMN details_parts TEXT NOT NULL DEFAULT '[]'; -- a JSON array of objects
ALTER TABLE collections ADD COLUMN featured_thing_id INTEGER NOT NULL DEFAULT 0; -- 0: none
ALTER TABLE users ADD COLUMN last_active_at TEXT; -- NULL: never, or before it was recorded
