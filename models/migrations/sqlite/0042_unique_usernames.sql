-- Queries compare sort_name on both engines. On SQLite it is the same as lower(username).
DROP INDEX users_username;
CREATE UNIQUE INDEX users_username ON users (sort_name);
