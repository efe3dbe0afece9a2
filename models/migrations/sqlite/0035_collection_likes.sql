-- The number of users who like a collection.
ALTER TABLE collections ADD COLUMN like_count INTEGER NOT NULL DEFAULT 0;
UPDATE collections SET like_count = (SELECT count(*) FROM likes AS l WHERE l.target_type = 'collection' AND l.target_id = collections.id);
