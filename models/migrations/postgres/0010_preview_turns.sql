-- Owners of files take turns with previews: the next preview is one of the owner whose previews took
-- the least time lately. The table is the queue.
ALTER TABLE previews ADD COLUMN owner_id bigint NOT NULL DEFAULT 0; -- of the file that first wanted it
ALTER TABLE previews ADD COLUMN begun_at timestamptz; -- the last attempt; null: none was made
ALTER TABLE previews ADD COLUMN took_ms bigint NOT NULL DEFAULT 0; -- the last attempt, as far as it got
UPDATE previews SET owner_id = coalesce((SELECT min(f.owner_id) FROM files AS f WHERE f.preview_id = previews.id), 0);

DROP INDEX previews_open;
CREATE INDEX previews_open ON previews (owner_id, id) WHERE state IN ('waiting', 'running');
CREATE INDEX previews_begun ON previews (owner_id, begun_at) WHERE begun_at IS NOT NULL;
