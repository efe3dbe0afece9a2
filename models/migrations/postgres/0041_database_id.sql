-- A random ID by which a backup recognizes the database.
INSERT INTO secrets (name, value) VALUES ('database', uuid_send(gen_random_uuid())) ON CONFLICT (name) DO NOTHING;
