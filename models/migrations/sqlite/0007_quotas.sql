-- The usage of quotas. The stored bytes of a user are a count like any other. The number of uploads that are not finalized and of recently
-- created things are read by index-only scans.
ALTER TABLE users ADD COLUMN held_bytes INTEGER NOT NULL DEFAULT 0;
CREATE INDEX files_unfinalized ON files (owner_id) WHERE state <> 'finalized';
CREATE INDEX things_made_at ON things (owner_id, created_at);

-- Triggers update the count, because files are deleted in many places.
CREATE TRIGGER files_come AFTER INSERT ON files WHEN NEW.sha256 <> '' BEGIN
    INSERT INTO count_changes (of_table, of_column, object_id, delta) VALUES ('users', 'held_bytes', NEW.owner_id, NEW.size);
END;
CREATE TRIGGER files_change AFTER UPDATE OF size, sha256 ON files WHEN (NEW.sha256 <> '') * NEW.size <> (OLD.sha256 <> '') * OLD.size BEGIN
    INSERT INTO count_changes (of_table, of_column, object_id, delta)
        VALUES ('users', 'held_bytes', NEW.owner_id, (NEW.sha256 <> '') * NEW.size - (OLD.sha256 <> '') * OLD.size);
END;
CREATE TRIGGER files_go AFTER DELETE ON files WHEN OLD.sha256 <> '' BEGIN
    INSERT INTO count_changes (of_table, of_column, object_id, delta) VALUES ('users', 'held_bytes', OLD.owner_id, -OLD.size);
END;
