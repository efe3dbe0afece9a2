-- What is for the viewer: private collections and their order, pending uploads, views, and hidden kinds of things.
ALTER TABLE collections ADD COLUMN visibility TEXT NOT NULL DEFAULT 'public' CHECK (visibility IN ('public', 'private'));
-- Higher ones first: the time when the thing was added, in microseconds since 1970, or what the owner chose.
ALTER TABLE collection_things ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
UPDATE collection_things SET position = id;
DROP INDEX collection_things_order;
CREATE INDEX collection_things_order ON collection_things (collection_id, position, id);

CREATE INDEX files_pending ON files (owner_id, id) WHERE state = 'pending';

ALTER TABLE users ADD COLUMN hides_nsfw INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN hides_ai INTEGER NOT NULL DEFAULT 0;

-- One view for each viewer and day. Rows of days before yesterday are deleted.
CREATE TABLE views (
    thing_id INTEGER NOT NULL REFERENCES things (id) ON DELETE CASCADE,
    day      INTEGER NOT NULL, -- since 1970, in UTC
    viewer   TEXT NOT NULL, -- the id of a user, or a hash of day and network
    PRIMARY KEY (thing_id, day, viewer)
);
CREATE INDEX views_day ON views (day);
ALTER TABLE things ADD COLUMN view_count INTEGER NOT NULL DEFAULT 0;
