-- A random ID by which a backup recognizes the database.
INSERT INTO secrets (name, value) VALUES ('database', randomblob(16)) ON CONFLICT (name) DO NOTHING;
