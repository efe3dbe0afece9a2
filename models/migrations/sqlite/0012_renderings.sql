-- The rendering of a model is an image with a separate ID from the same sequence as the IDs of files, so that no ID
-- identifies both a file and a rendering.
ALTER TABLE files ADD COLUMN rendering_id INTEGER NOT NULL DEFAULT 0; -- 0: the file has no rendering, or it was removed
ALTER TABLE files ADD COLUMN rendering_rank INTEGER; -- NULL: sorted after the images with a rank
UPDATE files SET rendering_id = r.rendering_id
FROM (
    SELECT id, (SELECT seq FROM sqlite_sequence WHERE name = 'files') + row_number() OVER (ORDER BY id) AS rendering_id
    FROM files WHERE kind = 'model' AND state = 'finalized' AND sha256 <> ''
) AS r
WHERE files.id = r.id;
UPDATE sqlite_sequence SET seq = max(seq, (SELECT coalesce(max(rendering_id), 0) FROM files)) WHERE name = 'files';
CREATE UNIQUE INDEX files_rendering ON files (rendering_id) WHERE rendering_id <> 0;
