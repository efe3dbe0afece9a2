-- The numbers of recent makes and comments of a user are read by index-only scans.
CREATE INDEX IF NOT EXISTS makes_made_at ON makes (owner_id, created_at);
CREATE INDEX IF NOT EXISTS comments_made_at ON comments (owner_id, created_at);
