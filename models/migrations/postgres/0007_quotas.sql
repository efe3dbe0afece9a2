-- The usage of quotas. The stored bytes of a user are a count like any other. The number of uploads that are not finalized and of recently
-- created things are read by index-only scans.
ALTER TABLE users ADD COLUMN held_bytes bigint NOT NULL DEFAULT 0;
CREATE INDEX files_unfinalized ON files (owner_id) WHERE state <> 'finalized';
CREATE INDEX things_made_at ON things (owner_id, created_at);

-- Triggers update the count, because files are deleted in many places.
CREATE FUNCTION count_held_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    delta bigint := 0;
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.sha256 <> '' THEN
        delta := delta - OLD.size;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.sha256 <> '' THEN
        delta := delta + NEW.size;
    END IF;
    IF delta <> 0 THEN
        INSERT INTO count_changes (of_table, of_column, object_id, delta) VALUES ('users', 'held_bytes', coalesce(NEW.owner_id, OLD.owner_id), delta);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER files_come AFTER INSERT ON files FOR EACH ROW WHEN (NEW.sha256 <> '') EXECUTE FUNCTION count_held_bytes();
CREATE TRIGGER files_change AFTER UPDATE OF size, sha256 ON files FOR EACH ROW EXECUTE FUNCTION count_held_bytes();
CREATE TRIGGER files_go AFTER DELETE ON files FOR EACH ROW WHEN (OLD.sha256 <> '') EXECUTE FUNCTION count_held_bytes();
