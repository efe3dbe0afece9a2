-- Contents of which a file was deleted. The garbage collector removes their objects some time later,
-- if no file has them.
CREATE TABLE deleted_contents (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    sha256     TEXT NOT NULL,
    deleted_at TEXT NOT NULL
);
CREATE INDEX deleted_contents_sha256 ON deleted_contents (sha256);

-- A trigger inserts the row, because files are deleted in many places.
CREATE TRIGGER files_queue_content AFTER DELETE ON files WHEN OLD.state = 'finalized' AND OLD.sha256 <> ''
BEGIN
    INSERT INTO deleted_contents (sha256, deleted_at) VALUES (OLD.sha256, strftime('%Y-%m-%d %H:%M:%f+00:00', 'now'));
END;
