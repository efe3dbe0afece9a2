-- Private collections, the order of things in collections, pending uploads, views, and kinds of things that a user hides.
ALTER TABLE collections ADD COLUMN visibility TEXT NOT NULL DEFAULT 'public' CHECK (visibility IN ('public', 'private'));
-- Sorted in descending order. It is the time when the thing was added, in microseconds since 1970, or the owner's choice.
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
    day      INTEGER NOT NULL, -- days since 1970, in UTC
    viewer   TEXT NOT NULL, -- the ID of a user, or a hash of the day and the network
    PRIMARY KEY (thing_id, day, viewer)
);
CREATE INDEX views_day ON views (day);
ALTER TABLE things ADD COLUMN view_count INTEGER NOT NULL DEFAULT 0;
