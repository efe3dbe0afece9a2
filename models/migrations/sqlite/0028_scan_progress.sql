-- The progress of a scan: the parts of the library that have changed, and how many of them are stored.
ALTER TABLE libraries ADD COLUMN places INTEGER NOT NULL DEFAULT 0;
ALTER TABLE libraries ADD COLUMN places_done INTEGER NOT NULL DEFAULT 0;
