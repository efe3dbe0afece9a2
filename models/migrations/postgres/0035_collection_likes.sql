-- The number of users who like a collection.
ALTER TABLE collections ADD COLUMN like_count bigint NOT NULL DEFAULT 0;
UPDATE collections SET like_count = l.n
    FROM (SELECT target_id, count(*) AS n FROM likes WHERE target_type = 'collection' GROUP BY target_id) AS l
    WHERE l.target_id = collections.id;
