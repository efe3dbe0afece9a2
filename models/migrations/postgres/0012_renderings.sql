-- The rendering of a model is an image with a separate ID from the same sequence as the IDs of files, so that no ID
-- identifies both a file and a rendering.
ALTER TABLE files ADD COLUMN rendering_id bigint NOT NULL DEFAULT 0; -- 0: the file has no rendering, or it was removed
ALTER TABLE files ADD COLUMN rendering_rank integer; -- NULL: sorted after the images with a rank
UPDATE files AS f SET rendering_id = r.rendering_id
FROM (
    SELECT m.id, nextval(pg_get_serial_sequence('files', 'id')) AS rendering_id
    FROM (SELECT id FROM files WHERE kind = 'model' AND state = 'finalized' AND sha256 <> '' ORDER BY id) AS m
) AS r
WHERE f.id = r.id;
CREATE UNIQUE INDEX files_rendering ON files (rendering_id) WHERE rendering_id <> 0;
