-- Downloads that the stored counts of files and things do not include yet. Before this migration, the column folded of
-- downloads marked them, and each change of the mark rewrote the row and its index entries. The file may have been
-- deleted in the meantime.
--
-- VACUUM must not truncate empty pages at the end of the table, because query plans depend on them: see growNewDownloads.
CREATE TABLE new_downloads (
    id       bigint PRIMARY KEY, -- the ID of the row in downloads
    thing_id bigint NOT NULL,
    file_id  bigint NOT NULL
) WITH (vacuum_truncate = false);
INSERT INTO new_downloads (id, thing_id, file_id)
    SELECT id, thing_id, coalesce(file_id, 0) FROM downloads WHERE NOT folded;
CREATE INDEX new_downloads_thing ON new_downloads (thing_id, file_id);

DROP INDEX downloads_unfolded;
ALTER TABLE downloads DROP COLUMN folded;
