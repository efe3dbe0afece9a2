ALTER TABLE notifications ADD COLUMN decision_id INTEGER REFERENCES moderation_log (id); -- NULL: not about a decision
-- So far, a notification was written just before the entry of the log, in the same transaction.
UPDATE notifications SET decision_id = (
    SELECT min(ml.id) FROM moderation_log AS ml
    WHERE ml.user_id = notifications.user_id AND ml.created_at >= notifications.created_at
        AND (notifications.target_type = 'thing' AND ml.thing_id = notifications.target_id AND ml.action IN ('take_down_thing', 'restore_thing')
            OR notifications.target_type = 'user' AND ml.action IN ('suspend_user', 'restore_user', 'set_user_role')))
WHERE kind = 'moderation';
