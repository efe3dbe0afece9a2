-- The number of featured things by category. It is stored, because counting the rows takes longer the more there are.
ALTER TABLE categories ADD COLUMN featured_count INTEGER NOT NULL DEFAULT 0;
UPDATE categories SET featured_count = f.n
    FROM (SELECT category_id, count(*) AS n FROM things WHERE state = 'published' AND featured_at IS NOT NULL GROUP BY category_id) AS f
    WHERE f.category_id = categories.id;

-- Triggers update the count, because a thing can stop being featured in many ways.
CREATE TRIGGER featured_insert AFTER INSERT ON things WHEN NEW.state = 'published' AND NEW.featured_at IS NOT NULL BEGIN
    INSERT INTO count_changes (of_table, of_column, object_id, delta) VALUES ('categories', 'featured_count', NEW.category_id, 1);
END;
CREATE TRIGGER featured_update AFTER UPDATE OF featured_at, state, category_id ON things
    WHEN (OLD.state = 'published' AND OLD.featured_at IS NOT NULL) * OLD.category_id <> (NEW.state = 'published' AND NEW.featured_at IS NOT NULL) * NEW.category_id BEGIN
    INSERT INTO count_changes (of_table, of_column, object_id, delta) SELECT 'categories', 'featured_count', OLD.category_id, -1 WHERE OLD.state = 'published' AND OLD.featured_at IS NOT NULL;
    INSERT INTO count_changes (of_table, of_column, object_id, delta) SELECT 'categories', 'featured_count', NEW.category_id, 1 WHERE NEW.state = 'published' AND NEW.featured_at IS NOT NULL;
END;
CREATE TRIGGER featured_delete AFTER DELETE ON things WHEN OLD.state = 'published' AND OLD.featured_at IS NOT NULL BEGIN
    INSERT INTO count_changes (of_table, of_column, object_id, delta) VALUES ('categories', 'featured_count', OLD.category_id, -1);
END;
