-- The documents up to which IDs have been indexed again, until all have been.
CREATE TABLE outdated_documents (
    noun     TEXT PRIMARY KEY,
    after_id INTEGER NOT NULL
);
INSERT INTO outdated_documents (noun, after_id) SELECT 'thing', 0 WHERE EXISTS (SELECT 1 FROM things);
