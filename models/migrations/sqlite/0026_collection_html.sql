-- The HTML of the descriptions of collections, in the same way as for other Markdown texts.
ALTER TABLE collections ADD COLUMN html_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE collections ADD COLUMN description_html TEXT NOT NULL DEFAULT '';
CREATE INDEX collections_html_version ON collections (html_version, id);
