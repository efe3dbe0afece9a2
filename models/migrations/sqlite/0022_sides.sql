-- The sides of the bounding box of a model, for the filter by the bed of a printer: the shorter and
-- the longer horizontal side, and the height. NULL: unknown.
ALTER TABLE files ADD COLUMN short_mm REAL;
ALTER TABLE files ADD COLUMN long_mm REAL;
ALTER TABLE files ADD COLUMN height_mm REAL;
UPDATE files SET
        short_mm = min(json_extract(p.mesh, '$.size[0]'), json_extract(p.mesh, '$.size[1]')),
        long_mm = max(json_extract(p.mesh, '$.size[0]'), json_extract(p.mesh, '$.size[1]')),
        height_mm = json_extract(p.mesh, '$.size[2]')
    FROM previews AS p WHERE p.id = files.preview_id AND files.format IS NOT NULL AND p.mesh IS NOT NULL;

DROP TRIGGER files_measured;
CREATE TRIGGER files_measured AFTER UPDATE OF preview_id ON files WHEN NEW.preview_id <> 0 BEGIN
    UPDATE files SET format = p.subject,
        longest_mm = max(json_extract(p.mesh, '$.size[0]'), json_extract(p.mesh, '$.size[1]'),
            json_extract(p.mesh, '$.size[2]')),
        triangles = json_extract(p.mesh, '$.triangles'),
        watertight = json_extract(p.mesh, '$.watertight'),
        short_mm = min(json_extract(p.mesh, '$.size[0]'), json_extract(p.mesh, '$.size[1]')),
        long_mm = max(json_extract(p.mesh, '$.size[0]'), json_extract(p.mesh, '$.size[1]')),
        height_mm = json_extract(p.mesh, '$.size[2]')
    FROM previews AS p
    WHERE p.id = NEW.preview_id AND files.id = NEW.id;
END;
DROP TRIGGER files_measured_first;
CREATE TRIGGER files_measured_first AFTER INSERT ON files WHEN NEW.preview_id <> 0 BEGIN
    UPDATE files SET format = p.subject,
        longest_mm = max(json_extract(p.mesh, '$.size[0]'), json_extract(p.mesh, '$.size[1]'),
            json_extract(p.mesh, '$.size[2]')),
        triangles = json_extract(p.mesh, '$.triangles'),
        watertight = json_extract(p.mesh, '$.watertight'),
        short_mm = min(json_extract(p.mesh, '$.size[0]'), json_extract(p.mesh, '$.size[1]')),
        long_mm = max(json_extract(p.mesh, '$.size[0]'), json_extract(p.mesh, '$.size[1]')),
        height_mm = json_extract(p.mesh, '$.size[2]')
    FROM previews AS p
    WHERE p.id = NEW.preview_id AND files.id = NEW.id;
END;
DROP TRIGGER previews_measured;
CREATE TRIGGER previews_measured AFTER UPDATE OF mesh ON previews BEGIN
    UPDATE files SET
        longest_mm = max(json_extract(NEW.mesh, '$.size[0]'), json_extract(NEW.mesh, '$.size[1]'),
            json_extract(NEW.mesh, '$.size[2]')),
        triangles = json_extract(NEW.mesh, '$.triangles'),
        watertight = json_extract(NEW.mesh, '$.watertight'),
        short_mm = min(json_extract(NEW.mesh, '$.size[0]'), json_extract(NEW.mesh, '$.size[1]')),
        long_mm = max(json_extract(NEW.mesh, '$.size[0]'), json_extract(NEW.mesh, '$.size[1]')),
        height_mm = json_extract(NEW.mesh, '$.size[2]')
    WHERE preview_id = NEW.id;
END;
