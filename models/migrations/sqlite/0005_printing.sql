-- What slicers say in a file, as JSON; null if they say nothing.
ALTER TABLE previews ADD COLUMN printing TEXT;
