-- Published things that users may hide, by category. Few things are, so their number is found
-- quickly, and the number of the others with it.
CREATE INDEX things_hideable ON things (category_id, owner_id, is_nsfw, is_ai) WHERE state = 'published' AND (is_nsfw OR is_ai);
