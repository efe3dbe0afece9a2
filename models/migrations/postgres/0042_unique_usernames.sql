-- lower(username) follows the locale of the database: with a Turkish one, ADMIN and admin were two names. sort_name
-- converts ASCII letters only, and names have no others. Of users whose names are now the same, the first one keeps it.
INSERT INTO moderation_log (action, user_id, role, reason, created_at)
    SELECT 'rename_user', u.id, '', 'The name was ' || u.username || ', which is that of another user in other case.', now() FROM users AS u
    WHERE EXISTS (SELECT 1 FROM users AS o WHERE o.sort_name = u.sort_name AND o.id < u.id);
UPDATE users AS u SET username = left(u.username, 43) || '-' || u.id
    WHERE EXISTS (SELECT 1 FROM users AS o WHERE o.sort_name = u.sort_name AND o.id < u.id);
DROP INDEX users_username;
CREATE UNIQUE INDEX users_username ON users (sort_name);
