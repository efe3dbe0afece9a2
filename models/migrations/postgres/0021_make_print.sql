-- How a make was printed, as JSON; null if its creator does not say it.
ALTER TABLE makes ADD COLUMN print jsonb;
-- The files of the thing that were printed.
CREATE TABLE printed_files (
  make_id bigint NOT NULL REFERENCES makes (id) ON DELETE CASCADE,
  file_id bigint NOT NULL REFERENCES files (id) ON DELETE CASCADE,
  PRIMARY KEY (make_id, file_id)
);
CREATE INDEX printed_files_file ON printed_files (file_id);
