-- Deleted accounts, images of users, and comments that were reported or hidden as spam.
ALTER TABLE users ADD COLUMN deleted_at timestamptz; -- the row is kept without personal data, because other rows refer to it
ALTER TABLE users ADD COLUMN avatar_id bigint NOT NULL DEFAULT 0; -- the image file; 0: none
ALTER TABLE users ADD COLUMN cover_id bigint NOT NULL DEFAULT 0; -- the image file; 0: none
ALTER TABLE comments ADD COLUMN reported_at timestamptz; -- NULL: not reported, or a moderator has decided
ALTER TABLE comments ADD COLUMN spam_body text NOT NULL DEFAULT ''; -- the text of a comment that is hidden as spam

ALTER TABLE moderation_log DROP CONSTRAINT moderation_log_action_check;
ALTER TABLE moderation_log ADD CONSTRAINT moderation_log_action_check CHECK (action IN ('suspend_user', 'restore_user', 'set_user_role', 'delete_user',
    'take_down_thing', 'restore_thing', 'restore_make', 'restore_comment',
    'delete_thing', 'delete_make', 'delete_comment', 'delete_file'));
ALTER TABLE files DROP CONSTRAINT files_target_type_check;
ALTER TABLE files ADD CONSTRAINT files_target_type_check CHECK (target_type IN ('', 'thing', 'make', 'comment', 'avatar', 'cover'));
