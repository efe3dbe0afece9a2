ALTER TABLE previews ADD COLUMN outages INTEGER NOT NULL DEFAULT 0; -- how many of the last attempts ended because of an outage
CREATE INDEX previews_postponed ON previews (id) WHERE outages > 0;
