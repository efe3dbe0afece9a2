-- The catalogue: tags, a tree of categories, remixes, likes, collections, followers, threads of comments, and stored counts.
ALTER TABLE users ADD COLUMN first_name TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN last_name TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN email TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN bio TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN location TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN default_license TEXT NOT NULL DEFAULT 'cc';
ALTER TABLE users ADD COLUMN thing_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN make_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN like_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN collection_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN follower_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN following_count INTEGER NOT NULL DEFAULT 0;

ALTER TABLE categories ADD COLUMN parent_id INTEGER REFERENCES categories (id);
ALTER TABLE categories ADD COLUMN thing_count INTEGER NOT NULL DEFAULT 0;

CREATE INDEX categories_parent ON categories (parent_id);
INSERT INTO categories (id, name, slug, parent_id) VALUES
    (12, '3D Printer Accessories', '3d-printer-accessories', 1), (13, '3D Printer Extruders', '3d-printer-extruders', 1),
    (14, '3D Printer Parts', '3d-printer-parts', 1), (15, '3D Printers', '3d-printers', 1), (16, '3D Printing Tests', '3d-printing-tests', 1),
    (17, '2D Art', '2d-art', 2), (18, 'Art Tools', 'art-tools', 2), (19, 'Coins & Badges', 'coins-and-badges', 2),
    (20, 'Interactive Art', 'interactive-art', 2), (21, 'Math Art', 'math-art', 2), (22, 'Scans & Replicas', 'scans-and-replicas', 2),
    (23, 'Sculptures', 'sculptures', 2), (24, 'Signs & Logos', 'signs-and-logos', 2), (25, 'Accessories', 'accessories', 3),
    (26, 'Bracelets', 'bracelets', 3), (27, 'Costume', 'costume', 3), (28, 'Earrings', 'earrings', 3), (29, 'Glasses', 'glasses', 3),
    (30, 'Jewelry', 'jewelry', 3), (31, 'Keychains', 'keychains', 3), (32, 'Rings', 'rings', 3), (33, 'Audio', 'audio', 4),
    (34, 'Camera', 'camera', 4), (35, 'Computer', 'computer', 4), (36, 'Mobile Phone', 'mobile-phone', 4), (37, 'Tablet', 'tablet', 4),
    (38, 'Video Games', 'video-games', 4), (39, 'Automotive', 'automotive', 5), (40, 'DIY', 'diy', 5), (41, 'Electronics', 'electronics', 5),
    (42, 'Music', 'music', 5), (43, 'R/C Vehicles', 'rc-vehicles', 5), (44, 'Robotics', 'robotics', 5),
    (45, 'Sports & Outdoors', 'sports-and-outdoors', 5), (46, 'Bathroom', 'bathroom', 6), (47, 'Containers', 'containers', 6),
    (48, 'Decor', 'decor', 6), (49, 'Household Supplies', 'household-supplies', 6), (50, 'Kitchen & Dining', 'kitchen-and-dining', 6),
    (51, 'Office', 'office', 6), (52, 'Organization', 'organization', 6), (53, 'Outdoor & Garden', 'outdoor-and-garden', 6), (54, 'Pets', 'pets', 6),
    (55, 'Replacement Parts', 'replacement-parts', 6), (56, 'Biology', 'biology', 7), (57, 'Engineering', 'engineering', 7), (58, 'Math', 'math', 7),
    (59, 'Physics & Astronomy', 'physics-and-astronomy', 7), (60, 'Animals', 'animals', 8),
    (61, 'Buildings & Structures', 'buildings-and-structures', 8), (62, 'Creatures', 'creatures', 8), (63, 'Food & Drink', 'food-and-drink', 8),
    (64, 'Model Furniture', 'model-furniture', 8), (65, 'Model Robots', 'model-robots', 8), (66, 'People', 'people', 8), (67, 'Props', 'props', 8),
    (68, 'Vehicles', 'vehicles', 8), (69, 'Hand Tools', 'hand-tools', 9), (70, 'Machine Tools', 'machine-tools', 9), (71, 'Parts', 'parts', 9),
    (72, 'Tool Holders & Boxes', 'tool-holders-and-boxes', 9), (73, 'Chess', 'chess', 10), (74, 'Construction Toys', 'construction-toys', 10),
    (75, 'Dice', 'dice', 10), (76, 'Games', 'games', 10), (77, 'Mechanical Toys', 'mechanical-toys', 10), (78, 'Playsets', 'playsets', 10),
    (79, 'Puzzles', 'puzzles', 10), (80, 'Toy & Game Accessories', 'toy-and-game-accessories', 10);

