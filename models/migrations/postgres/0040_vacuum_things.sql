-- Folding counts updates things every few seconds. By default, autovacuum waits until a fifth of the rows has changed. Long before
-- that, almost every page has a changed row, so that deep pages of lists read the rows of all things before them instead of an index.
ALTER TABLE things SET (autovacuum_vacuum_scale_factor = 0.02);
