-- Downloads that the stored counts of files and things do not include yet. Before this migration, the column folded of
-- downloads marked them, and each change of the mark rewrote the row. The file may have been deleted in the meantime.
CREATE TABLE new_downloads (
    id       INTEGER PRIMARY KEY, -- the ID of the row in downloads
    thing_id INTEGER NOT NULL,
    file_id  INTEGER NOT NULL
);
INSERT INTO new_downloads (id, thing_id, file_id)
    SELECT id, thing_id, coalesce(file_id, 0) FROM downloads WHERE NOT folded;
CREATE INDEX new_downloads_thing ON new_downloads (thing_id, file_id);

DROP INDEX downloads_unfolded;
ALTER TABLE downloads DROP COLUMN folded;
