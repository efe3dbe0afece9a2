-- The makes of a thing that was taken down stay hidden when the thing is deleted.
ALTER TABLE makes ADD COLUMN taken_down_at timestamptz;

-- The moderation log also records deletions by moderators.
ALTER TABLE moderation_log DROP CONSTRAINT moderation_log_action_check;
ALTER TABLE moderation_log ADD CONSTRAINT moderation_log_action_check CHECK (action IN ('suspend_user', 'restore_user', 'set_user_role',
    'take_down_thing', 'restore_thing', 'delete_thing', 'delete_make', 'delete_comment', 'delete_file'));
ALTER TABLE moderation_log ADD COLUMN object_id bigint; -- the make, comment or file that was deleted
