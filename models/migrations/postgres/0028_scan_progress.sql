-- The progress of a scan: the parts of the library that have changed, and how many of them are stored.
ALTER TABLE libraries ADD COLUMN places bigint NOT NULL DEFAULT 0;
ALTER TABLE libraries ADD COLUMN places_done bigint NOT NULL DEFAULT 0;
