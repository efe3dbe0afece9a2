-- The sides of the bounding box of a model, for the filter by the bed of a printer: the shorter and
-- the longer horizontal side, and the height. NULL: unknown.
ALTER TABLE files ADD COLUMN short_mm double precision;
ALTER TABLE files ADD COLUMN long_mm double precision;
ALTER TABLE files ADD COLUMN height_mm double precision;
UPDATE files SET (short_mm, long_mm, height_mm) = ROW (
        least((p.mesh -> 'size' ->> 0)::double precision, (p.mesh -> 'size' ->> 1)::double precision),
        greatest((p.mesh -> 'size' ->> 0)::double precision, (p.mesh -> 'size' ->> 1)::double precision),
        (p.mesh -> 'size' ->> 2)::double precision)
    FROM previews AS p WHERE p.id = files.preview_id AND files.format IS NOT NULL AND p.mesh IS NOT NULL;

CREATE OR REPLACE FUNCTION files_measured() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    SELECT p.subject,
        greatest((p.mesh -> 'size' ->> 0)::double precision, (p.mesh -> 'size' ->> 1)::double precision,
            (p.mesh -> 'size' ->> 2)::double precision),
        (p.mesh ->> 'triangles')::bigint, (p.mesh ->> 'watertight')::boolean,
        least((p.mesh -> 'size' ->> 0)::double precision, (p.mesh -> 'size' ->> 1)::double precision),
        greatest((p.mesh -> 'size' ->> 0)::double precision, (p.mesh -> 'size' ->> 1)::double precision),
        (p.mesh -> 'size' ->> 2)::double precision
        INTO NEW.format, NEW.longest_mm, NEW.triangles, NEW.watertight, NEW.short_mm, NEW.long_mm, NEW.height_mm
        FROM previews AS p WHERE p.id = NEW.preview_id;
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION previews_measured() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE files SET (longest_mm, triangles, watertight, short_mm, long_mm, height_mm) = ROW (
        greatest((NEW.mesh -> 'size' ->> 0)::double precision, (NEW.mesh -> 'size' ->> 1)::double precision,
            (NEW.mesh -> 'size' ->> 2)::double precision),
        (NEW.mesh ->> 'triangles')::bigint, (NEW.mesh ->> 'watertight')::boolean,
        least((NEW.mesh -> 'size' ->> 0)::double precision, (NEW.mesh -> 'size' ->> 1)::double precision),
        greatest((NEW.mesh -> 'size' ->> 0)::double precision, (NEW.mesh -> 'size' ->> 1)::double precision),
        (NEW.mesh -> 'size' ->> 2)::double precision)
        WHERE preview_id = NEW.id;
    RETURN NULL;
END $$;
