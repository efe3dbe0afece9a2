-- Published things of the kinds that users can hide, by category. There are few, so they are counted quickly, and
-- subtracting them from the total gives the number of the others. The index includes the state, so that SQLite uses an
-- index-only scan.
CREATE INDEX things_hideable ON things (category_id, owner_id, is_nsfw, is_ai, state) WHERE state = 'published' AND (is_nsfw OR is_ai);
