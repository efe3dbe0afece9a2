-- Sorts and filters of lists of things, and the list of users.
-- The properties of models that filters use. They are copied from the previews, so that filters read a single index.
ALTER TABLE files ADD COLUMN format TEXT; -- NULL: the file has no preview
ALTER TABLE files ADD COLUMN longest_mm REAL; -- the longest side of the bounding box; NULL, as in the other columns: unknown
ALTER TABLE files ADD COLUMN triangles INTEGER;
ALTER TABLE files ADD COLUMN watertight BOOLEAN;
UPDATE files SET format = p.subject, longest_mm = max(json_extract(p.mesh, '$.size[0]'), json_extract(p.mesh, '$.size[1]'), json_extract(p.mesh, '$.size[2]')),
    triangles = json_extract(p.mesh, '$.triangles'), watertight = json_extract(p.mesh, '$.watertight') FROM previews AS p WHERE p.id = files.preview_id;
CREATE INDEX files_models ON files (target_id, target_type, kind, state, format, longest_mm, triangles, watertight) WHERE format IS NOT NULL;
CREATE TRIGGER files_measured AFTER UPDATE OF preview_id ON files WHEN NEW.preview_id <> 0 BEGIN
    UPDATE files SET format = p.subject, longest_mm = max(json_extract(p.mesh, '$.size[0]'), json_extract(p.mesh, '$.size[1]'), json_extract(p.mesh, '$.size[2]')),
        triangles = json_extract(p.mesh, '$.triangles'), watertight = json_extract(p.mesh, '$.watertight') FROM previews AS p WHERE p.id = NEW.preview_id AND files.id = NEW.id;
END;
CREATE TRIGGER files_measured_first AFTER INSERT ON files WHEN NEW.preview_id <> 0 BEGIN
    UPDATE files SET format = p.subject, longest_mm = max(json_extract(p.mesh, '$.size[0]'), json_extract(p.mesh, '$.size[1]'), json_extract(p.mesh, '$.size[2]')),
        triangles = json_extract(p.mesh, '$.triangles'), watertight = json_extract(p.mesh, '$.watertight') FROM previews AS p WHERE p.id = NEW.preview_id AND files.id = NEW.id;
END;
CREATE TRIGGER previews_measured AFTER UPDATE OF mesh ON previews BEGIN
    UPDATE files SET longest_mm = max(json_extract(NEW.mesh, '$.size[0]'), json_extract(NEW.mesh, '$.size[1]'), json_extract(NEW.mesh, '$.size[2]')),
        triangles = json_extract(NEW.mesh, '$.triangles'), watertight = json_extract(NEW.mesh, '$.watertight') WHERE preview_id = NEW.id;
END;

-- Both engines convert ASCII letters to lower case in the same way, and compare bytes in the same order.
ALTER TABLE things ADD COLUMN sort_name TEXT GENERATED ALWAYS AS (lower(name)) VIRTUAL;
ALTER TABLE users ADD COLUMN sort_name TEXT GENERATED ALWAYS AS (lower(username)) VIRTUAL;
ALTER TABLE collections ADD COLUMN sort_name TEXT GENERATED ALWAYS AS (lower(name)) VIRTUAL;
CREATE INDEX things_name ON things (sort_name, id) WHERE state = 'published';
CREATE INDEX things_downloaded ON things (download_count, id) WHERE state = 'published';
CREATE INDEX things_liked ON things (like_count, id) WHERE state = 'published';
CREATE INDEX things_updated ON things (modified_at, id) WHERE state = 'published';
CREATE INDEX users_name ON users (sort_name, id);
CREATE INDEX users_staff ON users (id) WHERE is_admin OR is_moderator;
CREATE INDEX collections_name ON collections (sort_name, id);

-- The feed: the publications of the users that a user follows.
CREATE INDEX things_by ON things (owner_id, published_at, id) WHERE state = 'published';
CREATE INDEX makes_by ON makes (owner_id, published_at, id) WHERE state = 'published';
CREATE INDEX collections_by ON collections (owner_id, created_at, id);
