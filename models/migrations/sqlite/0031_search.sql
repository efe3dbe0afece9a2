-- A search looks up each matching thing by its ID, to read whether it is published and its place in the list of results.
-- In the table, rows of adjacent IDs are on different pages; here, hundreds of them are on one page.
CREATE INDEX things_found ON things (id, popularity, published_at) WHERE state = 'published';
