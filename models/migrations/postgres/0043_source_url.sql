-- The page that a thing was copied from.
ALTER TABLE things ADD COLUMN source_url text; -- null: unknown
