-- The HTML of Markdown texts, rendered when a text is saved. Version 0 means not rendered yet. A job renders rows with
-- old versions again.
ALTER TABLE things ADD COLUMN html_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE things ADD COLUMN description_html TEXT NOT NULL DEFAULT '';
ALTER TABLE things ADD COLUMN instructions_html TEXT NOT NULL DEFAULT '';
ALTER TABLE makes ADD COLUMN html_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE makes ADD COLUMN description_html TEXT NOT NULL DEFAULT '';
ALTER TABLE comments ADD COLUMN html_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE comments ADD COLUMN body_html TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN html_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN bio_html TEXT NOT NULL DEFAULT '';
CREATE INDEX things_html_version ON things (html_version, id);
CREATE INDEX makes_html_version ON makes (html_version, id);
CREATE INDEX comments_html_version ON comments (html_version, id);
CREATE INDEX users_html_version ON users (html_version, id);

-- Meshes of the same shape share a shape_id: the ID of the first preview of that shape. NULL means not assigned yet.
ALTER TABLE previews ADD COLUMN shape_id INTEGER;
CREATE INDEX previews_shape ON previews (shape_id) WHERE shape_id IS NOT NULL;
CREATE INDEX previews_shapeless ON previews (id) WHERE shape_id IS NULL AND state = 'done' AND mesh IS NOT NULL;

-- The oldest deprecated calls are deleted first.
CREATE INDEX deprecated_calls_last ON deprecated_calls (last_at);
