-- Downloads that the stored counts of files and things do not include yet. They were marked in
-- downloads before, where each mark wrote the row and the entries of its indexes again. The file
-- may have been deleted since.
--
-- VACUUM must not remove empty pages at the end, which plans depend on: see growNewDownloads.
CREATE TABLE new_downloads (
    id       bigint PRIMARY KEY, -- of the row of downloads
    thing_id bigint NOT NULL,
    file_id  bigint NOT NULL
) WITH (vacuum_truncate = false);
INSERT INTO new_downloads (id, thing_id, file_id)
    SELECT id, thing_id, coalesce(file_id, 0) FROM downloads WHERE NOT folded;
CREATE INDEX new_downloads_thing ON new_downloads (thing_id, file_id);

DROP INDEX downloads_unfolded;
ALTER TABLE downloads DROP COLUMN folded;