ALTER TABLE things ADD COLUMN is_derivative INTEGER NOT NULL DEFAULT 0;
ALTER TABLE things ADD COLUMN featured_at TEXT;
ALTER TABLE things ADD COLUMN popularity INTEGER NOT NULL DEFAULT 0;
ALTER TABLE things ADD COLUMN like_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE things ADD COLUMN collect_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE things ADD COLUMN make_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE things ADD COLUMN comment_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE things ADD COLUMN root_comment_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE things ADD COLUMN remix_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE things ADD COLUMN download_count INTEGER NOT NULL DEFAULT 0;

DROP INDEX things_owner;
CREATE INDEX things_owner ON things (owner_id, id);
-- The IDs of a page are read by index-only scans of these indexes, and then the rows with those IDs.
CREATE INDEX things_newest ON things (published_at, id) WHERE state = 'published';
CREATE INDEX things_popular ON things (popularity, id) WHERE state = 'published';
CREATE INDEX things_featured ON things (featured_at, id) WHERE state = 'published' AND featured_at IS NOT NULL;
CREATE INDEX things_made ON things (make_count, id) WHERE state = 'published';
CREATE INDEX things_category ON things (category_id, published_at, id) WHERE state = 'published';

CREATE TABLE tags (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT NOT NULL, -- in the spelling of the first user who used it
    slug        TEXT NOT NULL UNIQUE, -- the name in lower case, with underscores instead of spaces
    thing_count INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX tags_count ON tags (thing_count DESC, id DESC);
-- This creates one tag for each spelling. slugTags then sets the slugs and merges tags with the same slug.
INSERT INTO tags (name, slug) SELECT name, ' ' || name FROM thing_tags GROUP BY name ORDER BY min(thing_id), min(position);
ALTER TABLE thing_tags RENAME TO thing_tags_before;
CREATE TABLE thing_tags (
    thing_id INTEGER NOT NULL REFERENCES things (id) ON DELETE CASCADE,
    tag_id   INTEGER NOT NULL REFERENCES tags (id),
    position INTEGER NOT NULL,
    name     TEXT NOT NULL, -- in the spelling of the thing's creator
    PRIMARY KEY (thing_id, tag_id)
);
INSERT INTO thing_tags (thing_id, tag_id, position, name)
    SELECT b.thing_id, g.id, min(b.position), min(b.name) FROM thing_tags_before AS b JOIN tags AS g ON g.name = b.name GROUP BY b.thing_id, g.id;
DROP TABLE thing_tags_before;
CREATE INDEX thing_tags_tag ON thing_tags (tag_id, thing_id);

CREATE TABLE thing_ancestors (
    thing_id    INTEGER NOT NULL REFERENCES things (id) ON DELETE CASCADE,
    ancestor_id INTEGER NOT NULL REFERENCES things (id) ON DELETE CASCADE,
    position    INTEGER NOT NULL,
    PRIMARY KEY (thing_id, ancestor_id)
);
CREATE INDEX thing_ancestors_ancestor ON thing_ancestors (ancestor_id, thing_id);

CREATE TABLE likes (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id     INTEGER NOT NULL REFERENCES users (id),
    target_type TEXT NOT NULL CHECK (target_type IN ('thing', 'make')),
    target_id   INTEGER NOT NULL,
    created_at  TEXT NOT NULL,
    UNIQUE (user_id, target_type, target_id)
);
CREATE INDEX likes_target ON likes (target_type, target_id, created_at, id);
CREATE INDEX likes_user ON likes (user_id, target_type, id);

CREATE TABLE follows (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    follower_id INTEGER NOT NULL REFERENCES users (id),
    followed_id INTEGER NOT NULL REFERENCES users (id),
    created_at  TEXT NOT NULL,
    UNIQUE (follower_id, followed_id)
);
CREATE INDEX follows_followed ON follows (followed_id, id);
CREATE INDEX follows_follower ON follows (follower_id, id);

CREATE TABLE collections (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    owner_id    INTEGER NOT NULL REFERENCES users (id),
    name        TEXT NOT NULL,
    description TEXT NOT NULL,
    thing_count INTEGER NOT NULL DEFAULT 0,
    created_at  TEXT NOT NULL,
    modified_at TEXT NOT NULL
);
CREATE INDEX collections_owner ON collections (owner_id, id);

CREATE TABLE collection_things (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    collection_id INTEGER NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
    thing_id      INTEGER NOT NULL REFERENCES things (id) ON DELETE CASCADE,
    created_at    TEXT NOT NULL,
    UNIQUE (collection_id, thing_id)
);
CREATE INDEX collection_things_thing ON collection_things (thing_id, created_at);
CREATE INDEX collection_things_order ON collection_things (collection_id, id);

-- Makes, and the comments on them, are kept when their thing is deleted. Downloads are kept when their file is deleted.
ALTER TABLE makes RENAME TO makes_before;
CREATE TABLE makes (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    thing_id           INTEGER REFERENCES things (id),
    owner_id           INTEGER NOT NULL REFERENCES users (id),
    name               TEXT NOT NULL,
    description        TEXT NOT NULL,
    state              TEXT NOT NULL CHECK (state IN ('draft', 'published')),
    created_at         TEXT NOT NULL,
    published_at       TEXT,
    like_count         INTEGER NOT NULL DEFAULT 0,
    comment_count      INTEGER NOT NULL DEFAULT 0,
    root_comment_count INTEGER NOT NULL DEFAULT 0
);
INSERT INTO makes (id, thing_id, owner_id, name, description, state, created_at, published_at)
    SELECT id, thing_id, owner_id, name, description, state, created_at, published_at FROM makes_before;
DELETE FROM sqlite_sequence WHERE name = 'makes'; -- so that IDs of deleted rows are not reused
INSERT INTO sqlite_sequence (name, seq) SELECT 'makes', seq FROM sqlite_sequence WHERE name = 'makes_before';
DROP TABLE makes_before;
ALTER TABLE comments RENAME TO comments_before;
CREATE TABLE comments (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    owner_id    INTEGER NOT NULL REFERENCES users (id),
    target_type TEXT NOT NULL CHECK (target_type IN ('thing', 'make')),
    target_id   INTEGER NOT NULL,
    thing_id    INTEGER REFERENCES things (id), -- the thing, or the make's thing: who may see it may see this
    body        TEXT NOT NULL,
    created_at  TEXT NOT NULL,
    parent_id   INTEGER,
    modified_at TEXT NOT NULL,
    deleted_at  TEXT,
    reply_count INTEGER NOT NULL DEFAULT 0
);
INSERT INTO comments (id, owner_id, target_type, target_id, thing_id, body, created_at, modified_at)
    SELECT id, owner_id, target_type, target_id, thing_id, body, created_at, created_at FROM comments_before;
DELETE FROM sqlite_sequence WHERE name = 'comments'; -- so that IDs of deleted rows are not reused
INSERT INTO sqlite_sequence (name, seq) SELECT 'comments', seq FROM sqlite_sequence WHERE name = 'comments_before';
DROP TABLE comments_before;
ALTER TABLE downloads RENAME TO downloads_before;
CREATE TABLE downloads (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id    INTEGER NOT NULL REFERENCES users (id),
    file_id    INTEGER REFERENCES files (id) ON DELETE SET NULL,
    thing_id   INTEGER NOT NULL REFERENCES things (id) ON DELETE CASCADE,
    created_at TEXT NOT NULL,
    folded     INTEGER NOT NULL -- whether the counts of the file and the thing include it
);
INSERT INTO downloads (id, user_id, file_id, thing_id, created_at, folded)
    SELECT id, user_id, file_id, thing_id, created_at, folded FROM downloads_before;
DELETE FROM sqlite_sequence WHERE name = 'downloads'; -- so that IDs of deleted rows are not reused
INSERT INTO sqlite_sequence (name, seq) SELECT 'downloads', seq FROM sqlite_sequence WHERE name = 'downloads_before';
DROP TABLE downloads_before;
CREATE INDEX downloads_user ON downloads (user_id, id);
CREATE INDEX downloads_user_thing ON downloads (user_id, thing_id, id);
CREATE INDEX makes_thing ON makes (thing_id, id);
CREATE INDEX makes_owner ON makes (owner_id, id);
CREATE INDEX comments_target ON comments (target_type, target_id, id);
CREATE INDEX comments_parent ON comments (parent_id, id) WHERE parent_id IS NOT NULL;
CREATE INDEX comments_thing ON comments (thing_id);
CREATE INDEX downloads_file ON downloads (file_id);
CREATE INDEX downloads_thing ON downloads (thing_id, created_at);
CREATE INDEX downloads_unfolded ON downloads (thing_id, file_id) WHERE NOT folded;

-- Pending changes of counts. A change is appended in the transaction that causes it, and folded (added) into the column of the count
-- later, so that transactions do not wait for the row of a popular object. The current count is the column plus its pending changes,
-- read in one statement.
CREATE TABLE count_changes (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    of_table  TEXT NOT NULL,
    of_column TEXT NOT NULL,
    object_id INTEGER NOT NULL,
    delta     INTEGER NOT NULL
);
CREATE INDEX count_changes_object ON count_changes (of_table, object_id);

-- Clients that still call deprecated operations.
CREATE TABLE deprecated_calls (
    operation  TEXT NOT NULL,
    token_id   INTEGER NOT NULL,
    user_agent TEXT NOT NULL,
    calls      INTEGER NOT NULL,
    first_at   TEXT NOT NULL,
    last_at    TEXT NOT NULL,
    PRIMARY KEY (operation, token_id, user_agent)
);
