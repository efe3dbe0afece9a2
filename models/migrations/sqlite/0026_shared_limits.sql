-- One process uses the database: it counts in memory, and has no replica.
SELECT 1;
