-- The rendering of a model is an image with an id of its own, from the same sequence as the ids of
-- files, so that no id names both a file and a rendering.
ALTER TABLE files ADD COLUMN rendering_id bigint NOT NULL DEFAULT 0; -- 0: the file has none, or it was removed
ALTER TABLE files ADD COLUMN rendering_rank integer; -- NULL: after the images that have a rank
UPDATE files AS f SET rendering_id = r.rendering_id
FROM (
    SELECT m.id, nextval(pg_get_serial_sequence('files', 'id')) AS rendering_id
    FROM (SELECT id FROM files WHERE kind = 'model' AND state = 'finalized' AND sha256 <> '' ORDER BY id) AS m
) AS r
WHERE f.id = r.id;
CREATE UNIQUE INDEX files_rendering ON files (rendering_id) WHERE rendering_id <> 0;
