-- The URLs for programs that were fetched, so that each counts as one download. They are deleted
-- when they expire.
CREATE TABLE opened_urls (
  token TEXT PRIMARY KEY,
  expires_at TEXT NOT NULL
);
CREATE INDEX opened_urls_expires ON opened_urls (expires_at);
