-- Sorts and filters of lists of things, and the list of users.
-- The properties of models that filters use. They are copied from the previews, so that filters read a single index.
ALTER TABLE files ADD COLUMN format text; -- NULL: the file has no preview
ALTER TABLE files ADD COLUMN longest_mm double precision; -- the longest side of the bounding box; NULL, as in the other columns: unknown
ALTER TABLE files ADD COLUMN triangles bigint;
ALTER TABLE files ADD COLUMN watertight boolean;
UPDATE files SET format = p.subject, (longest_mm, triangles, watertight) = ROW (greatest((p.mesh -> 'size' ->> 0)::double precision, (p.mesh -> 'size' ->> 1)::double precision, (p.mesh -> 'size' ->> 2)::double precision),
    (p.mesh ->> 'triangles')::bigint, (p.mesh ->> 'watertight')::boolean)
    FROM previews AS p WHERE p.id = files.preview_id;
CREATE INDEX files_models ON files (target_id, target_type, kind, state, format, longest_mm, triangles, watertight) WHERE format IS NOT NULL;
CREATE FUNCTION files_measured() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    SELECT p.subject, greatest((p.mesh -> 'size' ->> 0)::double precision, (p.mesh -> 'size' ->> 1)::double precision, (p.mesh -> 'size' ->> 2)::double precision),
    (p.mesh ->> 'triangles')::bigint, (p.mesh ->> 'watertight')::boolean
        INTO NEW.format, NEW.longest_mm, NEW.triangles, NEW.watertight FROM previews AS p WHERE p.id = NEW.preview_id;
    RETURN NEW;
END $$;
CREATE TRIGGER files_measured BEFORE INSERT OR UPDATE OF preview_id ON files FOR EACH ROW WHEN (NEW.preview_id <> 0) EXECUTE FUNCTION files_measured();
CREATE FUNCTION previews_measured() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE files SET (longest_mm, triangles, watertight) = ROW (greatest((NEW.mesh -> 'size' ->> 0)::double precision, (NEW.mesh -> 'size' ->> 1)::double precision, (NEW.mesh -> 'size' ->> 2)::double precision),
    (NEW.mesh ->> 'triangles')::bigint, (NEW.mesh ->> 'watertight')::boolean)
        WHERE preview_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER previews_measured AFTER UPDATE OF mesh ON previews FOR EACH ROW EXECUTE FUNCTION previews_measured();

-- Both engines convert ASCII letters to lower case in the same way, and compare bytes in the same order.
ALTER TABLE things ADD COLUMN sort_name text COLLATE "C" GENERATED ALWAYS AS (lower(name COLLATE "C")) STORED;
ALTER TABLE users ADD COLUMN sort_name text COLLATE "C" GENERATED ALWAYS AS (lower(username COLLATE "C")) STORED;
ALTER TABLE collections ADD COLUMN sort_name text COLLATE "C" GENERATED ALWAYS AS (lower(name COLLATE "C")) STORED;
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
