-- Fair scheduling of previews among the owners of files: the next preview belongs to the owner whose previews have used
-- the least processing time recently. The table is the queue.
ALTER TABLE previews ADD COLUMN owner_id INTEGER NOT NULL DEFAULT 0; -- of the first file that requested it
ALTER TABLE previews ADD COLUMN begun_at TEXT; -- when the last attempt started; NULL: no attempt yet
ALTER TABLE previews ADD COLUMN took_ms INTEGER NOT NULL DEFAULT 0; -- the duration of the last attempt so far
UPDATE previews SET owner_id = coalesce((SELECT min(f.owner_id) FROM files AS f WHERE f.preview_id = previews.id), 0);

DROP INDEX previews_open;
CREATE INDEX previews_open ON previews (owner_id, id) WHERE state IN ('waiting', 'running');
CREATE INDEX previews_begun ON previews (owner_id, begun_at) WHERE begun_at IS NOT NULL;
