-- NULL: the license that the code in the column license means.
ALTER TABLE things ADD COLUMN license_id text;
-- Where a thing comes from; the page is source_url. NULL: unknown.
ALTER TABLE things ADD COLUMN origin_creator text;
ALTER TABLE things ADD COLUMN origin_creator_url text;
ALTER TABLE things ADD COLUMN origin_site text;
ALTER TABLE things ADD COLUMN imported_at TEXT;
