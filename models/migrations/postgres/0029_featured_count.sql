-- The number of featured things by category. It is stored, because counting the rows takes longer the more there are.
ALTER TABLE categories ADD COLUMN featured_count bigint NOT NULL DEFAULT 0;
UPDATE categories SET featured_count = f.n
    FROM (SELECT category_id, count(*) AS n FROM things WHERE state = 'published' AND featured_at IS NOT NULL GROUP BY category_id) AS f
    WHERE f.category_id = categories.id;

-- Triggers update the count, because a thing can stop being featured in many ways.
CREATE FUNCTION count_featured() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.state = 'published' AND OLD.featured_at IS NOT NULL THEN
        INSERT INTO count_changes (of_table, of_column, object_id, delta) VALUES ('categories', 'featured_count', OLD.category_id, -1);
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.state = 'published' AND NEW.featured_at IS NOT NULL THEN
        INSERT INTO count_changes (of_table, of_column, object_id, delta) VALUES ('categories', 'featured_count', NEW.category_id, 1);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER featured_insert AFTER INSERT ON things FOR EACH ROW WHEN (NEW.featured_at IS NOT NULL) EXECUTE FUNCTION count_featured();
CREATE TRIGGER featured_update AFTER UPDATE OF featured_at, state, category_id ON things FOR EACH ROW
    WHEN (CASE WHEN OLD.state = 'published' AND OLD.featured_at IS NOT NULL THEN OLD.category_id ELSE 0 END
        <> CASE WHEN NEW.state = 'published' AND NEW.featured_at IS NOT NULL THEN NEW.category_id ELSE 0 END)
    EXECUTE FUNCTION count_featured();
CREATE TRIGGER featured_delete AFTER DELETE ON things FOR EACH ROW WHEN (OLD.featured_at IS NOT NULL) EXECUTE FUNCTION count_featured();
